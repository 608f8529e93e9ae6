// Starting many sends is shared out (locality_tree.h says how); what pays for short messages where that costs much
// beside a link's latency. Among all ranks, since it is nothing between one rank of each host.
//
// Cost, H hosts of at least m ranks, radix k, n bytes: depth ceil(log_(km+1) H) over the network, of up to k
// messages one after the other, with ceil(log2 m) inside before each; a host sends up to k m n bytes a round.
#include "core/algorithms/locality_tree.h"
#include "core/algorithms/over_tree.h"

namespace mutirao::broadcast {

static Schedule locality_tree(const Request& request) { return over_place(request, locality_place(request)); }

Algorithm locality_tree() {
    return {.collective = Collective::broadcast,
            .name = "locality_tree",
            .summary = "down a tree in which all ranks of a host serve other hosts",
            .source = "after Bienz, Gautam and Kharel 2022, arXiv:2206.03564",
            .build = locality_tree, .segmented = true, .radices = {2, 4}};
}

}  // namespace mutirao::broadcast
