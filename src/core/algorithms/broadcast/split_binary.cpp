// The k-th rank of one tree and the k-th of the other exchange their halves. Unlike in Open MPI, the exchange is
// segmented too and starts as soon as a segment is there.
//
// Cost, p ranks, n bytes: depth ceil(log2(p + 1)), then one exchange; about 2 (p - 1) messages per segment of a
// half; a rank sends at most 1.5 n bytes instead of the 2 n of one binary tree. With an even number of ranks one
// rank has no partner, and the root sends it the other half.
#include "core/algorithms/algorithm.h"
#include "core/algorithms/dataflow.h"
#include "core/algorithms/shape.h"

namespace mutirao {
namespace {

// Virtual ranks 1 .. left_count are the left tree, the others the right one.
Schedule broadcast_split_binary(const Request& request) {
    const int rank = virtual_rank(request.rank, request.root, request.size);
    const int left_count = request.size / 2, right_count = request.size - 1 - left_count;
    const auto peer = [&](int other) { return real_rank(other, request.root, request.size); };
    const Blocks halves(request.length_bytes, 2);
    const std::vector<Region> left = segments_of(halves.block(0), request.parameters.segment_bytes);
    const std::vector<Region> right = segments_of(halves.block(1), request.parameters.segment_bytes);

    Dataflow flow;
    if (rank == 0) {
        for (std::size_t i = 0; i < left.size() && left_count > 0; ++i) {
            flow.send(peer(1), left[i]);
            if (right_count > 0 && i < right.size()) flow.send(peer(left_count + 1), right[i]);
        }
        for (const Region& segment : right) {
            if (left_count > right_count) flow.send(peer(left_count), segment);
        }
        return std::move(flow).take();
    }
    const bool in_left = rank <= left_count;
    const int head = in_left ? 1 : left_count + 1;
    const TreePlace place = binary_place(rank - head, in_left ? left_count : right_count);
    for (const Region& segment : in_left ? left : right) {
        flow.receive(place.parent < 0 ? request.root : peer(head + place.parent), segment);
        for (const int child : place.children) flow.send(peer(head + child), segment);
    }
    const bool has_partner = rank != left_count || left_count == right_count;
    const int partner = !has_partner ? request.root : peer(in_left ? rank + left_count : rank - left_count);
    for (const Region& segment : in_left ? left : right) {
        if (has_partner) flow.send(partner, segment);
    }
    for (const Region& segment : in_left ? right : left) flow.receive(partner, segment);
    return std::move(flow).take();
}

}  // namespace

std::vector<Algorithm> broadcast_split_binary_rows() {
    using enum Collective;
    return {
        {.collective = broadcast, .name = "split_binary",
         .summary = "a half down each of two binary trees, then exchanged",
         .source = "Open MPI; Pjesivac-Grbovic et al. 2007, doi:10.1007/s10586-007-0012-0",
         .build = broadcast_split_binary, .segmented = true, .level = Level::hosts},
    };
}

}  // namespace mutirao
