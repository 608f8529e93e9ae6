// What an algorithm is: a name, where it comes from, and a pure function from a request to one
// rank's schedule. The catalogue lists them all; tests, help, benchmark, prediction and pictures
// follow from its rows.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/collectives/collective.h"
#include "core/network/placement.h"
#include "core/network/tree.h"
#include "core/schedule/schedule.h"

namespace mutirao {

/// Of ranks of a group to each rank of another one: more connections than these win next to nothing.
inline constexpr int most_useful_spread = 18;

/// What varies within one algorithm. A row of the catalogue says which fields it reads.
struct Parameters {
    std::size_t segment_bytes = 0;  ///< 0: the message in one piece
    int radix = 2;
    int spread = 4;  ///< so many ranks of a group talk to each rank of another one
    TreeKind tree = TreeKind::none;
    /// The row by which the message goes on inside a host with several ranks. An algorithm's own
    /// function does not read it: see over_placement.h.
    std::string_view inside = "binomial";

    bool operator==(const Parameters&) const = default;
};

/// All that a schedule may depend on; equal on every rank but for `rank`. Ranks are those of the
/// group that an algorithm runs in, which need not be a whole communicator.
struct Request {
    int rank = 0;
    int size = 1;
    int root = 0;
    std::size_t length_bytes = 0;  ///< as CallShape's: of the message, or of one block
    std::span<const std::size_t> lengths{};  ///< as CallShape's, which outlives the request
    std::size_t unit_bytes = 1;    ///< of a reduction: its element, which is never cut
    bool commutes = true;          ///< of a reduction: the order of operands is free
    Parameters parameters{};
    const Tree* tree = nullptr;  ///< over the same ranks, hung from `root`; for tree algorithms
    /// Of the same ranks, for algorithms that go by hosts; there only where these are all ranks.
    const Placement* placement = nullptr;
};

/// Who an algorithm's participants are.
enum class Level : unsigned char {
    ranks,  ///< all ranks; a tree over hosts goes on inside each host (see over_placement.h)
    hosts   ///< one rank of each host; Parameters::inside goes on inside
};

/// Makes one rank's schedule.
using Build = Schedule(const Request&);

struct Algorithm {
    Collective collective{};   ///< the catalogue knows it
    std::string_view name;     ///< as the user writes it, e.g. "binomial"
    std::string_view summary;  ///< one line
    std::string_view source;   ///< the paper or the implementation that it follows
    Build* build = nullptr;  ///< null: the MPI library runs it
    bool segmented = false;    ///< reads Parameters::segment_bytes
    bool segments_of_blocks = false;  ///< cut from a rank's share of the message, not from all of it
    std::vector<int> radices{};  ///< values of Parameters::radix worth trying; empty: not read
    std::vector<int> spreads{};  ///< the same of Parameters::spread, the largest last; over uneven trees that one alone
    std::vector<TreeKind> trees{};  ///< kinds of Request::tree that it takes; empty: none
    Level level = Level::ranks;
    std::size_t least_bytes = 0;  ///< of a message that is worth a prediction
    bool inside_a_host = false;  ///< may be another's Parameters::inside
    /// Combines the operands of a reduction in the ranks' order, as operators that do not commute need.
    bool keeps_order = false;
    /// And one after the other from the first rank on, also where they commute: the same bits on any network.
    bool from_first = false;
    bool (*fits)(int size) = nullptr;  ///< null: any number of participants
    /// The most that its blocks may be, if it moves any.
    InBlocks blocks = InBlocks::equal;
    /// The MPI library's collectives that do the work one after the other, instead of the one of this name.
    std::vector<Collective> calls{};

    bool has_schedule() const { return build != nullptr; }
    bool native() const { return !has_schedule() && calls.empty(); }
    bool needs_tree() const { return !trees.empty(); }
};

/// Whether an algorithm can run a reduction with that operator, among so many participants.
inline bool allows(const Algorithm& algorithm, bool commutes, int size) {
    return (commutes || algorithm.keeps_order || !row_of(algorithm.collective).reduces ||
            algorithm.native()) &&
           (algorithm.fits == nullptr || algorithm.fits(size));
}

/// Every algorithm, those of a collective together, native first.
std::span<const Algorithm> catalogue();

/// Nothing if there is no such row.
const Algorithm* find_algorithm(Collective collective, std::string_view name);

/// An algorithm with its parameters: one thing that can be run, predicted or forced.
struct Candidate {
    const Algorithm* algorithm = nullptr;
    Parameters parameters{};

    bool native() const { return algorithm->native(); }
    bool operator==(const Candidate&) const = default;
};

Candidate native_candidate(Collective collective);

/// "NAME[:KEY=VALUE[,KEY=VALUE]]", e.g. "tree:kind=mst,segment_bytes=65536".
std::string to_string(const Candidate& candidate);

struct ParsedCandidate {
    std::optional<Candidate> candidate;
    std::string error;  ///< one line naming what is wrong and the nearest valid names
};
ParsedCandidate parse_candidate(Collective collective, std::string_view text);

}  // namespace mutirao
