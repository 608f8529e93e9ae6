// One function per row of the table, each in terms of the buffers that schedules know.
#include "core/collectives/promise.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace mutirao {
namespace {

Promise of_ranks(int size) {
    Promise result;
    result.before.resize(static_cast<std::size_t>(size));
    result.after.resize(static_cast<std::size_t>(size));
    return result;
}

std::vector<Piece>& of(std::vector<std::vector<Piece>>& pieces, int rank) {
    return pieces[static_cast<std::size_t>(rank)];
}

/// The `index`-th block of a buffer.
Region block(const CallShape& shape, Buffer buffer, int index) {
    return {buffer, static_cast<std::size_t>(index) * shape.length_bytes, shape.length_bytes};
}

std::vector<int> ranks_before(int end) {
    std::vector<int> ranks(static_cast<std::size_t>(end));
    std::iota(ranks.begin(), ranks.end(), 0);
    return ranks;
}

/// Of a reduction: every rank's input is `blocks` blocks.
Promise of_operands(const CallShape& shape, int size, int blocks) {
    Promise result = of_ranks(size);
    result.unit_bytes = shape.unit_bytes;
    result.commutes = shape.op.commutes;
    for (int rank = 0; rank < size; ++rank) {
        const Region all{Buffer::input, 0, static_cast<std::size_t>(blocks) * shape.length_bytes};
        of(result.before, rank).push_back({all, {rank}, 0});
    }
    return result;
}

}  // namespace

namespace promises {

Promise barrier(const CallShape&, int size) {
    Promise result = of_ranks(size);
    result.synchronizes = true;
    return result;
}

Promise broadcast(const CallShape& shape, int size) {
    const Piece message{{Buffer::output, 0, shape.length_bytes}, {shape.root}, 0};
    Promise result = of_ranks(size);
    of(result.before, shape.root).push_back(message);
    result.after.assign(static_cast<std::size_t>(size), {message});
    return result;
}

Promise gather(const CallShape& shape, int size) {
    Promise result = of_ranks(size);
    for (int rank = 0; rank < size; ++rank) {
        of(result.before, rank).push_back({block(shape, Buffer::input, 0), {rank}, 0});
        of(result.after, shape.root).push_back({block(shape, Buffer::output, rank), {rank}, 0});
    }
    return result;
}

Promise scatter(const CallShape& shape, int size) {
    Promise result = of_ranks(size);
    for (int rank = 0; rank < size; ++rank) {
        const Region mine = block(shape, Buffer::input, rank);
        of(result.before, shape.root).push_back({mine, {shape.root}, mine.offset_bytes});
        of(result.after, rank)
            .push_back({block(shape, Buffer::output, 0), {shape.root}, mine.offset_bytes});
    }
    return result;
}

Promise allgather(const CallShape& shape, int size) {
    Promise result = of_ranks(size);
    for (int rank = 0; rank < size; ++rank) {
        of(result.before, rank).push_back({block(shape, Buffer::input, 0), {rank}, 0});
        for (int from = 0; from < size; ++from) {
            of(result.after, rank).push_back({block(shape, Buffer::output, from), {from}, 0});
        }
    }
    return result;
}

Promise alltoall(const CallShape& shape, int size) {
    Promise result = of_ranks(size);
    for (int rank = 0; rank < size; ++rank) {
        for (int other = 0; other < size; ++other) {
            const Region theirs = block(shape, Buffer::input, other);
            of(result.before, rank).push_back({theirs, {rank}, theirs.offset_bytes});
            of(result.after, rank)
                .push_back({block(shape, Buffer::output, other), {other},
                            block(shape, Buffer::input, rank).offset_bytes});
        }
    }
    return result;
}

Promise reduce(const CallShape& shape, int size) {
    Promise result = of_operands(shape, size, 1);
    of(result.after, shape.root)
        .push_back({block(shape, Buffer::output, 0), ranks_before(size), 0});
    return result;
}

Promise allreduce(const CallShape& shape, int size) {
    Promise result = of_operands(shape, size, 1);
    result.after.assign(static_cast<std::size_t>(size),
                        {{block(shape, Buffer::output, 0), ranks_before(size), 0}});
    result.one_result = true;
    return result;
}

Promise reduce_scatter_block(const CallShape& shape, int size) {
    Promise result = of_operands(shape, size, size);
    for (int rank = 0; rank < size; ++rank) {
        of(result.after, rank)
            .push_back({block(shape, Buffer::output, 0), ranks_before(size),
                        block(shape, Buffer::input, rank).offset_bytes});
    }
    return result;
}

Promise scan(const CallShape& shape, int size) {
    Promise result = of_operands(shape, size, 1);
    for (int rank = 0; rank < size; ++rank) {
        of(result.after, rank)
            .push_back({block(shape, Buffer::output, 0), ranks_before(rank + 1), 0});
    }
    return result;
}

// The first rank's output is undefined by MPI, and here it is left as it was.
Promise exscan(const CallShape& shape, int size) {
    Promise result = of_operands(shape, size, 1);
    for (int rank = 1; rank < size; ++rank) {
        of(result.after, rank).push_back({block(shape, Buffer::output, 0), ranks_before(rank), 0});
    }
    return result;
}

}  // namespace promises

Promise promise(const CallShape& shape, int size) {
    return row_of(shape.collective).promise(shape, size);
}

std::optional<Collective> collective_from(std::string_view name) {
    const auto row = std::find_if(collectives.begin(), collectives.end(),
                                  [&](const CollectiveRow& each) { return each.name == name; });
    return row == collectives.end() ? std::nullopt : std::optional(row->collective);
}

}  // namespace mutirao
