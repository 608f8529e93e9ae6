#include "core/algorithms/trees.h"

#include <cstddef>
#include <utility>

#include "core/algorithms/dataflow.h"
#include "core/algorithms/equal_blocks.h"
#include "core/algorithms/reduction.h"
#include "core/text/invariant.h"

namespace mutirao {

Schedule pass_down_shares(std::span<const TreePlace> places, const Request& request) {
    const Blocks shares(request.length_bytes, static_cast<int>(places.size()));
    std::vector<std::vector<Region>> segments;
    for (std::size_t share = 0; share < places.size(); ++share) {
        segments.push_back(segments_of(shares.block(static_cast<int>(share)),
                                       request.parameters.segment_bytes));
    }
    Schedule schedule;
    // The first share is never shorter than another.
    for (std::size_t turn = 0; turn < segments.front().size(); ++turn) {
        for (std::size_t share = 0; share < places.size(); ++share) {
            if (turn >= segments[share].size()) continue;
            const TreePlace& place = places[share];
            std::vector<StepId> arrival;
            if (place.parent >= 0) arrival.push_back(schedule.receive(place.parent, segments[share][turn]));
            for (const int child : place.children) schedule.send(child, segments[share][turn], arrival);
        }
    }
    return schedule;
}

Schedule over_place(const Request& request, const TreePlace& place) {
    return pass_down_shares(std::span(&place, 1), request);
}

Schedule over_virtual_tree(const Request& request, const TreePlace& place) {
    return over_place(request, with_real_ranks(place, request.root, request.size));
}

const Tree& given_tree(const Request& request) {
    if (request.tree == nullptr) {
        broken_invariant("tree algorithm without a tree (ranks, root)", request.size,
                         request.root);
    }
    if (request.tree->size() != request.size) {
        broken_invariant("tree does not fit (its ranks, ranks)", request.tree->size(),
                         request.size);
    }
    return *request.tree;
}

const Tree& given_tree_from_root(const Request& request) {
    const Tree& tree = given_tree(request);
    if (tree.root != request.root) broken_invariant("tree does not fit (its root, root)", tree.root, request.root);
    return tree;
}

std::span<const Tree> shares_of(const Tree& tree) {
    return tree.shares.empty() ? std::span(&tree, 1) : std::span(tree.shares);
}

TreePlace place_in(const Tree& tree, int of_rank) {
    const auto rank = static_cast<std::size_t>(of_rank);
    const auto children = tree.children[rank];
    return {tree.parent[rank], {children.begin(), children.end()}};
}

std::vector<int> neighbours_in(const Tree& tree, int rank) {
    const auto index = static_cast<std::size_t>(rank);
    const auto children = tree.children[index];
    std::vector<int> neighbours;
    neighbours.reserve(children.size() + 1);
    if (tree.parent[index] >= 0) neighbours.push_back(tree.parent[index]);
    neighbours.insert(neighbours.end(), children.begin(), children.end());
    return neighbours;
}

std::vector<TreeVisit> nearest_first(const Tree& tree, int from, int barred) {
    std::vector<TreeVisit> order{{from, -1, -1, 0}};
    for (std::size_t next = 0; next < order.size(); ++next) {
        const TreeVisit at = order[next];
        for (const int neighbour : neighbours_in(tree, at.rank)) {
            if (neighbour == at.previous || (next == 0 && neighbour == barred)) continue;
            order.push_back({neighbour, next == 0 ? neighbour : at.branch, at.rank,
                             at.distance + 1});
        }
    }
    return order;
}

namespace barrier {

// A rank signals to a neighbour once it has heard from all its others, so what comes over an edge speaks for all
// ranks behind it. A tree barrier (Mellor-Crummey and Scott 1991, doi:10.1145/103727.103729) gathers at the root
// and returns from there; here the two directions of an edge may pass each other, and nobody waits for an echo of
// its own signal.
//
// Cost, p ranks: 2 (p - 1) messages; a rank is done after the longest path that ends at it, so all are after the
// tree's diameter, wherever it hangs from.
static Schedule tree(const Request& request) {
    Schedule schedule;
    const std::vector<int> neighbours = neighbours_in(given_tree(request), request.rank);
    std::vector<StepId> heard;
    heard.reserve(neighbours.size());
    for (const int neighbour : neighbours) heard.push_back(schedule.receive(neighbour, signal));
    for (std::size_t i = 0; i < neighbours.size(); ++i) {
        // The step to be left out of the dependencies comes last for a moment.
        std::swap(heard[i], heard.back());
        schedule.send(neighbours[i], signal, Schedule::After(heard).first(heard.size() - 1));
        std::swap(heard[i], heard.back());
    }
    return schedule;
}

Algorithm tree() {
    return {.name = "tree",
            .summary = "both ways over each edge of a tree made from the measured network",
            .source = tree_sources,
            .build = tree, .trees = measured_trees()};
}

}  // namespace barrier

namespace allgather {

// What comes from one neighbour goes on to all others at once, so every block passes every edge at most once, and
// nothing goes to the root to come back.
//
// Cost, p ranks, blocks of n bytes: p (p - 1) messages in all, p of them over each edge in its two directions
// together; depth the tree's diameter, wherever it hangs from. A rank with d neighbours sends (d - 1) (p - 1) + 1
// messages.
static Schedule tree(const Request& request) {
    const Blocks blocks = blocks_of(request);
    Dataflow flow;
    const Tree& tree = given_tree(request);
    const std::vector<int> neighbours = neighbours_in(tree, request.rank);
    for (const int neighbour : neighbours) flow.send(neighbour, own_input(request));
    for (const TreeVisit& visit : nearest_first(tree, request.rank)) {
        if (visit.rank == request.rank) continue;
        const Region block = blocks.block(visit.rank);
        flow.receive(visit.branch, block);
        for (const int neighbour : neighbours) {
            if (neighbour != visit.branch) flow.send(neighbour, block);
        }
    }
    flow.copy(own_input(request), blocks.block(request.rank));
    return std::move(flow).take();
}

Algorithm tree() {
    return {.name = "tree",
            .summary = "outwards from every rank over a tree made from the measured network",
            .source = tree_sources,
            .build = tree, .trees = measured_trees(), .blocks = InBlocks::uneven};
}

}  // namespace allgather

namespace allreduce {

// Up and down the tree, or a share over each of packed trees. A segment goes down as soon as it is reduced, while later
// ones still come up.
//
// Cost, p ranks: 2 (p - 1) messages per segment, twice the depth of the tree, which may hang from any rank; every
// link carries the message once in each direction.
static Schedule up_and_down(const Request& request) {
    Dataflow flow;
    for (const auto& [place, parts] : pass_up_shares(request, whole_message(flow, request, true))) {
        for (const Partial& part : parts) {
            if (place.parent >= 0) flow.receive(place.parent, part.home());
            for (const int child : place.children) flow.send(child, part.home());
        }
    }
    return std::move(flow).take();
}

Algorithm tree() {
    return {.name = "tree",
            .summary = "up and down a tree made from the measured network",
            .source = tree_sources,
            .build = up_and_down, .segmented = true, .trees = measured_trees()};
}

// Each share combined up a tree of its own, and then down it again, over the trees of broadcast/packed_trees.
//
// Cost, p ranks, k trees, n bytes: 2 k (p - 1) messages of n / k bytes; from the host that is nearest to all there is
// hardly a longer way than between the two farthest.
Algorithm packed_trees() {
    return {.name = "packed_trees",
            .summary = "a share up and down each of many trees that leave each other room on the links",
            .source = packed_tree_sources,
            .build = up_and_down, .segmented = true, .segments_of_blocks = true, .trees = {TreeKind::packed_both_ways},
            .least_bytes = least_bytes_of_packed_trees};
}

}  // namespace allreduce

}  // namespace mutirao
