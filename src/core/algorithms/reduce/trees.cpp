// Reductions up a tree: each is a choice of places in it, and nothing else.
#include "core/algorithms/reduction.h"
#include "core/algorithms/trees.h"

namespace mutirao::reduce {

namespace {

Schedule up(const Request& request, const UpwardPlace& place) {
    Dataflow flow;
    pass_up(request, place, whole_message(flow, request, request.rank == request.root));
    return std::move(flow).take();
}

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

// Radices other than 2: Pjesivac-Grbovic et al. 2007, doi:10.1007/s10586-007-0012-0. The ranks below a child
// follow its parent's in a row, so operands stay in order if they are counted from rank 0.
//
// Cost, p ranks, radix k, n bytes: depth ceil(log_k p), p - 1 messages; a rank receives and combines up to (k - 1)
// ceil(log_k p) n bytes. One more message of n bytes, from rank 0 to the root, where operands must stay in order.
Schedule k_nomial(const Request& request) {
    return reduce_over_virtual_tree(request, [&](int rank) {
        return k_nomial_place(rank, request.size, request.parameters.radix);
    });
}

Algorithm k_nomial() {
    return {.name = "k_nomial",
            .summary = "k-nomial tree over the ranks, binomial for radix 2",
            .source = "Thakur, Rabenseifner and Gropp 2005, doi:10.1177/1094342005051521",
            .build = k_nomial, .segmented = true, .radices = {2, 4, 8}, .keeps_order = true};
}

// With segments, it moves a long message at the speed of one link.
//
// Cost, p ranks, n bytes in s segments: depth p - 1, (p - 1) s messages; every rank receives, combines and sends
// n bytes at most; p + s - 2 steps of n / s bytes. One more, from rank 0 to the root, where operands must stay in
// order.
static Schedule chain(const Request& request) {
    return reduce_over_virtual_tree(request, [&](int rank) {
        TreePlace place{.parent = rank - 1, .children = {}};
        if (rank + 1 < request.size) place.children.push_back(rank + 1);
        return place;
    });
}

Algorithm chain() {
    return {.name = "chain",
            .summary = "each rank adds its operand and passes it on: a pipeline",
            .source = "Pjesivac-Grbovic et al. 2007, doi:10.1007/s10586-007-0012-0",
            .build = chain, .segmented = true, .keeps_order = true};
}

// What comes from a rank's children is combined on either side of its own operand. Open MPI's tree hangs from the
// last rank and needs one message more to the root; here the root itself is on top, with the balanced trees of the
// ranks before and after it below.
//
// Cost, p ranks, n bytes in s segments: depth at most 1 + ceil(log2 p), (p - 1) s messages; a rank receives at
// most 2 n bytes. Operands stay in order, wherever the root is.
static Schedule in_order_binary(const Request& request) {
    return up(request, in_order_place(request));
}

Algorithm in_order_binary() {
    return {.name = "in_order_binary",
            .summary = "a binary tree with every rank between its children's ranks",
            .source = "Open MPI; Pjesivac-Grbovic et al. 2007, doi:10.1007/s10586-007-0012-0",
            .build = in_order_binary, .segmented = true, .keeps_order = true};
}

// Links are taken to be alike in both directions.
//
// Cost, p ranks: p - 1 messages per segment, depth and load as the tree has them. It must hang from the root, and
// the operator commute: ranks below a child may be any.
static Schedule over_trees(const Request& request) {
    Dataflow flow;
    pass_up_shares(request, whole_message(flow, request, request.rank == request.root));
    return std::move(flow).take();
}

Algorithm tree() {
    return {.name = "tree",
            .summary = "up a tree made from the measured network",
            .source = tree_sources,
            .build = over_trees, .segmented = true, .trees = measured_trees()};
}

// broadcast/packed_trees in time's reverse.
//
// Cost, p ranks, k trees, n bytes: k (p - 1) messages of n / k bytes. The operator must commute.
Algorithm packed_trees() {
    return {.name = "packed_trees",
            .summary = "a share up each of many trees that leave each other room on the links",
            .source = packed_tree_sources,
            .build = over_trees, .segmented = true, .segments_of_blocks = true, .trees = {TreeKind::packed},
            .least_bytes = least_bytes_of_packed_trees};
}

}  // namespace mutirao::reduce
