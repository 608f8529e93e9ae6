// A profile: what earlier jobs measured of candidates, so that the next one need not find it out again.
// Pure values and functions; where they are kept is src/profile's to know.
//
// A measurement is of use only where it would come out alike: on a fabric like the one that it was made on,
// with the same MPI library, of as many ranks, spread alike. Between two lengths that were measured a time is
// read off the straight line between them, both axes in logarithms; and where nothing is known of so many
// ranks, half or twice as many will do. Both are marked, since an algorithm may have its knee in between.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "core/collectives/collective.h"
#include "core/network/topology.h"
#include "core/selection/account.h"
#include "core/selection/ruling.h"
#include "core/selection/samples.h"

namespace mutirao {

/// What tells one set of hosts from another, as far as times of collectives depend on it.
struct Fabric {
    int hosts = 1;
    int sites = 1;
    /// Between two hosts, one way, the mean of both directions, ascending; of many evenly chosen ones.
    std::vector<double> latencies_us;
    // Of one host alone, where there are no links:
    std::string processor;  ///< model and number
    std::string transport;  ///< what the MPI library was told to use; empty: its own choice

    bool operator==(const Fabric&) const = default;
};

/// Of its hosts, with sites as discover_sites() finds them. `processor`, `transport`: see Fabric.
Fabric describe_fabric(const Network& network, std::string processor, std::string transport);

/// In what two fabrics differ, in one line, for people; nothing if what was measured on one holds on the
/// other. Latencies may differ by 25%, by a hundredth of the longest, or by what a clock's reading does, but for one
/// link in eight; sites follow from latencies.
std::optional<std::string> difference(const Fabric& here, const Fabric& there);

/// How many ranks on how many hosts.
struct Ranks {
    int ranks = 1;
    int hosts = 1;
    int most_on_a_host = 1;

    bool operator==(const Ranks&) const = default;
};
Ranks ranks_of(const Placement& placement);

enum class Buffers : unsigned char { warm, cold };    ///< in the processor's cache before the call
enum class Origin : unsigned char { tuned, learned };  ///< by `mutirao tune`, or beside a program

struct ProfileRow {
    // What was called, and by how many:
    Ranks ranks;
    int root = any_root;           ///< a rank, where there is one
    bool commutes = true;          ///< the operator of a reduction
    std::size_t length_bytes = 0;  ///< as CallShape's
    Buffers buffers = Buffers::warm;
    // What was measured:
    Origin origin = Origin::learned;
    Candidate candidate;
    Interval time_us{};     ///< of one call
    std::size_t windows = 0;       ///< of measurements; older ones are counted less and less
    double measured_s = 0;         ///< when, in seconds since 1970

    Collective collective() const { return candidate.algorithm->collective; }
    bool operator==(const ProfileRow&) const = default;
};

/// What was measured of a candidate beside a program, in calls of this shape.
ProfileRow learned_row(const CallShape& shape, const Ranks& ranks, const Candidate& candidate,
                       const Interval& time_us, std::size_t windows, double measured_s);

/// One row for two of the same calls and candidate, whatever their origin: each weighs by its windows, and
/// the older one half as much for every week that it is older. Where their intervals have nothing in
/// common the new one spans both.
ProfileRow merged(const ProfileRow& one, const ProfileRow& other);

/// How long a program takes natively, on a communicator of so many ranks: what it saved in one run or the other says
/// nothing of how long the next one begins.
struct ProgramRun {
    std::string program{};  ///< by which its next run is known
    Ranks ranks{};
    double length_s = 0;  ///< from MPI_Init to the communicator's end, with what was saved
    /// Of the time that it takes natively, by its calls as they ran in the end; nothing: not known.
    std::optional<double> saved_share{};
    double measured_s = 0;  ///< when, in seconds since 1970
};

/// Of a run that took so long: `saved_share` is of that time.
ProgramRun native_run(double ran_us, const Account& account, std::optional<double> saved_share);

/// What is known of a program that ran once more.
ProgramRun newest(const ProgramRun& before, ProgramRun now);

/// What a profile knows of one candidate for a call.
struct Remembered {
    ProfileRow row;             ///< with the call's own ranks, root and length
    bool interpolated = false;  ///< read off what was measured of other lengths or numbers of ranks
};

/// Fastest first. `rows`: of a fabric like this one, and of the same MPI library. Of cold buffers only
/// where nothing is known of warm ones. Where a candidate was both tuned and learned its ratios to native
/// are merged, and times are as tuned.
std::vector<Remembered> remembered(const std::vector<ProfileRow>& rows, const CallShape& shape,
                                   const Ranks& ranks);

/// By what is remembered, fastest first: native where nothing is faster by the margin, otherwise the fastest whose
/// median and native's lie outside each other's intervals. Where times
/// drifted, their intervals overlap although the job that measured them could tell them apart. Nothing
/// where that leaves it open, or where native is not known: calls have to tell.
const Remembered* preferred(const std::vector<Remembered>& known);

/// Whether a private communicator pays: it takes as long as some messages between the farthest hosts, before a call
/// can gain anything (docs/architecture.md, The life of the start). So long as nobody knows how long the program will go on, it is
/// taken to be half way; who ran before under the same name is taken to run as long again.
struct Investment {
    double cost_us = 0;  ///< of making it
    double ran_us = 0;   ///< since MPI_Init
    double gain_us = 0;  ///< predicted: what the calls so far would have taken less
    std::optional<ProgramRun> before{};
};

bool pays(const Investment& investment);

}  // namespace mutirao
