// The paper's multi-lane broadcast with groups of `radix` neighbouring hosts in the place of a host's ranks. The
// root hands its helpers a share each, these send it to one host of every group, and inside the groups the shares
// are exchanged. So no link between two groups carries more than a share, where every pair of hosts has a
// connection of its own with a limit of its own, as TCP's window is. A group should be a site, or a part of one;
// for that hosts must be numbered site by site. With one group of all it is a scatter and an allgather, both in a
// single step.
//
// Cost, p hosts, groups of k, n bytes: depth 3; up to p / k + 2 k messages of n / k bytes from the root and p / k
// + k from others.
#include "core/algorithms/broadcast/over_lanes.h"

#include <algorithm>

namespace mutirao::broadcast {

namespace {

Placement groups_of_neighbours(int size, int most_in_a_group) {
    std::vector<int> group_of;
    for (int host = 0; host < size; ++host) group_of.push_back(host / most_in_a_group);
    return Placement(std::move(group_of));
}

}  // namespace

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
