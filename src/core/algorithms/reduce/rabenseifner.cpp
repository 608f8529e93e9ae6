// Recursive halving leaves every rank with one block of the result, which goes to the root the same way back (also
// Thakur, Rabenseifner and Gropp 2005, doi:10.1177/1094342005051521). Partners begin as neighbours, so operands
// stay in order. Where the number of ranks is no power of two, neighbours first combine their operands.
//
// Cost, n bytes: for a power of two of p ranks, 2 log2 p steps; at most 2 n bytes through a port and n bytes
// combined. Otherwise one step and n bytes more. Empty blocks are not sent, and a block should be worth a message.
#include "core/algorithms/reduction.h"

namespace mutirao::reduce {

static Schedule rabenseifner(const Request& request) {
    const Groups groups(request.size, largest_power(2, request.size), request.root);
    const Halving halving = near_halving(request, groups);
    Dataflow flow;
    Partial partial = whole_message(flow, request, request.rank == request.root);
    const Region home = partial.home();
    groups.fold(partial, request.rank);
    if (groups.leads(request.rank)) {
        halving.reduce_scatter(partial);
        partial.settle();
        halving.gather(flow, home, groups.of(request.root));
    }
    return std::move(flow).take();
}

Algorithm rabenseifner() {
    return {.collective = Collective::reduce,
            .name = "rabenseifner",
            .summary = "recursive halving, then the blocks are gathered at the root",
            .source = "Rabenseifner 2004, doi:10.1007/978-3-540-24685-5_1",
            .build = rabenseifner, .keeps_order = true};
}

}  // namespace mutirao::reduce
