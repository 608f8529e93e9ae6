// The trees of sparbit. The paper bounds the blocks of a message by its buffers; here each message has its own
// memory, and what is bounded is how long a block waits for others and how much is copied.
//
// Cost, p ranks, blocks of n bytes: depth ceil(log2 p); the step over distance d takes p / (2 d) blocks in
// messages of up to `radix`, so ceil(log2 p) messages a rank if p / 2 fit in one. A port sends and receives (p -
// 1) n bytes, about half of them to and from a neighbour; blocks that travel together are copied twice by each
// rank. Scratch for them, twice.
#include "core/algorithms/allgather/far_first.h"

namespace mutirao::allgather {

static Schedule pat(const Request& request) { return far_first(request, request.parameters.radix); }

Algorithm pat() {
    return {.collective = Collective::allgather,
            .name = "pat",
            .summary = "as sparbit, with up to `radix` blocks in a message",
            .source = "Jeaugey 2025, arXiv:2506.20252",
            .build = pat, .radices = {4, 16, 64}};
}

}  // namespace mutirao::allgather
