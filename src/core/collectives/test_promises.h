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

inline Promise of_ranks(int size) {
    Promise result;
    result.before.resize(static_cast<std::size_t>(size));
    result.after.resize(static_cast<std::size_t>(size));
    return result;
}

inline std::vector<Piece>& of(std::vector<std::vector<Piece>>& pieces, int rank) {
    return pieces[static_cast<std::size_t>(rank)];
}

/// The `index`-th block of a buffer that has one for every rank.
inline Region block(const CallShape& shape, Buffer buffer, int index) {
    const auto before = static_cast<std::size_t>(index);
    if (shape.lengths.empty()) return {buffer, before * shape.length_bytes, shape.length_bytes};
    const auto begin = shape.lengths.begin();
    return {buffer, std::accumulate(begin, begin + index, std::size_t{0}), shape.lengths[before]};
}

/// The same block where it is the only one.
inline Region alone(const CallShape& shape, Buffer buffer, int index) {
    return {buffer, 0, block(shape, buffer, index).length_bytes};
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

/// Of a reduction: every rank's input is so long.
inline Promise of_operands(const CallShape& shape, int size, std::size_t length_bytes) {
    Promise result = of_ranks(size);
    result.unit_bytes = shape.unit_bytes;
    result.commutes = shape.op.commutes;
    for (int rank = 0; rank < size; ++rank) {
        of(result.before, rank).push_back({{Buffer::input, 0, length_bytes}, {rank}, 0});
    }
    return result;
}

/// Each rank gets what those before it have, and `own` more: itself.
inline Promise of_prefixes(const CallShape& shape, int size, int own) {
    Promise result = of_operands(shape, size, shape.length_bytes);
    for (int rank = 1 - own; rank < size; ++rank) {
        of(result.after, rank)
            .push_back({block(shape, Buffer::output, 0), ranks_before(rank + own), 0});
    }
    return result;
}

inline Promise barrier(int size) {
    Promise result = of_ranks(size);
    result.synchronizes = true;
    return result;
}

inline Promise broadcast(const CallShape& shape, int size) {
    const Piece message{{Buffer::output, 0, shape.length_bytes}, {shape.root}, 0};
    Promise result = of_ranks(size);
    of(result.before, shape.root).push_back(message);
    result.after.assign(static_cast<std::size_t>(size), {message});
    return result;
}

inline Promise gather(const CallShape& shape, int size) {
    Promise result = of_ranks(size);
    for (int rank = 0; rank < size; ++rank) {
        of(result.before, rank).push_back({alone(shape, Buffer::input, rank), {rank}, 0});
        of(result.after, shape.root).push_back({block(shape, Buffer::output, rank), {rank}, 0});
    }
    return result;
}

inline Promise scatter(const CallShape& shape, int size) {
    Promise result = of_ranks(size);
    for (int rank = 0; rank < size; ++rank) {
        const Region mine = block(shape, Buffer::input, rank);
        of(result.before, shape.root).push_back({mine, {shape.root}, mine.offset_bytes});
        of(result.after, rank)
            .push_back({alone(shape, Buffer::output, rank), {shape.root}, mine.offset_bytes});
    }
    return result;
}

inline Promise allgather(const CallShape& shape, int size) {
    Promise result = of_ranks(size);
    for (int rank = 0; rank < size; ++rank) {
        of(result.before, rank).push_back({alone(shape, Buffer::input, rank), {rank}, 0});
        for (int from = 0; from < size; ++from) {
            of(result.after, rank).push_back({block(shape, Buffer::output, from), {from}, 0});
        }
    }
    return result;
}

inline Promise alltoall(const CallShape& shape, int size) {
    const auto input = [&](int rank, int other) {
        return block(sent_by(shape, rank, size), Buffer::input, other);
    };
    Promise result = of_ranks(size);
    for (int rank = 0; rank < size; ++rank) {
        const CallShape received = received_by(shape, rank, size);
        for (int other = 0; other < size; ++other) {
            const Region theirs = input(rank, other);
            of(result.before, rank).push_back({theirs, {rank}, theirs.offset_bytes});
            of(result.after, rank)
                .push_back({block(received, Buffer::output, other), {other},
                            input(other, rank).offset_bytes});
        }
    }
    return result;
}

inline Promise reduce(const CallShape& shape, int size) {
    Promise result = of_operands(shape, size, shape.length_bytes);
    of(result.after, shape.root)
        .push_back({block(shape, Buffer::output, 0), ranks_before(size), 0});
    return result;
}

inline Promise allreduce(const CallShape& shape, int size) {
    Promise result = of_operands(shape, size, shape.length_bytes);
    result.after.assign(static_cast<std::size_t>(size),
                        {{block(shape, Buffer::output, 0), ranks_before(size), 0}});
    result.one_result = true;
    return result;
}

inline Promise reduce_scatter_block(const CallShape& shape, int size) {
    Promise result =
        of_operands(shape, size, block(shape, Buffer::input, size - 1).end_bytes());
    for (int rank = 0; rank < size; ++rank) {
        of(result.after, rank)
            .push_back({alone(shape, Buffer::output, rank), ranks_before(size),
                        block(shape, Buffer::input, rank).offset_bytes});
    }
    return result;
}

}  // namespace promises

/// What must lie where before and after the call, among so many ranks.
inline Promise promise_of(const CallShape& shape, int size) {
    switch (row_of(shape.collective).base) {
        case Collective::barrier: return promises::barrier(size);
        case Collective::broadcast: return promises::broadcast(shape, size);
        case Collective::gather: return promises::gather(shape, size);
        case Collective::scatter: return promises::scatter(shape, size);
        case Collective::allgather: return promises::allgather(shape, size);
        case Collective::alltoall: return promises::alltoall(shape, size);
        case Collective::reduce: return promises::reduce(shape, size);
        case Collective::allreduce: return promises::allreduce(shape, size);
        case Collective::reduce_scatter_block: return promises::reduce_scatter_block(shape, size);
        case Collective::scan: return promises::of_prefixes(shape, size, 1);
        // The first rank's output is undefined by MPI, and here it is left as it was.
        case Collective::exscan: return promises::of_prefixes(shape, size, 0);
        default: broken_invariant("a collective without a promise (collective, ranks)",
                                  static_cast<int>(shape.collective), size);
    }
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
