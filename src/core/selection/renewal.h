// Whether to leave the tree that broadcasts go over, once the network has changed, and for which.
// Each new tree costs something that no prediction shows: plans are made anew, TCP connections that
// lay idle start slowly. So a tree is kept while it is predicted to be nearly as fast as the best,
// and is repaired rather than replaced: every host that still gets the message in time keeps its
// parent. Pure functions of values that all ranks hold alike.
#pragma once

#include <cstddef>
#include <optional>

#include "core/network/topology.h"

namespace mutirao {

struct RenewalRule {
    /// A tree predicted to take at most so much longer than the best one is kept.
    double tolerance_percent = 5;
};

struct Renewal {
    Tree tree;                ///< to be used from now on
    double predicted_us = 0;  ///< of that tree
    double best_us = 0;       ///< of the best tree
    int exchanged_links = 0;  ///< hosts with another parent than before; 0: the tree is kept
};

/// Completion time of a message sent over `tree` in one piece; nothing if a link of it is unusable.
std::optional<double> predict_tree(const Tree& tree, const Network& network,
                                   std::size_t length_bytes);

/// The fastest of all kinds of trees, the earlier kind of equals; nothing where there is none.
std::optional<Tree> fastest_tree(const Topology& topology, int root, std::size_t length_bytes);

/// `present` with the fewest parents exchanged that two simple rules find, so that every host has
/// the message by `deadline_us`, as far as latency and transmission go; nothing if none does. First
/// every host keeps its parent that gets the message from it by the deadline; the others are hung
/// anew, nearest first, and with them what is below. Where that comes too late for some, hosts must
/// not lag behind their own shortest path by more than the deadline is behind the farthest host's;
/// that is never too late (after Khuller, Raghavachari and Young 1995, doi:10.1007/BF01294129).
std::optional<Tree> repaired_tree(const Tree& present, const Network& network,
                                  std::size_t length_bytes, double deadline_us);

/// Nothing if no tree reaches every host. `present` hangs from the root of the broadcasts.
std::optional<Renewal> renew(const Tree& present, const Topology& now, std::size_t length_bytes,
                             RenewalRule rule = {});

}  // namespace mutirao
