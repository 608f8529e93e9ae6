// At half the ranks' distance first, so at the end each has its own block of everybody. Where the number of ranks
// is no power of two, neighbours first combine all their blocks, and one of them acts for both.
//
// Cost, p ranks, blocks of n bytes: log2 p steps for a power of two, and (p - 1) n bytes through each port;
// otherwise floor(log2 p) + 2 steps and up to p n bytes more.
#include "core/algorithms/equal_blocks.h"
#include "core/algorithms/reduction.h"

namespace mutirao::reduce_scatter_block {

static Schedule recursive_halving(const Request& request) {
    const int rank = request.rank;
    const Blocks blocks = blocks_of(request);
    const Region result{Buffer::output, 0, own_length_bytes(request)};
    const Groups groups(request.size, largest_power(2, request.size));

    Dataflow flow;
    Partial partial(flow, blocks.range(0, request.size, Buffer::input),
                    blocks.range(0, request.size, Buffer::scratch));
    groups.fold(partial, rank);
    if (!groups.leads(rank)) {
        flow.receive(groups.leader(groups.of(rank)), result);
        return std::move(flow).take();
    }
    Halving(groups, rank, false, [&](int first, int end) {
        return blocks.range(groups.first(first), groups.first(end));
    }).reduce_scatter(partial);
    const int group = groups.of(rank);
    for (int member = groups.first(group); member < groups.first(group + 1); ++member) {
        const Region block = blocks.block(member);
        if (member != rank) partial.send(block, member);
        if (member == rank) flow.copy(partial.value(block), result);
    }
    return std::move(flow).take();
}

Algorithm recursive_halving() {
    return {.collective = Collective::reduce_scatter_block,
            .name = "recursive_halving",
            .summary = "partners split the blocks that both hold, at halving distances",
            .source = "Thakur, Rabenseifner and Gropp 2005, doi:10.1177/1094342005051521",
            .build = recursive_halving, .blocks = InBlocks::uneven};
}

}  // namespace mutirao::reduce_scatter_block
