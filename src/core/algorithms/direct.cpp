// The algorithms in which whoever has something sends it itself to whoever needs it: what each collective is by
// definition, and what new algorithms begin as. Best where latencies are long and ranks few, since each is passed once
// and all together. Operands are combined from rank 0 on: the same bits on all ranks and for every layout of ranks on
// hosts.
#include <vector>

#include "core/algorithms/equal_blocks.h"
#include "core/algorithms/reduction.h"
#include "core/algorithms/trees.h"

namespace mutirao {
namespace {

// A dissemination of one round, the extreme of the paper's n-way dissemination.
//
// Cost, p ranks: depth 1, p - 1 messages a rank.
Schedule barrier_direct(const Request& request) {
    Schedule schedule;
    for (int distance = 1; distance < request.size; ++distance) {
        schedule.send((request.rank + distance) % request.size, signal);
        schedule.receive(rank_behind(request, distance), signal);
    }
    return schedule;
}

// The linear broadcast of every early MPI library, and the inner part of MagPIe's between sites.
//
// Cost, p ranks, n bytes: depth 1; p - 1 messages and (p - 1) n bytes leave the root. Never segmented, since nobody
// could use a segment before the whole.
Schedule broadcast_flat(const Request& request) {
    if (request.rank != request.root) return over_place(request, {.parent = request.root});
    return over_place(request, {.children = others_of(request.rank, request.size)});
}

// As every MPI library does for long blocks; the paper compares it with trees.
//
// Cost, p ranks, blocks of n bytes: depth 1, p - 1 messages; each block passes one link. The root's port takes
// (p - 1) n bytes under any algorithm. Segments that are short enough go without asking the receiver.
Schedule gather_linear(const Request& request) {
    const std::size_t segment_bytes = request.parameters.segment_bytes;
    Schedule schedule;
    if (request.rank != request.root) {
        for (const Region& message : messages_of(own_input(request), segment_bytes)) {
            schedule.send(request.root, message);
        }
        return schedule;
    }
    const Blocks blocks = blocks_of(request);
    copy_messages(schedule, own_input(request), blocks.block(request.rank));
    for (const int peer : others_of(request.root, request.size)) {
        for (const Region& message : messages_of(blocks.block(peer), segment_bytes)) {
            schedule.receive(peer, message);
        }
    }
    return schedule;
}

// The same the other way.
Schedule scatter_linear(const Request& request) {
    Schedule schedule;
    const Region mine{Buffer::output, 0, own_length_bytes(request)};
    const std::size_t segment_bytes = request.parameters.segment_bytes;
    if (request.rank != request.root) {
        for (const Region& message : messages_of(mine, segment_bytes)) schedule.receive(request.root, message);
        return schedule;
    }
    const Blocks blocks = blocks_of(request);
    for (const int peer : others_of(request.root, request.size)) {
        for (const Region& message : messages_of(blocks.block(peer, Buffer::input), segment_bytes)) {
            schedule.send(peer, message);
        }
    }
    copy_messages(schedule, blocks.block(request.root, Buffer::input), mine);
    return schedule;
}

// The paper's spread-out exchange in one round, each rank beginning with the next so that they do not all begin
// with the same.
//
// Cost, p ranks, blocks of n bytes: depth 1, p - 1 messages a rank; a port sends and receives (p - 1) n bytes.
Schedule allgather_linear(const Request& request) {
    const Blocks blocks = blocks_of(request);
    Dataflow flow;
    for (int distance = 1; distance < request.size; ++distance) {
        const int from = rank_behind(request, distance);
        flow.send((request.rank + distance) % request.size, own_input(request));
        flow.receive(from, blocks.block(from));
    }
    flow.copy(own_input(request), blocks.block(request.rank));
    return std::move(flow).take();
}

// Cost, p ranks, blocks of n bytes: depth 1, p - 1 messages a rank; a port sends and receives (p - 1) n bytes.
// Many messages may meet at a port. In segments that are short enough to go without asking the receiver a block saves
// the two trips that this takes.
Schedule alltoall_linear(const Request& request) {
    return in_rounds(request, Partners::shifted, request.size);
}

// The two of a pair exchange their blocks where p is a power of two, otherwise each rank sends to one and receives
// from another.
//
// Cost, p ranks, blocks of n bytes: p - 1 rounds of one message a rank; a port sends and receives (p - 1) n bytes,
// never to or from two ranks at a time. For long blocks.
Schedule alltoall_pairwise(const Request& request) {
    return in_rounds(request, is_power_of_two(request.size) ? Partners::paired : Partners::shifted, 1);
}

// As linear, but with at most `radix` ranks sent to and as many received from at a time, which bounds how many
// messages meet at a port, as in the throttled exchange that MPICH makes of its linear one.
//
// Cost, p ranks, blocks of n bytes, window w: about (p - 1) / w latencies in a row, p - 1 messages a rank; a port
// sends and receives (p - 1) n bytes. Window 1 is pairwise but for powers of two, a window of p - 1 linear.
Schedule alltoall_windowed(const Request& request) {
    return in_rounds(request, Partners::shifted, request.parameters.radix);
}

// The linear reduction of early MPI libraries; the paper has it between sites.
//
// Cost, p ranks, n bytes: depth 1; p - 1 messages and (p - 1) n bytes enter the root, which does p - 1 reductions.
// Never segmented: nobody could use a segment before the whole.
Schedule reduce_flat(const Request& request) {
    Dataflow flow;
    Partial partial = whole_message(flow, request, request.rank == request.root);
    if (request.rank == request.root) {
        partial.combine_all(request);
    } else {
        partial.send(request.root);
    }
    return std::move(flow).take();
}

// Cost, p ranks, n bytes: one trip; p - 1 messages and (p - 1) n bytes leave and enter each rank, which does p - 1
// reductions. For short messages.
Schedule allreduce_direct(const Request& request) {
    Dataflow flow;
    Partial partial = whole_message(flow, request, true);
    for (const int rank : others_of(request.rank, request.size)) partial.send(rank);
    partial.combine_all(request);
    return std::move(flow).take();
}

// Reduce-scatter and allgather, of which the paper puts its allreduce of long vectors together, in a single step
// each.
//
// Cost, p ranks, n bytes: two trips; 2 (p - 1) messages and 2 n (p - 1) / p bytes leave and enter each rank, which
// is the least possible. No link carries more than 2 n / p bytes. For messages that are worth p shares. Empty shares
// are not sent.
Schedule allreduce_direct_shares(const Request& request) {
    const Blocks shares(request.length_bytes, request.size, request.unit_bytes);
    Dataflow flow;
    const Partial whole = whole_message(flow, request, true);
    Partial own = whole;
    own.narrow(shares.block(request.rank));
    const std::vector<int> others = others_of(request.rank, request.size);
    for (const int rank : others) whole.send(shares.block(rank), rank);
    own.combine_all(request);
    for (const int rank : others) own.send(rank);
    for (const int rank : others) flow.receive(rank, shares.block(rank));
    return std::move(flow).take();
}

// Cost, p ranks, blocks of n bytes: one trip; p - 1 messages and (p - 1) n bytes leave and enter each rank, which
// is the least possible. For few ranks, or long blocks in a network without bottlenecks.
Schedule reduce_scatter_block_direct(const Request& request) {
    const Blocks blocks = blocks_of(request);
    Dataflow flow;
    const auto operand = [&](int block) { return blocks.block(block, Buffer::input); };
    for (const int rank : others_of(request.rank, request.size)) flow.send(rank, operand(rank));
    Partial partial(flow, operand(request.rank), {Buffer::output, 0, own_length_bytes(request)});
    partial.combine_all(request);
    return std::move(flow).take();
}

// In step k a rank sends the block of the rank k ahead and receives for its own from the rank k behind.
//
// Cost, p ranks, blocks of n bytes: p - 1 steps of n bytes, which is the least through each port, and never more
// than one message on the way to a rank.
Schedule reduce_scatter_block_pairwise(const Request& request) {
    const int size = request.size;
    const Blocks blocks = blocks_of(request);
    const std::size_t length = own_length_bytes(request);
    const Region result{Buffer::output, 0, length};
    const auto operand = [&](int block) { return blocks.block(block, Buffer::input); };
    Dataflow flow;
    if (size == 1) flow.copy(operand(0), result);

    StepId received = Dataflow::no_id;
    for (int step = 1; step < size; ++step) {
        const int target = (request.rank + step) % size;
        const int source = (request.rank + size - step) % size;
        flow.send(target, operand(target), received);
        // Two places, in turns: one message arrives while the one before is combined.
        const Region arriving =
            step == 1 ? result
                      : Region{Buffer::scratch, step % 2 == 0 ? 0 : aligned(length), length};
        received = flow.receive(source, arriving);
        flow.reduce(step == 1 ? operand(request.rank) : arriving, result);
    }
    return std::move(flow).take();
}

// Cost of both prefix sums, p ranks, n bytes: one trip; up to p - 1 messages and (p - 1) n bytes leave and enter a
// rank. For short messages.
Schedule scan_direct(const Request& request) {
    Dataflow flow;
    Partial partial = whole_message(flow, request, true);
    for (int peer = request.rank + 1; peer < request.size; ++peer) partial.send(peer);
    partial.combine(ranks_from(0, request.rank), {});
    partial.settle();
    return std::move(flow).take();
}

Schedule exscan_direct(const Request& request) {
    Dataflow flow;
    Partial partial = whole_message(flow, request, true);
    for (int peer = request.rank + 1; peer < request.size; ++peer) partial.send(peer);
    partial.replace(ranks_from(0, request.rank));
    return std::move(flow).take();
}

}  // namespace

std::vector<Algorithm> direct_rows() {
    using enum Collective;
    return {
        {.collective = barrier, .name = "direct", .summary = "every rank signals to every other at once",
         .source = "Hoefler, Mehlan, Mietke and Rehm 2006, 'Fast Barrier Synchronization for InfiniBand'",
         .build = barrier_direct},
        {.collective = broadcast, .name = "flat", .summary = "the root sends to every rank itself",
         .source = "Kielmann et al. 1999, doi:10.1145/301104.301116",
         .build = broadcast_flat, .level = Level::hosts, .inside_a_host = true},
        {.collective = gather, .name = "linear", .summary = "every rank sends to the root at once",
         .source = "Thakur, Rabenseifner and Gropp 2005, doi:10.1177/1094342005051521",
         .build = gather_linear, .segmented = true, .blocks = InBlocks::own},
        {.collective = scatter, .name = "linear", .summary = "the root sends to every rank itself",
         .source = "Thakur, Rabenseifner and Gropp 2005, doi:10.1177/1094342005051521",
         .build = scatter_linear, .segmented = true, .blocks = InBlocks::own},
        {.collective = allgather, .name = "linear", .summary = "every rank sends to every other at once",
         .source = "Bruck et al. 1997, doi:10.1109/71.642949",
         .build = allgather_linear, .blocks = InBlocks::uneven},
        {.collective = allgather, .name = "two_proc", .summary = "a single exchange, which is linear between two",
         .source = "Open MPI; Bruck et al. 1997, doi:10.1109/71.642949",
         .build = allgather_linear, .fits = [](int size) { return size == 2; }, .blocks = InBlocks::uneven},
        {.collective = alltoall, .name = "linear", .summary = "all blocks at once, beginning with the next rank",
         .source = "Thakur, Rabenseifner and Gropp 2005, doi:10.1177/1094342005051521",
         .build = alltoall_linear, .segmented = true, .blocks = InBlocks::own},
        {.collective = alltoall, .name = "pairwise", .summary = "one partner at a time",
         .source = "Thakur, Rabenseifner and Gropp 2005, doi:10.1177/1094342005051521",
         .build = alltoall_pairwise, .blocks = InBlocks::own},
        {.collective = alltoall, .name = "windowed", .summary = "at most `radix` partners at a time",
         .source = "Thakur, Rabenseifner and Gropp 2005, doi:10.1177/1094342005051521",
         .build = alltoall_windowed, .radices = {4, 16, 32}, .blocks = InBlocks::own},
        {.collective = reduce, .name = "flat", .summary = "every rank sends to the root, which combines in order",
         .source = "Kielmann et al. 1999, doi:10.1145/301104.301116",
         .build = reduce_flat, .keeps_order = true, .from_first = true},
        {.collective = allreduce, .name = "direct", .summary = "every rank sends to every other and combines by itself",
         .source = "all operands at once, as the collective is defined",
         .build = allreduce_direct, .keeps_order = true, .from_first = true},
        {.collective = allreduce, .name = "direct_shares",
         .summary = "every rank combines a share of all operands and sends it to every other",
         .source = "Chan et al. 2007, doi:10.1002/cpe.1206",
         .build = allreduce_direct_shares, .keeps_order = true, .from_first = true},
        {.collective = reduce_scatter_block, .name = "direct",
         .summary = "every rank sends each other its block and combines in order",
         .source = "all operands at once, as the collective is defined",
         .build = reduce_scatter_block_direct, .keeps_order = true, .from_first = true, .blocks = InBlocks::uneven},
        {.collective = reduce_scatter_block, .name = "pairwise", .summary = "one peer at a time, at growing distance",
         .source = "Thakur, Rabenseifner and Gropp 2005, doi:10.1177/1094342005051521",
         .build = reduce_scatter_block_pairwise, .blocks = InBlocks::uneven},
        {.collective = scan, .name = "direct", .summary = "every rank sends to all ranks after it",
         .source = "all operands at once, as the collective is defined",
         .build = scan_direct, .keeps_order = true, .from_first = true},
        {.collective = exscan, .name = "direct", .summary = "every rank sends to all ranks after it",
         .source = "all operands at once, as the collective is defined",
         .build = exscan_direct, .keeps_order = true, .from_first = true},
    };
}

}  // namespace mutirao
