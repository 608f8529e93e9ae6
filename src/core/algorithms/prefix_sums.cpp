// Prefix sums: a scan's include a rank's own operand, an exscan's leave it out.
#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "core/algorithms/equal_blocks.h"
#include "core/algorithms/over_placement.h"
#include "core/algorithms/reduction.h"
#include "core/algorithms/trees.h"

namespace mutirao {
namespace {

// The linear scan of MPI libraries, a pipeline in segments.
//
// Cost, p ranks, n bytes in s segments: depth p - 1; p + s - 2 steps of n / s bytes; a rank sends, receives and
// combines n bytes.
Schedule linear_scan(const Request& request) {
    Dataflow flow;
    const auto before = ranks_from(std::max(request.rank - 1, 0), request.rank);
    for (Partial& part : parts_of(request, whole_message(flow, request, true))) {
        part.combine(before, {});
        if (request.rank + 1 < request.size) part.send(request.rank + 1);
        part.settle();
    }
    return std::move(flow).take();
}

/// What comes from the rank before is the result; with a rank's own operand added it goes on to the next.
Schedule linear_exscan(const Request& request) {
    Dataflow flow;
    const Region all{Buffer::input, 0, request.length_bytes};
    const bool is_last = request.rank + 1 == request.size;
    for (const Region& operand :
         segments_of(all, request.parameters.segment_bytes, request.unit_bytes)) {
        const Region result = part_in(Buffer::output, operand);
        const Region passed_on = part_in(Buffer::scratch, operand);
        if (request.rank == 0) {
            if (!is_last) flow.send(1, operand);
            continue;
        }
        // The copy is made while nothing has come yet.
        if (!is_last) flow.copy(operand, passed_on);
        flow.receive(request.rank - 1, result);
        if (is_last) continue;
        flow.reduce_before(result, passed_on);
        flow.send(request.rank + 1, passed_on);
    }
    return std::move(flow).take();
}

// In step k every rank sends what it has to the rank 2^k further on, so that all hold twice as many operands; the
// second paper has it for MPI.
//
// Cost, p ranks, n bytes: ceil(log2 p) steps, in each of which a rank sends, receives and combines n bytes at most;
// without the own operand it combines 2 n.
Schedule doubling_scan(const Request& request) {
    Dataflow flow;
    Partial partial = whole_message(flow, request, true);
    for (int distance = 1; distance < request.size; distance *= 2) {
        const int source = request.rank - distance;
        if (request.rank + distance < request.size) partial.send(request.rank + distance);
        if (source >= 0) partial.combine(std::span(&source, 1), {});
    }
    partial.settle();
    return std::move(flow).take();
}

/// Two sums: the result, and the same with the rank's own operand for the others.
Schedule doubling_exscan(const Request& request) {
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

enum class OwnOperand : unsigned char { included, left_out };

// By shares: every rank combines a share of all operands from rank 0 on, and each rank gets from it what has come
// together before it, or with it: reduce-scatter and allgather in a single step each, as allreduce/direct_shares has
// them, but for what is handed out.
//
// Cost, p ranks, n bytes: two trips; up to 2 (p - 1) messages and 2 n (p - 1) / p bytes leave and enter each rank,
// which combines n bytes; recursive doubling sends n bytes ceil(log2 p) times, in as many trips. No link carries more
// than 2 n / p bytes. Scratch for n bytes. For messages that are worth p shares, over long latencies. Pieces of a share
// that are short enough go without asking the receiver, which takes each crossing two trips more.
//
// Nobody needs the last operand where prefixes leave the own one out, and rank 0 needs nobody's.
Schedule prefix_shares(const Request& request, OwnOperand own) {
    const bool included = own == OwnOperand::included;
    const int me = request.rank;
    const Blocks shares(request.length_bytes, request.size, request.unit_bytes);
    const auto pieces_of = [&](Region share) {
        return segments_of(share, request.parameters.segment_bytes, request.unit_bytes);
    };
    Dataflow flow;
    Packing packing(flow, 1);
    const auto gives = [&](int rank) { return included || rank + 1 < request.size; };
    for (const int rank : others_of(me, gives(me) ? request.size : 0)) {
        for (const Region& piece : pieces_of(shares.block(rank, Buffer::input))) flow.send(rank, piece);
    }
    for (const Region& operand : pieces_of(shares.block(me, Buffer::input))) {
        const Region result = part_in(Buffer::output, operand);
        const auto hand_out = [&](Region prefix, int rank) {
            if (rank == 0) return;
            if (rank != me) flow.send(rank, prefix);
            else if (prefix != result) flow.copy(prefix, result);
        };
        Region prefix{};
        for (int rank = 0; rank < request.size; ++rank) {
            if (!included) hand_out(prefix, rank);
            if (!gives(rank)) break;
            Region place = rank == me && included ? result : packing.room(operand.length_bytes);
            if (rank == me && rank == 0) place = operand;
            else if (rank == me) flow.copy(operand, place);
            else flow.receive(rank, place);
            if (rank > 0) flow.reduce_before(prefix, place);
            prefix = place;
            if (included) hand_out(prefix, rank);
        }
    }
    if (me == 0 && included) flow.copy(own_input(request), {Buffer::output, 0, request.length_bytes});
    for (int peer = 0; me > 0 && peer < request.size; ++peer) {
        if (peer == me) continue;
        for (const Region& piece : pieces_of(shares.block(peer))) flow.receive(peer, piece);
    }
    return std::move(flow).take();
}

// By hosts: the ranks of a host scan, the last of them, which then has its host's sum, scan between the hosts, and what
// comes before a host is handed round inside and added there (Sanders and Traeff 2006, on clusters of SMP nodes).
// Prefixes go by ranks, so a host is taken to be a run of consecutive ranks: where a host's ranks are not numbered one
// after another it counts as several, and where none are, this is recursive doubling.
//
// Cost, H hosts of m ranks, n bytes: 2 ceil(log2 m) + ceil(log2 H) messages in a row, of which ceil(log2 H) go between
// hosts; a host sends and receives as many of n bytes over the network, where recursive doubling among all ranks has m
// times as many. A rank combines up to ceil(log2 m) + 1 times n bytes, without the own operand twice as much, and the
// last of a host 2 ceil(log2 H) times more.
Schedule two_level_scan(const Request& request, OwnOperand own) {
    const Placement runs = runs_on_hosts(given_placement(request));
    const int run = runs.host_of(request.rank), position = runs.position_of(request.rank);
    const auto ranks = runs.ranks_of(run);
    const int size = static_cast<int>(ranks.size());
    const bool included = own == OwnOperand::included, speaks = position + 1 == size;
    const std::size_t length = request.length_bytes;
    const Region operand{Buffer::input, 0, length}, result{Buffer::output, 0, length};
    Schedule schedule;
    const auto unused_scratch = [&] { return Region{Buffer::scratch, aligned(schedule.scratch_bytes()), length}; };
    const auto do_locally = [&](StepId (Dataflow::*step)(Region, Region), Region from, Region into) {
        Dataflow flow;
        (flow.*step)(operand, result);
        schedule.append(std::move(flow).take(), {}, {.input = from, .output = into});
    };
    // Of the same operands.
    const auto among = [&](int rank, int count, int root) -> Request {
        return {.rank = rank, .size = count, .root = root, .length_bytes = length,
                .unit_bytes = request.unit_bytes, .commutes = request.commutes};
    };

    const Request inside = among(position, size, 0);
    schedule.append(included ? doubling_scan(inside) : doubling_exscan(inside), ranks);
    // Where the run's last rank has its sum. Nobody asks for that of the last run.
    Region sum = !included && position == 0 ? operand : result;
    if (speaks && !included && position > 0 && run + 1 < runs.host_count()) {
        sum = unused_scratch();
        do_locally(&Dataflow::copy, operand, sum);
        do_locally(&Dataflow::reduce_before, result, sum);
    }
    const bool has_prefix_inside = included || position > 0;
    const Region before = has_prefix_inside ? unused_scratch() : result;
    if (speaks) {
        schedule.append(doubling_exscan(among(run, runs.host_count(), 0)),
                        [&](int other) { return runs.ranks_of(other).back(); }, {.input = sum, .output = before});
    }
    if (run == 0) return schedule;
    schedule.append(broadcast_k_nomial(among(position, size, size - 1)),
                    [&](int other) { return ranks[static_cast<std::size_t>(other)]; }, {.output = before});
    if (has_prefix_inside) do_locally(&Dataflow::reduce_before, before, result);
    return schedule;
}

}  // namespace

std::vector<Algorithm> prefix_sums_rows() {
    const auto rows_of = [](Collective collective, Build* linear, Build* doubling, Build* shares, Build* by_hosts) {
        return std::vector<Algorithm>{
            {.collective = collective, .name = "linear",
             .summary = "each rank adds its operand and passes it on: a pipeline",
             .source = "Sanders and Traeff 2006, doi:10.1007/11846802_15",
             .build = linear, .segmented = true, .keeps_order = true, .from_first = true},
            {.collective = collective, .name = "recursive_doubling",
             .summary = "every rank sends on what it has, at doubling distances",
             .source = "Hillis and Steele 1986, doi:10.1145/7902.7903; "
                       "Sanders and Traeff 2006, doi:10.1007/11846802_15",
             .build = doubling, .keeps_order = true},
            {.collective = collective, .name = "direct_shares",
             .summary = "every rank adds up a share and sends each rank its prefix",
             .source = "after Chan et al. 2007, doi:10.1002/cpe.1206",
             .build = shares, .segmented = true, .segments_of_blocks = true, .keeps_order = true, .from_first = true},
            {.collective = collective, .name = "two_level",
             .summary = "sums inside each host and between the hosts' last ranks, then added inside",
             .source = "Sanders and Traeff 2006, doi:10.1007/11846802_15",
             .build = by_hosts, .keeps_order = true},
        };
    };
    std::vector<Algorithm> rows = rows_of(
        Collective::scan, linear_scan, doubling_scan,
        [](const Request& request) { return prefix_shares(request, OwnOperand::included); },
        [](const Request& request) { return two_level_scan(request, OwnOperand::included); });
    std::ranges::copy(rows_of(Collective::exscan, linear_exscan, doubling_exscan,
                              [](const Request& request) { return prefix_shares(request, OwnOperand::left_out); },
                              [](const Request& request) { return two_level_scan(request, OwnOperand::left_out); }),
                      std::back_inserter(rows));
    return rows;
}

}  // namespace mutirao
