// Down a tree in which all ranks of a host serve other hosts (locality_tree.h, with its source), so that starting
// many sends is shared out; what pays for short messages where that costs much beside a link's latency.
//
// Cost, H hosts of at least m ranks, radix k, n bytes: depth ceil(log_(km+1) H) over the network, of up to k
// messages one after the other, with ceil(log2 m) inside before each; a host sends up to k m n bytes a round.
// No restrictions.
#include "core/algorithms/locality_tree.h"
#include "core/algorithms/over_tree.h"

namespace mutirao::broadcast {

Schedule locality_tree(const Request& request) { return over_place(request, locality_place(request)); }

}  // namespace mutirao::broadcast
