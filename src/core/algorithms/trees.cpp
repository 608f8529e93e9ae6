#include "core/algorithms/trees.h"

#include <cstddef>

#include "core/algorithms/equal_blocks.h"
#include "core/text/invariant.h"

namespace mutirao {

std::vector<StepId> pass_down(Schedule& schedule, const TreePlace& place,
                              std::span<const Region> segments) {
    std::vector<StepId> arrivals;
    if (place.parent >= 0) arrivals.reserve(segments.size());
    for (const Region& segment : segments) {
        Schedule::After arrival;
        if (place.parent >= 0) {
            arrivals.push_back(schedule.receive(place.parent, segment));
            arrival = Schedule::After(arrivals).last(1);
        }
        for (const int child : place.children) schedule.send(child, segment, arrival);
    }
    return arrivals;
}

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
            pass_down(schedule, places[share], std::span(segments[share]).subspan(turn, 1));
        }
    }
    return schedule;
}

Schedule over_place(const Request& request, const TreePlace& place) {
    Schedule schedule;
    const Region whole{Buffer::output, 0, request.length_bytes};
    pass_down(schedule, place, segments_of(whole, request.parameters.segment_bytes));
    return schedule;
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

TreePlace place_in(const Tree& tree, int of_rank) {
    const auto rank = static_cast<std::size_t>(of_rank);
    const auto children = tree.children[rank];
    return {tree.parent[rank], {children.begin(), children.end()}};
}

TreePlace place_below_root(const Request& request) {
    TreePlace place = place_in(given_tree(request), request.rank);
    if (request.tree->root != request.root) {
        broken_invariant("tree does not fit (its root, root)", request.tree->root, request.root);
    }
    return place;
}

Schedule over_given_tree(const Request& request) {
    return over_place(request, place_below_root(request));
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

}  // namespace mutirao
