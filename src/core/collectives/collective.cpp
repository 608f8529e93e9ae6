// One function per row of the table, each in terms of the buffers that schedules know.
#include "core/collectives/collective.h"

#include <algorithm>
#include <numeric>

#include "core/schedule/checker.h"

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

/// The `index`-th block of a buffer that has one for every rank.
Region block(const CallShape& shape, Buffer buffer, int index) {
    const auto before = static_cast<std::size_t>(index);
    if (shape.lengths.empty()) return {buffer, before * shape.length_bytes, shape.length_bytes};
    const auto begin = shape.lengths.begin();
    return {buffer, std::accumulate(begin, begin + index, std::size_t{0}), shape.lengths[before]};
}

/// The same block where it is the only one.
Region alone(const CallShape& shape, Buffer buffer, int index) {
    return {buffer, 0, block(shape, buffer, index).length_bytes};
}

/// Of an exchange of which all ranks' lengths are known: those of one rank.
CallShape sent_by(CallShape shape, int rank, int size) {
    if (shape.lengths.empty()) return shape;
    const auto row = shape.lengths.begin() + rank * size;
    shape.lengths = std::vector(row, row + size);
    return shape;
}

CallShape received_by(const CallShape& shape, int rank, int size) {
    CallShape result = shape;
    if (shape.lengths.empty()) return result;
    result.lengths.clear();
    for (int from = 0; from < size; ++from) {
        result.lengths.push_back(shape.lengths[static_cast<std::size_t>(from * size + rank)]);
    }
    return result;
}

std::vector<int> ranks_before(int end) {
    std::vector<int> ranks(static_cast<std::size_t>(end));
    std::iota(ranks.begin(), ranks.end(), 0);
    return ranks;
}

/// Of a reduction: every rank's input is so long.
Promise of_operands(const CallShape& shape, int size, std::size_t length_bytes) {
    Promise result = of_ranks(size);
    result.unit_bytes = shape.unit_bytes;
    result.commutes = shape.op.commutes;
    for (int rank = 0; rank < size; ++rank) {
        of(result.before, rank).push_back({{Buffer::input, 0, length_bytes}, {rank}, 0});
    }
    return result;
}

/// Each rank gets what those before it have, and `own` more: itself.
Promise of_prefixes(const CallShape& shape, int size, int own) {
    Promise result = of_operands(shape, size, shape.length_bytes);
    for (int rank = 1 - own; rank < size; ++rank) {
        of(result.after, rank)
            .push_back({block(shape, Buffer::output, 0), ranks_before(rank + own), 0});
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
        of(result.before, rank).push_back({alone(shape, Buffer::input, rank), {rank}, 0});
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
            .push_back({alone(shape, Buffer::output, rank), {shape.root}, mine.offset_bytes});
    }
    return result;
}

Promise allgather(const CallShape& shape, int size) {
    Promise result = of_ranks(size);
    for (int rank = 0; rank < size; ++rank) {
        of(result.before, rank).push_back({alone(shape, Buffer::input, rank), {rank}, 0});
        for (int from = 0; from < size; ++from) {
            of(result.after, rank).push_back({block(shape, Buffer::output, from), {from}, 0});
        }
    }
    return result;
}

Promise alltoall(const CallShape& shape, int size) {
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

Promise reduce(const CallShape& shape, int size) {
    Promise result = of_operands(shape, size, shape.length_bytes);
    of(result.after, shape.root)
        .push_back({block(shape, Buffer::output, 0), ranks_before(size), 0});
    return result;
}

Promise allreduce(const CallShape& shape, int size) {
    Promise result = of_operands(shape, size, shape.length_bytes);
    result.after.assign(static_cast<std::size_t>(size),
                        {{block(shape, Buffer::output, 0), ranks_before(size), 0}});
    result.one_result = true;
    return result;
}

Promise reduce_scatter_block(const CallShape& shape, int size) {
    Promise result =
        of_operands(shape, size, block(shape, Buffer::input, size - 1).end_bytes());
    for (int rank = 0; rank < size; ++rank) {
        of(result.after, rank)
            .push_back({alone(shape, Buffer::output, rank), ranks_before(size),
                        block(shape, Buffer::input, rank).offset_bytes});
    }
    return result;
}

Promise scan(const CallShape& shape, int size) { return of_prefixes(shape, size, 1); }

// The first rank's output is undefined by MPI, and here it is left as it was.
Promise exscan(const CallShape& shape, int size) { return of_prefixes(shape, size, 0); }

}  // namespace promises

std::size_t mean_length_bytes(const std::vector<std::size_t>& lengths) {
    const std::size_t whole = std::accumulate(lengths.begin(), lengths.end(), std::size_t{0});
    return (whole + lengths.size() - 1) / lengths.size();
}

CallShape as_known_to(const CallShape& whole, int rank, int size) {
    const CollectiveRow& row = row_of(whole.collective);
    if (row.in_blocks != InBlocks::own || whole.lengths.empty()) return whole;
    CallShape known = whole;
    if (!row.rooted) {
        known.lengths = sent_by(whole, rank, size).lengths;
        const std::vector<std::size_t> received = received_by(whole, rank, size).lengths;
        known.lengths.insert(known.lengths.end(), received.begin(), received.end());
    } else if (rank != whole.root) {
        known.lengths = {whole.lengths[static_cast<std::size_t>(rank)]};
    }
    return known;
}

std::optional<Collective> collective_from(std::string_view name) {
    const auto row = std::find_if(collectives.begin(), collectives.end(),
                                  [&](const CollectiveRow& each) { return each.name == name; });
    return row == collectives.end() ? std::nullopt : std::optional(row->collective);
}

}  // namespace mutirao
