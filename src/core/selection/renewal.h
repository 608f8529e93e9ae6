// Whether to leave the tree that broadcasts go over, once the network has changed, and for which.
// Each new tree costs something that no prediction shows: plans are made anew, TCP connections that
// lay idle start slowly. So a tree is kept while it is predicted to be nearly as fast as the best.
// Pure functions of values that all ranks hold alike.
#pragma once

#include <cstddef>
#include <optional>

#include "core/network/topology.h"

namespace mutirao {

/// A tree predicted to take at most so much longer than the best one is kept.
inline constexpr double usual_tolerance_percent = 5;

struct Renewal {
    Tree tree;                ///< to be used from now on
    bool kept = false;        ///< it is the present one
    double predicted_us = 0;  ///< of that tree
    double best_us = 0;       ///< of the best tree
};

/// Completion time of a message sent over `tree` in one piece; nothing if a link of it is unusable.
std::optional<double> predict_tree(const Tree& tree, const Network& network,
                                   std::size_t length_bytes);

/// The fastest of all kinds of trees, the earlier kind of equals; nothing where there is none.
std::optional<Tree> fastest_tree(const Topology& topology, int root, std::size_t length_bytes);

/// Nothing if no tree reaches every host. `present` hangs from the root of the broadcasts.
std::optional<Renewal> renew(const Tree& present, const Topology& now, std::size_t length_bytes,
                             double tolerance_percent = usual_tolerance_percent);

}  // namespace mutirao
