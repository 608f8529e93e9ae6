// The root's host splits the message among its ranks, each sends its share to the other hosts, and inside every
// host the shares are put together again. The paper takes hosts of equally many ranks; here ranks of smaller hosts
// speak for several lanes in turn. Each share leaves the root's host once, for another host where there are
// enough, and goes on from there down a k-nomial tree of `radix` over the others, so that all ports have about as
// much to send.
//
// Cost, H hosts of up to m ranks, n bytes: depth 3 + ceil(log_radix (H - 1)); n bytes leave the root's host and
// enter each other one, over up to m ranks; for m = H - 1 no host sends more than H - 2 shares to others. For long
// messages. Among all ranks, since it is nothing between one rank of each host.
#include "core/algorithms/broadcast/over_lanes.h"
#include "core/algorithms/over_placement.h"

namespace mutirao::broadcast {

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

}  // namespace mutirao::broadcast
