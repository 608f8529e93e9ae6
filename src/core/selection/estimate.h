// How long a candidate takes, at a price that is bounded: a decision needs dozens of predictions,
// and neither a long message nor many ranks may make one of them long.
#pragma once

#include <cstddef>
#include <limits>
#include <optional>

#include "core/network/topology.h"
#include "core/selection/ruling.h"

namespace mutirao {

/// No prediction of a decision walks through more messages than this.
/// A candidate that would need more even of a pipeline's beginning is not considered; one in p^2
/// messages is that from 513 hosts on.
inline constexpr std::size_t most_messages_predicted = std::size_t{5} << 16;

/// A candidate beyond one of these is given up as soon as that is known.
struct Limits {
    std::size_t messages = most_messages_predicted;
    double us = std::numeric_limits<double>::infinity();
};

struct Estimate {
    std::optional<double> time_us;  ///< nothing: no tree, without end, or beyond the limits
    std::size_t messages = 0;       ///< that were walked through
    std::size_t longest_bytes = 0;  ///< of these: segments of as much are the same as no segments
    /// Of native: whose time that is. The row itself takes as long, unless it leaves sends behind.
    std::optional<Candidate> like{};
};

/// As predict_candidate, but of a long pipeline only the beginning is walked. From then on every
/// rank receives at a steady pace, each at its own, so its last segment's time is extrapolated and
/// the last rank counts. A rank whose pace is set far upstream may not show it yet: a slight
/// error, to the candidate's favour.
Estimate estimate(const Candidate& candidate, const CallShape& shape, const RankNetwork& network,
                  TreesOfCall& trees, const Limits& limits = {});
Estimate estimate(const Candidate& candidate, const CallShape& shape, const RankNetwork& network);

/// The same of an arm with the tree that it has.
Estimate estimate(const Arm& arm, const CallShape& shape, const RankNetwork& network);

/// Completion time; nothing where the candidate's tree cannot be had or it would never end. Native
/// is timed as the faster of those algorithms that MPI libraries run (CollectiveRow::native_is_like).
std::optional<double> predict_candidate(const Candidate& candidate, const CallShape& shape,
                                        const RankNetwork& network);

/// By so many times native may take longer than predicted where it is CollectiveRow::native_may_be; at least 1.
double slowest_native_ratio(const CallShape& shape, const RankNetwork& network);

// Whether to leave the tree that broadcasts go over, once the network has changed, and for which.
// Each new tree costs something that no prediction shows: plans are made anew, TCP connections that
// lay idle start slowly. So a tree is kept while it is predicted to be nearly as fast as the best.
// Pure functions of values that all ranks hold alike.

/// A tree predicted to take at most so much longer than the best one is kept.
inline constexpr double usual_tolerance_percent = 5;

struct Renewal {
    Tree tree;                ///< to be used from now on
    bool kept = false;        ///< it is the present one
    double predicted_us = 0;  ///< of that tree
    double best_us = 0;       ///< of the best tree
};

/// Completion time of a message sent over `tree` in one piece; nothing if a link of it is unusable.
std::optional<double> predict_tree(const Tree& tree, const RankNetwork& hosts, std::size_t length_bytes);

/// The fastest of all kinds of trees, the earlier kind of equals; nothing where there is none.
std::optional<Tree> fastest_tree(const RankNetwork& hosts, int root, std::size_t length_bytes);

/// Nothing if no tree reaches every host. `present` hangs from the root of the broadcasts.
std::optional<Renewal> renew(const Tree& present, const RankNetwork& hosts, std::size_t length_bytes,
                             double tolerance_percent = usual_tolerance_percent);

}  // namespace mutirao
