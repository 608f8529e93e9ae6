// What each collective promises, in terms of the buffers that schedules know: what is proved of all its algorithms.
// Only tests include this.
//
// Here all blocks' lengths are known. Those of an exchange in which each rank knows only its own (alltoallv) are those
// that rank 0 sends, then those of rank 1, and so on.
#pragma once

#include <cstddef>
#include <numeric>
#include <vector>

#include "core/collectives/collective.h"
#include "core/schedule/test_checker.h"
#include "core/text/invariant.h"

namespace mutirao::test {

namespace promises {

/// The `index`-th block of a buffer that has one for every rank.
inline Region block(const CallShape& shape, Buffer buffer, int index) {
    const auto before = static_cast<std::size_t>(index);
    if (shape.lengths.empty()) return {buffer, before * shape.length_bytes, shape.length_bytes};
    const auto begin = shape.lengths.begin();
    return {buffer, std::accumulate(begin, begin + index, std::size_t{0}), shape.lengths[before]};
}

/// Of an exchange of which all ranks' lengths are known: those of one rank.
inline CallShape sent_by(CallShape shape, int rank, int size) {
    if (shape.lengths.empty()) return shape;
    const auto row = shape.lengths.begin() + rank * size;
    shape.lengths = std::vector(row, row + size);
    return shape;
}

inline CallShape received_by(const CallShape& shape, int rank, int size) {
    CallShape result = shape;
    if (shape.lengths.empty()) return result;
    result.lengths.clear();
    for (int from = 0; from < size; ++from) {
        result.lengths.push_back(shape.lengths[static_cast<std::size_t>(from * size + rank)]);
    }
    return result;
}

inline std::vector<int> ranks_before(int end) {
    std::vector<int> ranks(static_cast<std::size_t>(end));
    std::iota(ranks.begin(), ranks.end(), 0);
    return ranks;
}

/// How much of a rank's input there is before the call.
inline std::size_t input_bytes(const CallShape& shape, int rank, int size) {
    using enum Collective;
    const auto all_blocks = [size](const CallShape& of) { return block(of, Buffer::input, size - 1).end_bytes(); };
    switch (row_of(shape.collective).base) {
        case barrier:
        case broadcast: return 0;  // the message lies in the output
        case gather:
        case allgather: return block(shape, Buffer::input, rank).length_bytes;
        case scatter: return rank == shape.root ? all_blocks(shape) : 0;
        case alltoall: return all_blocks(sent_by(shape, rank, size));
        case reduce_scatter_block: return all_blocks(shape);
        default: return shape.length_bytes;
    }
}

/// What a rank's output must hold after the call.
inline std::vector<Piece> outputs(const CallShape& shape, int rank, int size) {
    using enum Collective;
    const Region message{Buffer::output, 0, shape.length_bytes};
    const Region mine = block(shape, Buffer::input, rank), alone{Buffer::output, 0, mine.length_bytes};
    const bool elsewhere = row_of(shape.collective).rooted && rank != shape.root;
    std::vector<Piece> pieces;
    switch (row_of(shape.collective).base) {
        case barrier: return {};
        case broadcast: return {{message, {shape.root}}};
        case gather:
        case allgather:
            for (int from = 0; from < size && !elsewhere; ++from)
                pieces.push_back({block(shape, Buffer::output, from), {from}});
            return pieces;
        case scatter: return {{alone, {shape.root}, mine.offset_bytes}};
        case alltoall:
            for (int from = 0; from < size; ++from)
                pieces.push_back({block(received_by(shape, rank, size), Buffer::output, from), {from},
                                  block(sent_by(shape, from, size), Buffer::input, rank).offset_bytes});
            return pieces;
        case reduce:
        case allreduce:
            if (!elsewhere) pieces = {{message, ranks_before(size)}};
            return pieces;
        case reduce_scatter_block: return {{alone, ranks_before(size), mine.offset_bytes}};
        case scan: return {{message, ranks_before(rank + 1)}};
        case exscan:  // the first rank's output is undefined by MPI, and here it is left as it was
            if (rank > 0) pieces = {{message, ranks_before(rank)}};
            return pieces;
        default: broken_invariant("a collective without a promise (collective, ranks)",
                                  static_cast<int>(shape.collective), size);
    }
}

}  // namespace promises

/// What must lie where before and after the call, among so many ranks.
inline Promise promise_of(const CallShape& shape, int size) {
    const CollectiveRow& row = row_of(shape.collective);
    Promise promise;
    for (int rank = 0; rank < size; ++rank) {
        promise.before.push_back({{{Buffer::input, 0, promises::input_bytes(shape, rank, size)}, {rank}}});
        promise.after.push_back(promises::outputs(shape, rank, size));
        if (row.base == Collective::broadcast && rank == shape.root) promise.before.back() = promise.after.back();
    }
    if (row.reduces) {
        promise.unit_bytes = shape.unit_bytes;
        promise.commutes = shape.op.commutes;
    }
    promise.one_result = row.base == Collective::allreduce;
    promise.synchronizes = row.base == Collective::barrier;
    return promise;
}

/// The call as `rank` knows it.
inline CallShape as_known_to(const CallShape& whole, int rank, int size) {
    const CollectiveRow& row = row_of(whole.collective);
    if (row.in_blocks != InBlocks::own || whole.lengths.empty()) return whole;
    CallShape known = whole;
    if (!row.rooted) {
        known.lengths = promises::sent_by(whole, rank, size).lengths;
        const std::vector<std::size_t> received = promises::received_by(whole, rank, size).lengths;
        known.lengths.insert(known.lengths.end(), received.begin(), received.end());
    } else if (rank != whole.root) {
        known.lengths = {whole.lengths[static_cast<std::size_t>(rank)]};
    }
    return known;
}

}  // namespace mutirao::test
