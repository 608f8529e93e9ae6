// Cost, p ranks, blocks of n bytes: log2 p steps and messages a rank; a port sends and receives (p - 1) n bytes.
// Half of the bytes go between ranks p / 2 apart. For other numbers of ranks bruck, circulant and sparbit take as
// many steps.
#include <vector>

#include "core/algorithms/equal_blocks.h"

namespace mutirao::allgather {

static Schedule recursive_doubling(const Request& request) {
    const Blocks blocks = blocks_of(request);
    BlockSteps steps;
    // What is sent in later steps lies beside the own block, so they come after its copy too.
    std::vector<StepId> held{steps.copy(own_input(request), blocks.block(request.rank))};
    for (int group = 1; group < request.size; group *= 2) {
        const int peer = request.rank ^ group;
        const int mine = request.rank / group * group;
        const int theirs = peer / group * group;
        if (group == 1) {
            steps.send(peer, own_input(request));
        } else {
            steps.send(peer, blocks.range(mine, mine + group), held);
        }
        held.push_back(steps.receive(peer, blocks.range(theirs, theirs + group)));
    }
    return std::move(steps).take();
}

Algorithm recursive_doubling() {
    return {.collective = Collective::allgather,
            .name = "recursive_doubling",
            .summary = "pairs exchange all that they hold",
            .source = "Thakur, Rabenseifner and Gropp 2005, doi:10.1177/1094342005051521",
            .build = recursive_doubling, .fits = is_power_of_two, .blocks = InBlocks::uneven};
}

}  // namespace mutirao::allgather
