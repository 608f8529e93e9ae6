// Collectives in which all ranks of a host deal with other hosts, each with its own, and then tell each other: a round
// reaches as many times more hosts as a host has ranks (Bienz, Gautam and Kharel 2022, arXiv:2206.03564). The paper
// takes hosts of equally many ranks; here the smallest host says how many ranks of each take part.
#include <algorithm>
#include <span>
#include <vector>

#include "core/algorithms/dataflow.h"
#include "core/algorithms/equal_blocks.h"
#include "core/algorithms/over_placement.h"
#include "core/algorithms/reduction.h"
#include "core/algorithms/trees.h"

namespace mutirao {
namespace {

/// Hosts counted from the root's have the message round by round; in a round each rank of a host that has it serves
/// Parameters::radix other hosts, so that with m ranks a host it reaches radix times m. One rank of a host is reached
/// from outside, and passes it on inside by a binomial tree before it serves others. Takes time for the rank's own
/// place.
TreePlace locality_place(const Request& request) {
    const Placement& placement = given_placement(request);
    const int hosts = placement.host_count(), host = placement.host_of(request.rank);
    const int root_host = placement.host_of(request.root);
    const int radix = request.parameters.radix, working = fewest_ranks_of_a_host(placement);
    // Both counted from where the message comes from: the root's host, the rank that is reached from outside.
    const auto rank_at = [&](long long its_host, int position) {
        const int real = real_rank(static_cast<int>(its_host), root_host, hosts);
        return placement.beside(placement.leader(real, request.root), position);
    };
    const long long own = virtual_rank(host, root_host, hosts);
    const int size = static_cast<int>(placement.ranks_of(host).size());
    const int first = placement.position_of(rank_at(own, 0));
    const int position = virtual_rank(placement.position_of(request.rank), first, size);

    TreePlace place = k_nomial_place(position, size, 2);
    if (place.parent >= 0) place.parent = rank_at(own, place.parent);
    for (int& child : place.children) child = rank_at(own, child);
    const long long served = static_cast<long long>(working) * radix;
    for (long long having = 1; having < hosts; having *= served + 1) {
        if (own >= having && own < having * (served + 1) && position == 0) {
            const long long turn = own / having - 1;
            place.parent = rank_at(own % having, static_cast<int>(turn / radix));
        }
        if (own >= having || position >= working) continue;
        for (int i = 1; i <= radix; ++i) {
            const long long other = own + having * (position * radix + i);
            if (other < hosts) place.children.push_back(rank_at(other, 0));
        }
    }
    return place;
}

// Starting many sends is shared out; what pays for short messages where that costs much
// beside a link's latency. Among all ranks, since it is nothing between one rank of each host.
//
// Cost, H hosts of at least m ranks, radix k, n bytes: depth ceil(log_(km+1) H) over the network, of up to k
// messages one after the other, with ceil(log2 m) inside before each; a host sends up to k m n bytes a round.
Schedule broadcast_locality_tree(const Request& request) {
    return over_place(request, locality_place(request));
}

// The broadcast's tree: ranks combine what comes before they hand it on inside.
//
// Cost, H hosts of at least m ranks, radix k, n bytes: depth ceil(log_(km+1) H) over the network, of up to k
// messages one after the other, with ceil(log2 m) inside after each; a rank combines up to k n bytes a round and
// as many more as it has children inside.
Schedule reduce_locality_tree(const Request& request) {
    return up_from_place(request, locality_place(request));
}

/// All blocks in the order of their ranks' hosts.
class HostByHost {
  public:
    HostByHost(const Placement& placement, const Request& request)
        : placement_(placement), in_output_(blocks_of(request)), here_(std::span<const std::size_t>()) {
        std::vector<std::size_t> lengths;
        for (const int rank : placement.host_by_host()) lengths.push_back(in_output_.block(rank).length_bytes);
        here_ = Blocks(lengths);
        buffer_ = std::ranges::is_sorted(placement.host_by_host()) ? Buffer::output : Buffer::scratch;
    }

    Region in_output(int rank) const { return in_output_.block(rank); }
    Region of_rank_at(int host, int position) const {
        return here_.block(first(host) + position, buffer_);
    }
    /// Of `count` hosts from `host` on, counted round.
    std::vector<Region> of_hosts(int host, int count) const {
        std::vector<Region> regions;
        for (const BlockRun& run : runs_of(host, count, placement_.host_count())) {
            regions.push_back(here_.range(first(run.first), first(run.first + run.count), buffer_));
        }
        return regions;
    }
    /// To their places in the output, but for the block of `rank`.
    void put_in_place(Dataflow& flow, int rank) const {
        if (buffer_ == Buffer::output) return;
        const int count = placement_.rank_count();
        for (int begin = 0, end = 0; begin < count; begin = end) {
            const int to = at(begin);
            for (end = begin + 1; end < count && at(end) == to + end - begin; ++end) {
                if (at(end) == rank || at(end - 1) == rank) break;
            }
            if (to == rank) continue;
            flow.copy(here_.range(begin, end, buffer_), in_output_.range(to, to + end - begin));
        }
    }

  private:
    int first(int host) const { return static_cast<int>(placement_.begin_of(host)); }
    int at(int index) const { return placement_.host_by_host()[static_cast<std::size_t>(index)]; }

    const Placement& placement_;
    Blocks in_output_;
    Blocks here_;
    Buffer buffer_;
};

// A host holds the blocks of the hosts from its own on, counted round, and in a round each of its ranks gets as
// many again from hosts at a distance of its own; then they exchange what came, inside the host. With radix k a rank
// gets from k - 1 hosts in a round, as in Bruck's algorithm; the paper's is 2.
//
// Blocks are kept host by host, which is where they belong if ranks are numbered so, and otherwise in scratch
// memory.
//
// Cost, H hosts of at least m ranks, p ranks, blocks of n bytes: ceil(log_((k-1)m+1) H) rounds of k - 1 messages,
// or twice as many, over the network and m times as many inside; (p - m) n bytes enter each host. Scratch for all
// blocks and a copy of each where ranks are not numbered host by host.
Schedule allgather_locality_bruck(const Request& request) {
    const Placement& placement = given_placement(request);
    const HostByHost blocks(placement, request);
    const int hosts = placement.host_count(), host = placement.host_of(request.rank);
    const int own_position = placement.position_of(request.rank);
    const std::vector<int> others = others_beside(placement, request.rank);

    Dataflow flow;
    const Region place = blocks.in_output(request.rank), home = blocks.of_rank_at(host, own_position);
    flow.copy(own_input(request), place);
    if (home != place) flow.copy(own_input(request), home);
    for (const int rank : others) flow.send(rank, own_input(request));
    for (const int rank : others) flow.receive(rank, blocks.of_rank_at(host, placement.position_of(rank)));

    // The blocks of `count` hosts from `distance` ahead on, by the rank at `position`, which sends as many to the host
    // that is so far behind.
    const auto fetch = [&](int position, int distance, int count) {
        const auto peer_on = [&](int its_host) {
            return placement.ranks_of(its_host % hosts)[static_cast<std::size_t>(position)];
        };
        const std::vector<Region> arriving = blocks.of_hosts((host + distance) % hosts, count);
        if (position != own_position) {
            for (const Region& region : arriving) flow.receive(peer_on(host), region);
            return;
        }
        for (const Region& region : blocks.of_hosts(host, count)) flow.send(peer_on(host + hosts - distance), region);
        for (const Region& region : arriving) flow.receive(peer_on(host + distance), region);
        for (const Region& region : arriving) {
            for (const int rank : others) flow.send(rank, region);
        }
    };
    const int by_each = request.parameters.radix - 1, fetched = fewest_ranks_of_a_host(placement) * by_each;
    for (long long held = 1; held < hosts; held *= fetched + 1) {
        for (int i = 0; i < fetched && (i + 1) * held < hosts; ++i) {
            const long long distance = (i + 1) * held;
            fetch(i / by_each, static_cast<int>(distance), static_cast<int>(std::min(held, hosts - distance)));
        }
    }
    blocks.put_in_place(flow, request.rank);
    return std::move(flow).take();
}

/// Of the blocks of an allgather to which only one rank of each host has something to give.
std::vector<std::size_t> lengths_of_leaders(const Placement& placement, std::size_t length_bytes) {
    std::vector<std::size_t> lengths(static_cast<std::size_t>(placement.rank_count()), 0);
    for (int host = 0; host < placement.host_count(); ++host) {
        lengths[static_cast<std::size_t>(placement.ranks_of(host).front())] = length_bytes;
    }
    return lengths;
}

/// The input's operands, one behind another.
Schedule combine(int count, std::size_t length_bytes) {
    Dataflow flow;
    const Region result{Buffer::output, 0, length_bytes};
    for (int i = 0; i < count; ++i) {
        const Region operand = nth_block(Buffer::input, i, length_bytes);
        i == 0 ? flow.copy(operand, result) : flow.reduce(operand, result);
    }
    return std::move(flow).take();
}

// Each host reduces its operands to one; these go to all ranks by allgather/locality_bruck, and every rank
// combines them, in the same order. The paper's node-aware allreduce shares them out likewise, but reduces on the
// way; here a round may reach several hosts at once.
//
// Cost, H hosts of at least m ranks, radix k, n bytes: ceil(log_((k-1)m+1) H) rounds over the network of up to
// k - 1 messages, ceil(log2 m) steps inside before, and as many messages inside as the allgather has; every rank
// combines H n bytes, so it is for short messages. Scratch for H + 1 messages.
Schedule allreduce_locality_exchange(const Request& request) {
    const Placement& placement = given_placement(request);
    const auto beside = placement.ranks_of(placement.host_of(request.rank));
    const int hosts = placement.host_count();
    const std::size_t length = request.length_bytes;
    const bool leads = beside.front() == request.rank;
    const Region of_host{Buffer::scratch, 0, length};
    const Region of_all{Buffer::scratch, aligned(length), length * static_cast<std::size_t>(hosts)};

    Schedule schedule;
    schedule.append(reduce_k_nomial({.rank = placement.position_of(request.rank),
                                      .size = static_cast<int>(beside.size()),
                                      .length_bytes = length,
                                      .unit_bytes = request.unit_bytes}),
                    [&](int position) { return placement.beside(beside.front(), position); },
                    {.input = {Buffer::input, 0, length}, .output = of_host});
    const auto lengths = lengths_of_leaders(placement, length);
    schedule.append(allgather_locality_bruck({.rank = request.rank,
                                               .size = request.size,
                                               .length_bytes = length,
                                               .lengths = lengths,
                                               .parameters = request.parameters,
                                               .placement = &placement}),
                    {}, {.input = {Buffer::scratch, 0, leads ? length : 0}, .output = of_all});
    schedule.append(combine(hosts, length), {},
                    {.input = of_all, .output = {Buffer::output, 0, length}});
    return schedule;
}

}  // namespace

std::vector<Algorithm> locality_rows() {
    using enum Collective;
    return {
        {.collective = broadcast, .name = "locality_tree",
         .summary = "down a tree in which all ranks of a host serve other hosts",
         .source = "after Bienz, Gautam and Kharel 2022, arXiv:2206.03564",
         .build = broadcast_locality_tree, .segmented = true, .radices = {2, 4}},
        {.collective = reduce, .name = "locality_tree",
         .summary = "up a tree in which all ranks of a host serve other hosts",
         .source = "after Bienz, Gautam and Kharel 2022, arXiv:2206.03564",
         .build = reduce_locality_tree, .segmented = true, .radices = {2, 4}},
        {.collective = allgather, .name = "locality_bruck",
         .summary = "bruck between hosts, whose ranks share the work and exchange what comes",
         .source = "Bienz, Gautam and Kharel 2022, arXiv:2206.03564",
         .build = allgather_locality_bruck, .radices = {2, 5}, .blocks = InBlocks::uneven},
        {.collective = allreduce, .name = "locality_exchange",
         .summary = "each host's sum to all ranks, by ranks of a host that share the work",
         .source = "after Bienz, Olson and Gropp 2019, arXiv:1910.09650",
         .build = allreduce_locality_exchange, .radices = {2, 5}},
    };
}

}  // namespace mutirao
