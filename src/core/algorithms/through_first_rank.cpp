// The paper (Chan et al. 2007) puts its collectives of short vectors together so: everything comes together at rank 0
// and goes out from there, in fewer messages than of any exchange in which all ranks send.
#include "core/algorithms/dataflow.h"
#include "core/algorithms/equal_blocks.h"

namespace mutirao {

namespace broadcast {
Schedule k_nomial(const Request& request);
}
namespace reduce {
Schedule k_nomial(const Request& request);
}
namespace scatter {
Schedule binomial(const Request& request);
}

namespace allgather {

// Up and down a binomial tree. Every rank keeps the blocks of its subtree, which are consecutive, and gets from its
// parent only the others, in up to two messages around them.
//
// Cost, p ranks, blocks of n bytes: depth 2 ceil(log2 p); 3 (p - 1) messages in all; (p - 1) n bytes enter a rank, and
// up to ceil(log2 p) times as many leave it. For short blocks, or where messages are dear.
static Schedule gather_broadcast(const Request& request) {
    Dataflow flow;
    const int size = request.size;
    const Blocks all = blocks_of(request);
    const auto blocks = [&](int first, int end) { return all.range(first, end); };
    const auto subtree_end = [&](int rank) { return binomial_subtree_end(rank, size); };
    const TreePlace place = k_nomial_place(request.rank, size, 2);

    flow.copy(own_input(request), blocks(request.rank, request.rank + 1));
    for (const int child : place.children) flow.receive(child, blocks(child, subtree_end(child)));
    if (place.parent >= 0) {
        const int end = subtree_end(request.rank);
        flow.send(place.parent,
                  place.children.empty() ? own_input(request) : blocks(request.rank, end));
        flow.receive(place.parent, blocks(0, request.rank));
        flow.receive(place.parent, blocks(end, size));
    }
    for (const int child : place.children) {
        flow.send(child, blocks(0, child));
        flow.send(child, blocks(subtree_end(child), size));
    }
    return std::move(flow).take();
}

Algorithm gather_broadcast() {
    return {.name = "gather_broadcast",
            .summary = "up a binomial tree to rank 0, and down again what a subtree lacks",
            .source = "Chan et al. 2007, doi:10.1002/cpe.1206",
            .build = gather_broadcast, .blocks = InBlocks::uneven};
}

}  // namespace allgather

namespace allreduce {

// A segment goes down as soon as it is reduced, while later ones still come up.
//
// Cost, p ranks, n bytes, radix k: depth 2 ceil(log_k p); 2 (p - 1) messages of n bytes in all.
static Schedule reduce_broadcast(const Request& request) {
    Schedule schedule = reduce::k_nomial(request);
    schedule.append(broadcast::k_nomial(request));
    return schedule;
}

Algorithm reduce_broadcast() {
    return {.name = "reduce_broadcast",
            .summary = "up and down a k-nomial tree over the ranks",
            .source = "Chan et al. 2007, doi:10.1002/cpe.1206",
            .build = reduce_broadcast, .segmented = true, .radices = {2, 4, 8}, .keeps_order = true};
}

}  // namespace allreduce

namespace reduce_scatter_block {

// Cost, p ranks, blocks of n bytes, radix k: depth ceil(log_k p) + ceil(log2 p); 2 (p - 1) messages in all; up to
// ceil(log_k p) (k - 1) p n bytes enter rank 0. For short blocks, and for operators that do not commute. Scratch for p
// blocks and for those that wait.
static Schedule reduce_scatter(const Request& request) {
    Request whole = request;
    whole.length_bytes *= static_cast<std::size_t>(request.size);
    const bool collects = request.rank == request.root;
    const Region reduced{Buffer::scratch, 0, collects ? whole.length_bytes : 0};
    Schedule schedule;
    schedule.append(reduce::k_nomial(whole), {}, {.output = reduced});
    schedule.append(scatter::binomial(request), {}, {.input = reduced});
    return schedule;
}

Algorithm reduce_scatter() {
    return {.name = "reduce_scatter",
            .summary = "reduced to rank 0 over a k-nomial tree, then scattered over a binomial one",
            .source = "Chan et al. 2007, doi:10.1002/cpe.1206",
            .build = reduce_scatter, .radices = {2, 4, 8}, .keeps_order = true};
}

}  // namespace reduce_scatter_block

}  // namespace mutirao
