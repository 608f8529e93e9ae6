// As scan/recursive_doubling, with two sums: the result, and the same with the rank's own operand for the others.
//
// Cost, p ranks, n bytes: ceil(log2 p) steps, in each of which a rank sends and receives n bytes at most and
// combines 2 n.
#include "core/algorithms/reduction.h"

namespace mutirao::exscan {

Schedule recursive_doubling(const Request& request) {
    Dataflow flow;
    const std::size_t length = request.length_bytes;
    const Region operand{Buffer::input, 0, length};
    const Region result{Buffer::output, 0, length};
    const Region sum{Buffer::scratch, 0, length};
    const Region waiting[] = {{Buffer::scratch, aligned(length), length},
                              {Buffer::scratch, 2 * aligned(length), length}};
    std::size_t turn = 0;
    bool added = false;  // the sum is more than the operand
    for (int distance = 1; distance < request.size; distance *= 2) {
        const int target = request.rank + distance;
        const int source = request.rank - distance;
        if (target < request.size) flow.send(target, added ? sum : operand);
        if (source < 0) continue;
        // The first to arrive is the result so far; the others have two places, in turns.
        const Region message = added ? waiting[turn] : result;
        turn = 1 - turn;
        flow.receive(source, message);
        // Only who will send again needs the sum.
        if (request.rank + 2 * distance < request.size) {
            if (!added) flow.copy(operand, sum);
            flow.reduce_before(message, sum);
        }
        if (added) flow.reduce_before(message, result);
        added = true;
    }
    return std::move(flow).take();
}

Algorithm recursive_doubling() {
    return {.collective = Collective::exscan,
            .name = "recursive_doubling",
            .summary = "every rank sends on what it has, at doubling distances",
            .source = "Hillis and Steele 1986, doi:10.1145/7902.7903; Sanders and Traeff 2006, doi:10.1007/11846802_15",
            .build = recursive_doubling, .keeps_order = true};
}

}  // namespace mutirao::exscan
