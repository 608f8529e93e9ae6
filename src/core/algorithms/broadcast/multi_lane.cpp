// All ranks of a host take part in what goes between the hosts: the root's host splits the message
// among its ranks, each sends its share to the other hosts, and inside every host the shares are
// put together again (Traeff and Hunold 2019, arXiv:1910.13373). The paper takes hosts of equally
// many ranks; here ranks of smaller hosts speak for several lanes in turn. Between the hosts each
// share goes down a k-nomial tree of `radix`.
//
// Cost, H hosts of up to m ranks, n bytes: depth 2 + ceil(log_radix H); a rank sends about
// (radix - 1) log_radix H messages of n / m bytes to other hosts, and each host gets n bytes. For
// long messages where one rank alone cannot fill its host's port. No restrictions.
#include "core/algorithms/broadcast/over_lanes.h"

#include "core/algorithms/over_placement.h"

namespace mutirao::broadcast {

Schedule multi_lane(const Request& request) {
    return over_lanes(request, given_placement(request), request.parameters.radix);
}

}  // namespace mutirao::broadcast
