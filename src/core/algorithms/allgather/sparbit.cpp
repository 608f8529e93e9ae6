// A binomial tree from every rank at once, the longest distances first: while there are few blocks to send they go
// far. Blocks are received where they belong, each in a message of its own, and go on as soon as they have come.
//
// Cost, p ranks, blocks of n bytes: depth ceil(log2 p), p - 1 messages a rank to ceil(log2 p) ranks; a port sends
// and receives (p - 1) n bytes, about half of them to and from a neighbour.
#include "core/algorithms/allgather/far_first.h"

namespace mutirao::allgather {

static Schedule sparbit(const Request& request) { return far_first(request, 1); }

Algorithm sparbit() {
    return {.collective = Collective::allgather,
            .name = "sparbit",
            .summary = "far ranks first, so that most blocks go to near ones",
            .source = "Loch and Koslovski 2021, arXiv:2109.08751",
            .build = sparbit, .blocks = InBlocks::uneven};
}

}  // namespace mutirao::allgather
