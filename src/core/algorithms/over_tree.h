// The one pipelined broadcast over a tree, whatever the tree: every algorithm that passes the
// message from parent to children is a choice of places in a tree and nothing else.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "core/algorithms/algorithm.h"
#include "core/algorithms/shape.h"
#include "core/schedule/schedule.h"

namespace mutirao {

/// Receives each segment from the parent and sends it on to every child before the next one.
/// Returns the receive of each segment; nothing at the root of the tree.
std::vector<StepId> pass_down(Schedule& schedule, const TreePlace& place,
                              std::span<const Region> segments);

/// A share of the message down each of several trees, in places under real ranks; the shares'
/// segments take turns. A root of the trees must have the message.
Schedule pass_down_shares(std::span<const TreePlace> places, const Request& request);

/// A place under real ranks, with the request's length and segments.
Schedule over_place(const Request& request, const TreePlace& place);

/// A place over virtual ranks, with the request's root, length and segments.
Schedule over_virtual_tree(const Request& request, const TreePlace& place);

/// Request::tree, which must be there and hang from Request::root.
Schedule over_given_tree(const Request& request);

/// Request::tree, which must be there and over the same ranks.
const Tree& given_tree(const Request& request);

TreePlace place_in(const Tree& tree, int rank);

/// This rank's place in it.
TreePlace place_in_given_tree(const Request& request);

/// The same where the tree must hang from Request::root too.
TreePlace place_below_root(const Request& request);

/// Where the trees are from that are made from the measured network: the minimum spanning tree that the hosts
/// maintain (Thome and Drummond, "Biblioteca de Comunicacao Coletiva para Ambientes Distribuidos Dinamicos"), the
/// shortest paths from the root, and the greedy earliest completion.
inline constexpr std::string_view tree_sources =
    "Thome and Drummond; Gallager, Humblet and Spira 1983, doi:10.1145/357195.357200; Bhat, "
    "Raghavendra and Prasanna 2003, doi:10.1016/S0743-7315(03)00008-X";

inline std::vector<TreeKind> measured_trees() {
    return {TreeKind::minimum_spanning, TreeKind::shortest_path, TreeKind::greedy};
}

}  // namespace mutirao
