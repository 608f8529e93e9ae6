// Cost, p ranks, n bytes: 2 ceil(log2 p) rounds for any p, in each one or two messages a rank, and 2 n (p - 1) / p
// bytes through each port, which is the least possible. Empty blocks are not sent.
#include "core/algorithms/circulant.h"
#include "core/algorithms/reduction.h"

namespace mutirao::allreduce {

Schedule circulant(const Request& request) {
    const Blocks blocks(request.length_bytes, request.size, request.unit_bytes);
    const Region home{Buffer::output, 0, request.length_bytes};
    Dataflow flow;
    if (request.size == 1) {
        whole_message(flow, request, true).settle();
    } else {
        Circulant graph(flow, request, blocks, home);
        graph.reduce_scatter(blocks.block(request.rank));
        graph.allgather();
    }
    return std::move(flow).take();
}

Algorithm circulant() {
    return {.collective = Collective::allreduce,
            .name = "circulant",
            .summary = "reduce-scatter and allgather along halving skips, for any number of ranks",
            .source = "Traeff 2024, arXiv:2410.14234",
            .build = circulant};
}

}  // namespace mutirao::allreduce
