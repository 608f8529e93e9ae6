// Allgathers in which pairs of ranks exchange what they hold, blocks in one piece.
#include "core/algorithms/dataflow.h"
#include "core/algorithms/equal_blocks.h"

namespace mutirao::allgather {

// Cost, p ranks, blocks of n bytes: log2 p steps and messages a rank; a port sends and receives (p - 1) n bytes.
// Half of the bytes go between ranks p / 2 apart. For other numbers of ranks bruck, circulant and sparbit take as
// many steps.
Schedule recursive_doubling(const Request& request) {
    const Blocks blocks = blocks_of(request);
    Dataflow flow;
    flow.copy(own_input(request), blocks.block(request.rank));
    for (int group = 1; group < request.size; group *= 2) {
        const int peer = request.rank ^ group;
        const int mine = request.rank / group * group;
        const int theirs = peer / group * group;
        flow.send(peer, group == 1 ? own_input(request) : blocks.range(mine, mine + group));
        flow.receive(peer, blocks.range(theirs, theirs + group));
    }
    return std::move(flow).take();
}

// Each rank exchanges with its two neighbours in turn: first the own block, then in each step the two blocks that
// came in the step before.
//
// Cost, p ranks, blocks of n bytes: p / 2 steps and messages a rank, all between neighbours; a port sends and
// receives (p - 1) n bytes. Half of the ring's steps.
Schedule neighbor_exchange(const Request& request) {
    const Blocks blocks = blocks_of(request);
    Dataflow flow;
    const int pairs = request.size / 2;
    const bool even = request.rank % 2 == 0;
    const int side = even ? 1 : -1;
    const int partner = request.rank + side;
    const int other = (request.rank - side + request.size) % request.size;

    flow.copy(own_input(request), blocks.block(request.rank));
    if (pairs > 0) {
        flow.send(partner, own_input(request));
        flow.receive(partner, blocks.block(partner));
    }
    int held = request.rank / 2;  // the pair of ranks whose blocks came last
    for (int step = 1; step < pairs; ++step) {
        const int distance = (step + 1) / 2;
        const bool from_other = step % 2 == 1;
        const int peer = from_other ? other : partner;
        const int sign = from_other ? -side : side;
        const int pair = (request.rank / 2 + sign * distance + pairs) % pairs;
        flow.send(peer, blocks.range(2 * held, 2 * held + 2));
        flow.receive(peer, blocks.range(2 * pair, 2 * pair + 2));
        held = pair;
    }
    return std::move(flow).take();
}

}  // namespace mutirao::allgather
