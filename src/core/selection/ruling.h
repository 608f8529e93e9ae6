// Rulings: what one rank decides for all, and all that a rank must know to run the calls that one
// is for. Rank and decider compute a schedule from the same few values, so none needs the others'
// measurements or forecasts.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "core/algorithms/algorithm.h"
#include "core/collectives/call_shape.h"
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
    std::optional<Tree> tree;

    bool operator==(const Arm&) const = default;
};

struct Ruling {
    ShapeClass shapes;
    Candidate candidate;
    std::optional<Tree> tree;  ///< see Arm
    // While calls are measured (trial.h):
    std::uint32_t trial = 0;   ///< its number; 0: they are not
    int repetitions = 1;       ///< of each arm in a window
    std::uint32_t rest_calls = 0;  ///< by the candidate alone, before every window
    std::vector<Arm> others{};  ///< that take turns with the candidate

    int arm_count() const { return 1 + static_cast<int>(others.size()); }
    /// That arm alone, without a trial; 0: the candidate.
    Ruling arm(int number) const;

    bool operator==(const Ruling&) const = default;
};

/// What one rank's calls took in one window of a trial, whose number of calls all ranks know.
struct TrialReport {
    ShapeClass shapes;
    std::uint32_t trial = 0;
    std::uint64_t window = 0;
    std::vector<double> times_us;  ///< by arm, the mean of its calls

    bool operator==(const TrialReport&) const = default;
};

/// The host that a tree for such calls hangs from: the root's; without a root the one from which all
/// others are reached soonest, of a limited number that are looked at.
int tree_root(const CallShape& shape, const Topology& topology, const Placement& placement);

/// A candidate as it would be ruled; nothing where its tree cannot be had, or where it is not for so many
/// ranks or such an operator. `known_tree_root`: of those calls, if that has been found out already.
std::optional<Ruling> ruling_for(const Candidate& candidate, const CallShape& shape,
                                 const Topology& topology, const Placement& placement,
                                 std::optional<int> known_tree_root = {});

/// One rank's schedule, in time for its own steps whatever the number of ranks and hosts; nothing
/// for what the MPI library runs.
std::optional<Schedule> build_schedule(const Ruling& ruling, const CallShape& shape,
                                       const Placement& placement, int rank);

/// All ranks' schedules, of a call whose lengths are known as to a proof; nothing for what the MPI library
/// runs.
std::optional<std::vector<Schedule>> build_all(const Ruling& ruling, const CallShape& shape,
                                               const Placement& placement);

}  // namespace mutirao

template <>
struct std::hash<mutirao::ShapeClass> {
    std::size_t operator()(const mutirao::ShapeClass& shapes) const noexcept {
        // Roots and lengths are what tells classes apart; the odd factor spreads them.
        const auto root = static_cast<std::size_t>(shapes.root + 1);
        const auto rest = static_cast<std::size_t>(shapes.collective) * 256 +
                          static_cast<std::size_t>(shapes.length_class) * 2 +
                          (shapes.commutes ? 1 : 0);
        return (root << 16 ^ rest) * 0x9E3779B97F4A7C15u;
    }
};
