// What comes from a rank's children is combined on either side of its own operand. Open MPI's tree hangs from the
// last rank and needs one message more to the root; here the root itself is on top, with the balanced trees of the
// ranks before and after it below.
//
// Cost, p ranks, n bytes in s segments: depth at most 1 + ceil(log2 p), (p - 1) s messages; a rank receives at
// most 2 n bytes. Operands stay in order, wherever the root is.
#include "core/algorithms/reduction.h"

namespace mutirao::reduce {

namespace {

/// The top of the balanced tree of these ranks.
int middle_of(int first, int end) { return first + (end - first) / 2; }

UpwardPlace in_order_place(const Request& request) {
    UpwardPlace place;
    int first = 0;
    int end = request.size;
    int top = request.root;
    while (top != request.rank) {
        place.parent = top;
        (request.rank < top ? end : first) = request.rank < top ? top : top + 1;
        top = middle_of(first, end);
    }
    if (first < top) place.before.push_back(middle_of(first, top));
    if (top + 1 < end) place.after.push_back(middle_of(top + 1, end));
    return place;
}

}  // namespace

static Schedule in_order_binary(const Request& request) {
    Dataflow flow;
    pass_up(request, in_order_place(request),
            whole_message(flow, request, request.rank == request.root));
    return std::move(flow).take();
}

Algorithm in_order_binary() {
    return {.collective = Collective::reduce,
            .name = "in_order_binary",
            .summary = "a binary tree with every rank between its children's ranks",
            .source = "Open MPI; Pjesivac-Grbovic et al. 2007, doi:10.1007/s10586-007-0012-0",
            .build = in_order_binary, .segmented = true, .keeps_order = true};
}

}  // namespace mutirao::reduce
