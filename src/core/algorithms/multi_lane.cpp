// Lanes: every group of ranks (the ranks of a host, say) has one rank for each lane, which deals with that share of the
// message for its group, so that groups exchange over several ranks at once (Traeff and Hunold 2019, arXiv:1910.13373).
// The paper takes hosts of equally many ranks; here ranks of smaller ones serve several lanes in turn.
#include <algorithm>
#include <cstddef>
#include <functional>
#include <utility>
#include <vector>

#include "core/algorithms/over_placement.h"
#include "core/algorithms/reduction.h"
#include "core/algorithms/trees.h"

namespace mutirao {
namespace {

/// Shares of a shorter broadcast are not worth the more messages.
constexpr std::size_t least_bytes_of_shares = 4096;

/// A group's place in the tree of one lane, both counted from the root's group.
using PlaceBetween = std::function<TreePlace(int group, int lane)>;

/// There are as many lanes as the largest group has ranks; the root serves the first one of its own group.
TreePlace place_in_lane(int lane, const Request& request, const Placement& groups, const PlaceBetween& place_between) {
    const int own_group = groups.host_of(request.rank), root_group = groups.host_of(request.root);
    const auto speaker = [&](int group) { return groups.beside(groups.leader(group, request.root), lane); };
    const bool at_root = request.rank == request.root;
    TreePlace place;
    if (request.rank != speaker(own_group)) {
        if (at_root) place.children.push_back(speaker(own_group));
        else place.parent = speaker(own_group);
        return place;
    }
    const int own = virtual_rank(own_group, root_group, groups.host_count());
    const TreePlace between = with_real_ranks(place_between(own, lane), root_group, groups.host_count());
    if (!at_root) place.parent = between.parent >= 0 ? speaker(between.parent) : request.root;
    for (const int group : between.children) place.children.push_back(speaker(group));
    // Each begins with the next, so that a rank does not get all shares at the same time.
    for (std::size_t distance = 1; distance < groups.ranks_of(own_group).size(); ++distance) {
        const int rank = groups.beside(request.rank, static_cast<int>(distance));
        if (rank != request.root) place.children.push_back(rank);
    }
    return place;
}

/// The root hands each share to the rank of its own group that speaks for the share's lane. From
/// there it goes down the lane's tree over the groups, from speaker to speaker, and each of these
/// passes it on to its whole group.
Schedule over_lanes(const Request& request, const Placement& groups,
                    const PlaceBetween& place_between) {
    std::vector<TreePlace> places;
    for (int lane = 0; lane < groups.most_ranks_on_a_host(); ++lane)
        places.push_back(place_in_lane(lane, request, groups, place_between));
    return pass_down_shares(places, request);
}

Placement groups_of_neighbours(int size, int most_in_a_group) {
    std::vector<int> group_of;
    for (int host = 0; host < size; ++host) group_of.push_back(host / most_in_a_group);
    return Placement(std::move(group_of));
}

// The root's host splits the message among its ranks, each sends its share to the other hosts, and inside every
// host the shares are put together again. Each share leaves the root's host once, for another host where there are
// enough, and goes on from there down a k-nomial tree of `radix` over the others, so that all ports have about as
// much to send.
//
// Cost, H hosts of up to m ranks, n bytes: depth 3 + ceil(log_radix (H - 1)); n bytes leave the root's host and
// enter each other one, over up to m ranks; for m = H - 1 no host sends more than H - 2 shares to others. For long
// messages. Among all ranks, since it is nothing between one rank of each host.
Schedule broadcast_multi_lane(const Request& request) {
    const Placement& hosts = given_placement(request);
    const int others = hosts.host_count() - 1;
    const int lanes = hosts.most_ranks_on_a_host();
    return over_lanes(request, hosts, [&](int host, int lane) {
        const int first = 1 + lane * others / lanes;
        if (host == 0) return others == 0 ? TreePlace{} : TreePlace{-1, {first}};
        const int index = (host - first + others) % others;
        TreePlace place = k_nomial_place(index, others, request.parameters.radix);
        const auto host_at = [&](int at) { return 1 + (first - 1 + at) % others; };
        place.parent = index == 0 ? 0 : host_at(place.parent);
        for (int& child : place.children) child = host_at(child);
        return place;
    });
}

// The paper's multi-lane broadcast with groups of `radix` neighbouring hosts in the place of a host's ranks. The
// root hands its helpers a share each, these send it to one host of every group, and inside the groups the shares
// are exchanged. So no link between two groups carries more than a share, where every pair of hosts has a
// connection of its own with a limit of its own, as TCP's window is. A group should be a site, or a part of one;
// for that hosts must be numbered site by site. With one group of all it is a scatter and an allgather, both in a
// single step.
//
// Cost, p hosts, groups of k, n bytes: depth 3; up to p / k + 2 k messages of n / k bytes from the root and
// p / k + k from others.
Schedule broadcast_striped(const Request& request) {
    const Placement groups = groups_of_neighbours(request.size, request.parameters.radix);
    const int count = groups.host_count();
    const int straight_to_all = std::max(count, 2);
    return over_lanes(request, groups, [&](int group, int) {
        return k_nomial_place(group, count, straight_to_all);
    });
}

// Inside each host ranks reduce a share of the message each, every share is reduced over the hosts by itself, by
// circulant or, for short messages, by recursive multiplying (fewer rounds, of whole shares), and inside the hosts
// the shares are put together again.
//
// Cost, H hosts of m ranks, n bytes: 2 ceil(log2 H) + 2 messages in a row; 2 n (H - 1) / H bytes leave and enter
// each host, over m ranks, and about as many go between the ranks inside. By recursive multiplying with radix k,
// where H is a power of k: log_k H + 2 messages in a row, and (k - 1) n log_k H bytes. Scratch for twice the
// message.
Schedule reduced_over_lanes(const Request& request, Build* between_hosts) {
    const Placement& placement = given_placement(request);
    const int host = placement.host_of(request.rank), lanes = placement.most_ranks_on_a_host();
    const std::vector<int> others = others_beside(placement, request.rank);
    const Blocks shares(request.length_bytes, lanes, request.unit_bytes);
    const auto speaker = [&](int its_host, int lane) {
        return placement.beside(placement.ranks_of(its_host).front(), lane);
    };
    Dataflow inside;
    const Partial whole = whole_message(inside, request, false);
    std::vector<std::pair<int, Region>> reduced_inside;  // by own lane
    for (int lane = 0; lane < lanes; ++lane) {
        Partial share = whole;
        share.narrow(shares.block(lane));
        if (speaker(host, lane) != request.rank) {
            share.send(speaker(host, lane));
            continue;
        }
        share.combine({}, others);
        reduced_inside.emplace_back(lane, share.value());
    }
    Schedule schedule = std::move(inside).take();
    for (const auto& [lane, reduced] : reduced_inside) {
        const Region result = shares.block(lane);
        const Schedule between = between_hosts({.rank = host,
                                                .size = placement.host_count(),
                                                .length_bytes = result.length_bytes,
                                                .unit_bytes = request.unit_bytes,
                                                .parameters = request.parameters});
        schedule.append(between, [&, lane = lane](int other) { return speaker(other, lane); },
                        {.input = reduced, .output = result});
    }
    Dataflow outwards;
    for (int lane = 0; lane < lanes; ++lane) {
        if (speaker(host, lane) != request.rank) {
            outwards.receive(speaker(host, lane), shares.block(lane));
            continue;
        }
        for (const int rank : others) outwards.send(rank, shares.block(lane));
    }
    schedule.append(std::move(outwards).take());
    return schedule;
}

Schedule allreduce_multi_lane(const Request& request) { return reduced_over_lanes(request, allreduce_circulant); }

Schedule allreduce_multi_lane_multiplying(const Request& request) {
    return reduced_over_lanes(request, allreduce_recursive_multiplying);
}

}  // namespace

std::vector<Algorithm> multi_lane_rows() {
    using enum Collective;
    return {
        {.collective = broadcast, .name = "multi_lane",
         .summary = "a share by each rank of a host, put together inside the hosts",
         .source = "Traeff and Hunold 2019, arXiv:1910.13373",
         .build = broadcast_multi_lane, .segmented = true, .segments_of_blocks = true, .radices = {2, 8},
         .least_bytes = least_bytes_of_shares},
        {.collective = broadcast, .name = "striped",
         .summary = "a share over each host of groups of `radix`, then exchanged in the groups",
         .source = "Traeff and Hunold 2019, arXiv:1910.13373",
         .build = broadcast_striped, .segmented = true, .segments_of_blocks = true, .radices = {2, 4, 8, 64},
         .level = Level::hosts, .least_bytes = least_bytes_of_shares},
        {.collective = allreduce, .name = "multi_lane",
         .summary = "a share by each rank of a host between the hosts, put together inside them",
         .source = "Traeff and Hunold 2019, arXiv:1910.13373",
         .build = allreduce_multi_lane},
        {.collective = allreduce, .name = "multi_lane_multiplying",
         .summary = "the same by recursive multiplying between the hosts, for short messages",
         .source = "Traeff and Hunold 2019, arXiv:1910.13373",
         .build = allreduce_multi_lane_multiplying, .radices = {2, 4, 8}},
    };
}

}  // namespace mutirao
