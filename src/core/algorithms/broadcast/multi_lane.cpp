// Broadcasts that split the message into as many shares as the largest group has ranks, so that groups exchange
// over several ranks at once.
#include <algorithm>
#include <cstddef>
#include <functional>
#include <utility>
#include <vector>

#include "core/algorithms/over_placement.h"
#include "core/algorithms/trees.h"

namespace mutirao::broadcast {

namespace {

/// Shares of a shorter broadcast are not worth the more messages.
constexpr std::size_t least_bytes_of_shares = 4096;

/// A group's place in the tree of one lane, both counted from the root's group.
using PlaceBetween = std::function<TreePlace(int group, int lane)>;

class OverLanes {
  public:
    OverLanes(const Request& request, const Placement& groups)
        : request_(request),
          groups_(groups),
          lanes_(groups, request.root),
          own_group_(groups.host_of(request.rank)),
          root_group_(groups.host_of(request.root)) {}

    TreePlace place_in(int lane, const PlaceBetween& place_between) const {
        const int count = groups_.host_count();
        const TreePlace between = with_real_ranks(
            place_between(virtual_rank(own_group_, root_group_, count), lane), root_group_, count);
        const int speaker = lanes_.speaker(own_group_, lane);
        const bool at_root = request_.rank == request_.root;
        TreePlace place;
        if (request_.rank == speaker) {
            if (between.parent >= 0) {
                place.parent = lanes_.speaker(between.parent, lane);
            } else if (!at_root) {
                place.parent = request_.root;
            }
            for (const int group : between.children) {
                place.children.push_back(lanes_.speaker(group, lane));
            }
            add_own_group(place);
        } else if (at_root) {
            place.children.push_back(speaker);
        } else {
            place.parent = speaker;
        }
        return place;
    }

    int lane_count() const { return lanes_.count(); }

  private:
    /// Each begins with the next, so that a rank does not get all shares at the same time.
    void add_own_group(TreePlace& place) const {
        const auto ranks = groups_.ranks_of(own_group_);
        const int size = static_cast<int>(ranks.size());
        for (int distance = 1; distance < size; ++distance) {
            const int next = real_rank(distance, groups_.position_of(request_.rank), size);
            const int rank = ranks[static_cast<std::size_t>(next)];
            if (rank != request_.root) place.children.push_back(rank);
        }
    }

    const Request& request_;
    const Placement& groups_;
    Lanes lanes_;
    int own_group_;
    int root_group_;
};

/// The root hands each share to the rank of its own group that speaks for the share's lane. From
/// there it goes down the lane's tree over the groups, from speaker to speaker, and each of these
/// passes it on to its whole group.
Schedule over_lanes(const Request& request, const Placement& groups,
                    const PlaceBetween& place_between) {
    const OverLanes lanes(request, groups);
    std::vector<TreePlace> places;
    for (int lane = 0; lane < lanes.lane_count(); ++lane) {
        places.push_back(lanes.place_in(lane, place_between));
    }
    return pass_down_shares(places, request);
}

Placement groups_of_neighbours(int size, int most_in_a_group) {
    std::vector<int> group_of;
    for (int host = 0; host < size; ++host) group_of.push_back(host / most_in_a_group);
    return Placement(std::move(group_of));
}

}  // namespace

// The root's host splits the message among its ranks, each sends its share to the other hosts, and inside every
// host the shares are put together again. The paper takes hosts of equally many ranks; here ranks of smaller hosts
// speak for several lanes in turn. Each share leaves the root's host once, for another host where there are
// enough, and goes on from there down a k-nomial tree of `radix` over the others, so that all ports have about as
// much to send.
//
// Cost, H hosts of up to m ranks, n bytes: depth 3 + ceil(log_radix (H - 1)); n bytes leave the root's host and
// enter each other one, over up to m ranks; for m = H - 1 no host sends more than H - 2 shares to others. For long
// messages. Among all ranks, since it is nothing between one rank of each host.
static Schedule multi_lane(const Request& request) {
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

Algorithm multi_lane() {
    return {.collective = Collective::broadcast,
            .name = "multi_lane",
            .summary = "a share by each rank of a host, put together inside the hosts",
            .source = "Traeff and Hunold 2019, arXiv:1910.13373",
            .build = multi_lane, .segmented = true, .segments_of_blocks = true, .radices = {2, 8},
            .least_bytes = least_bytes_of_shares};
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
static Schedule striped(const Request& request) {
    const Placement groups = groups_of_neighbours(request.size, request.parameters.radix);
    const int count = groups.host_count();
    const int straight_to_all = std::max(count, 2);
    return over_lanes(request, groups, [&](int group, int) {
        return k_nomial_place(group, count, straight_to_all);
    });
}

Algorithm striped() {
    return {.collective = Collective::broadcast,
            .name = "striped",
            .summary = "a share over each host of groups of `radix`, then exchanged in the groups",
            .source = "Traeff and Hunold 2019, arXiv:1910.13373",
            .build = striped, .segmented = true, .segments_of_blocks = true, .radices = {2, 4, 8, 64},
            .level = Level::hosts, .least_bytes = least_bytes_of_shares};
}

}  // namespace mutirao::broadcast
