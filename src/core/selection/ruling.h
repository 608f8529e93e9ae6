// Rulings: what one rank decides for all, and all that a rank must know to run the calls that one
// is for. Rank and decider compute a schedule from the same few values, so none needs the others'
// measurements or forecasts.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "core/algorithms/algorithm.h"
#include "core/collectives/collective.h"
#include "core/network/placement.h"
#include "core/network/topology.h"

namespace mutirao {

inline constexpr int any_root = -1;
inline constexpr int any_length = -1;

/// The calls that one ruling is for.
struct ShapeClass {
    Collective collective = Collective::broadcast;
    int root = any_root;   ///< a rank, or any_root
    /// any_length; 0: empty; n: from 2^(n - 1) bytes to below 2^n.
    int length_class = 0;
    bool commutes = true;  ///< the operator of a reduction

    auto operator<=>(const ShapeClass&) const = default;
};

/// With the call's own root. Where ranks do not know of each other's lengths it is for any.
ShapeClass class_of(const CallShape& shape);

/// One way to run calls.
struct Arm {
    Candidate candidate;
    /// Over the communicator's hosts, hung from the root's host; where the candidate takes one.
    /// A ruling for any root has none.
    std::optional<Tree> tree{};

    const Tree* tree_or_null() const { return tree ? &*tree : nullptr; }
    bool operator==(const Arm&) const = default;
};

/// Which calls of a class are clocked once a ruling has taken effect: some of the incumbent, then those of the
/// probe, which ends by itself, then some of the incumbent again. In samples of several calls each: of a short
/// call a clock cannot tell one from another. Calls are those of the class since the ruling took effect, from 0.
struct Clocking {
    static constexpr std::uint32_t most_samples = 64;
    static constexpr std::uint32_t most_calls_per_sample = 4096;

    std::uint32_t calls_per_sample = 1;
    std::uint32_t lead = 0;   ///< samples of the incumbent
    std::uint32_t probe = 0;  ///< samples of the probe; 0: there is none
    std::uint32_t trail = 0;  ///< samples of the incumbent after it

    std::uint32_t samples() const { return lead + probe + trail; }
    std::uint64_t calls() const { return std::uint64_t{samples()} * calls_per_sample; }
    bool clocks(std::uint64_t call) const { return call < calls(); }
    bool probes(std::uint64_t call) const {
        const std::uint64_t sample = call / calls_per_sample;
        return sample >= lead && sample < lead + probe;
    }
    /// Ranks tell what they have clocked when so many samples are complete.
    bool tells_after(std::uint32_t sample_count) const;

    bool operator==(const Clocking&) const = default;
};

/// Of the calls that nothing is ruled for yet, which the MPI library runs.
inline constexpr Clocking first_calls{1, 32, 0, 0};

/// How calls run from some call on: by the incumbent, but for a number of calls by a probe.
struct Ruling {
    ShapeClass shapes;
    Arm arm;
    std::uint32_t id = 0;  ///< different for each ruling of a communicator; 0: its calls are not clocked
    Clocking clocking{};
    std::optional<Arm> probe{};

    bool operator==(const Ruling&) const = default;
};

/// What a sample's calls took on one rank, and from end to end; the mean of one call.
struct Sample {
    double time_us = 0;  ///< in the call
    double lap_us = 0;   ///< since the end of the class's call before it; 0: not known

    bool operator==(const Sample&) const = default;
};

/// What one rank has clocked.
struct TimeReport {
    ShapeClass shapes;
    std::uint32_t ruling = 0;  ///< by which the calls ran; 0: none yet
    std::uint32_t first = 0;   ///< number of the first sample
    std::vector<Sample> samples;

    bool operator==(const TimeReport&) const = default;
};

/// The trees that candidates for one call may take, each made when it is first asked for. Outlived by topology and
/// placement.
class TreesOfCall {
  public:
    TreesOfCall(const CallShape& shape, const Topology& topology, const Placement& placement);

    /// Nothing where it cannot be had.
    const std::optional<Tree>& of(TreeKind kind);

  private:
    std::optional<Tree> packed(TreeKind kind) const;

    const Topology& topology_;
    const Placement& placement_;
    const int root_;  ///< a rank
    const std::size_t length_bytes_;
    std::map<TreeKind, std::optional<Tree>> made_;
};

/// A candidate as it would run; nothing where its tree cannot be had, or where it is not for so many ranks or such an
/// operator.
std::optional<Arm> arm_for(const Candidate& candidate, const CallShape& shape, const Placement& placement,
                           TreesOfCall& trees);
/// The same where that is asked once.
std::optional<Arm> arm_for(const Candidate& candidate, const CallShape& shape, const RankNetwork& network);

/// All ranks' schedules; nothing for what the MPI library runs.
std::optional<std::vector<Schedule>> build_all(const Arm& arm, const CallShape& shape, const Placement& placement);

}  // namespace mutirao
