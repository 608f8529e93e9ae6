// On the circulant graph whose skips are p halved again and again and rounded up: with skip s each rank holds the
// blocks of s ranks from its own on, counted round, and gets those up to the next skip from the rank s ahead.
// Blocks are sent from and received at their places; those that go over the last rank's, as two messages.
//
// Cost, p ranks, blocks of n bytes: ceil(log2 p) steps, up to twice as many messages; a port sends and receives
// (p - 1) n bytes; nothing but the own block is copied.
#include <vector>

#include "core/algorithms/equal_blocks.h"

namespace mutirao::allgather {

static Schedule circulant(const Request& request) {
    const Blocks blocks = blocks_of(request);
    BlockSteps steps;
    const int size = request.size;
    std::vector<int> skips{size};  // down to 1
    while (skips.back() > 1) skips.push_back((skips.back() + 1) / 2);

    // What is sent in later steps lies beside the own block, so they come after its copy too.
    std::vector<StepId> held{steps.copy(own_input(request), blocks.block(request.rank))};
    for (std::size_t i = skips.size() - 1; i > 0; --i) {
        const int skip = skips[i];
        const int count = skips[i - 1] - skip;
        const int behind = (request.rank + size - skip) % size;
        const int ahead = (request.rank + skip) % size;
        if (skip == 1) {
            steps.send(behind, own_input(request));
        } else {
            for (const BlockRun& run : runs_of(request.rank, count, size)) {
                steps.send(behind, blocks.range(run.first, run.first + run.count), held);
            }
        }
        for (const BlockRun& run : runs_of(ahead, count, size)) {
            held.push_back(
                steps.receive(ahead, blocks.range(run.first, run.first + run.count)));
        }
    }
    return std::move(steps).take();
}

Algorithm circulant() {
    return {.collective = Collective::allgather,
            .name = "circulant",
            .summary = "like bruck with skips that halve p, without staging",
            .source = "Traeff 2024, arXiv:2410.14234",
            .build = circulant, .blocks = InBlocks::uneven};
}

}  // namespace mutirao::allgather
