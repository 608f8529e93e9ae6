// Recursive halving, doubling and multiplying: ranks deal with partners at distances that halve, or that grow by a
// factor. Where the number of ranks does not suit a reduction, neighbours first combine their operands, and one of them
// acts for all.
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "core/algorithms/equal_blocks.h"
#include "core/algorithms/reduction.h"

namespace mutirao {
namespace {

/// Among a power of two of groups' leaders: in every step two partners split the blocks that both hold, so at the end
/// each has one block of everybody, and the same ways back spread or gather the blocks.
class Halving {
  public:
    /// near_first: the first partner is the neighbour, which keeps operands in order but leaves the blocks with other
    /// leaders than their numbers say; otherwise the n-th leader gets block n. `range` tells the bytes of blocks
    /// first .. end-1.
    Halving(const Groups& groups, int rank, bool near_first, std::function<Region(int first, int end)> range)
        : groups_(groups), group_(groups.of(rank)), near_first_(near_first), range_(std::move(range)) {
        while (1 << steps_ < groups.count()) ++steps_;
    }

    void reduce_scatter(Partial& partial) const {
        for (int step = 0; step < steps_; ++step) {
            const int peer = leader_of_partner(step);
            partial.send(held(partner(step), step + 1), peer);
            partial.narrow(held(group_, step + 1));
            const bool peer_is_before = near_first_ && partner(step) < group_;
            const std::span only(&peer, 1);
            partial.combine(only.first(peer_is_before ? 1 : 0), only.first(peer_is_before ? 0 : 1));
        }
    }
    /// The way back: the blocks, at `home`, to everybody.
    void allgather(Dataflow& flow, Region home) const {
        for (int step = steps_ - 1; step >= 0; --step) {
            flow.send(leader_of_partner(step), held_at(home, group_, step + 1));
            flow.receive(leader_of_partner(step), held_at(home, partner(step), step + 1));
        }
    }
    /// The way back: the blocks, at `home`, to one group's leader.
    void gather(Dataflow& flow, Region home, int to_group) const {
        for (int step = steps_ - 1; step >= 0; --step) {
            if ((group_ & bit(step)) != (to_group & bit(step))) {
                flow.send(leader_of_partner(step), held_at(home, group_, step + 1));
                return;
            }
            flow.receive(leader_of_partner(step), held_at(home, partner(step), step + 1));
        }
    }

  private:
    int bit(int step) const { return near_first_ ? 1 << step : groups_.count() >> (step + 1); }
    int partner(int step) const { return group_ ^ bit(step); }
    int leader_of_partner(int step) const { return groups_.leader(partner(step)); }
    /// What a group's leader holds after so many steps.
    Region held(int group, int steps) const {
        int first = 0;
        int width = groups_.count();
        for (int step = 0; step < steps; ++step) {
            width /= 2;
            if ((group & bit(step)) != 0) first += width;
        }
        return range_(first, first + width);
    }
    Region held_at(Region home, int group, int steps) const {
        return part_in(home.buffer, held(group, steps), home.offset_bytes);
    }

    const Groups& groups_;
    int group_;
    int steps_ = 0;
    bool near_first_;
    std::function<Region(int first, int end)> range_;
};

/// Blocks of equal length, operands in order; the blocks come together at the root or everywhere.
Schedule halved(const Request& request, bool everywhere) {
    const Groups groups(request.size, largest_power(2, request.size), everywhere ? -1 : request.root);
    const Blocks blocks(request.length_bytes, groups.count(), request.unit_bytes);
    const Halving halving(groups, request.rank, true, [&](int first, int end) { return blocks.range(first, end); });
    Dataflow flow;
    Partial partial = whole_message(flow, request, everywhere || request.rank == request.root);
    const Region home = partial.home();
    groups.fold(partial, request.rank);
    if (groups.leads(request.rank)) {
        halving.reduce_scatter(partial);
        partial.settle();
        everywhere ? halving.allgather(flow, home) : halving.gather(flow, home, groups.of(request.root));
    }
    if (everywhere) groups.unfold(flow, home, request.rank);
    return std::move(flow).take();
}

}  // namespace

// Partners begin as neighbours, so operands stay in order (also Thakur, Rabenseifner and Gropp 2005,
// doi:10.1177/1094342005051521).
//
// Cost, n bytes: for a power of two of p ranks, 2 log2 p steps; at most 2 n bytes through a port and n bytes
// combined. Otherwise one step and n bytes more. Empty blocks are not sent, and a block should be worth a message.
static Schedule reduce_rabenseifner(const Request& request) { return halved(request, false); }

// As the reduction of that name, with the blocks spread by recursive doubling.
//
// Cost, n bytes: for a power of two of p ranks, 2 log2 p steps, less than 2 n bytes through a port and n bytes
// combined. Otherwise two steps and up to 2 n bytes more. Empty blocks are not sent, and a block should be worth a
// message.
static Schedule allreduce_rabenseifner(const Request& request) { return halved(request, true); }

// At half the ranks' distance first, so at the end each has its own block of everybody.
//
// Cost, p ranks, blocks of n bytes: log2 p steps for a power of two, and (p - 1) n bytes through each port;
// otherwise floor(log2 p) + 2 steps and up to p n bytes more.
static Schedule reduce_scatter_block_recursive_halving(const Request& request) {
    const int rank = request.rank;
    const Blocks blocks = blocks_of(request);
    const Region result{Buffer::output, 0, own_length_bytes(request)};
    const Groups groups(request.size, largest_power(2, request.size));

    Dataflow flow;
    Partial partial(flow, blocks.range(0, request.size, Buffer::input),
                    blocks.range(0, request.size, Buffer::scratch));
    groups.fold(partial, rank);
    if (!groups.leads(rank)) {
        flow.receive(groups.leader(groups.of(rank)), result);
        return std::move(flow).take();
    }
    Halving(groups, rank, false, [&](int first, int end) {
        return blocks.range(groups.first(first), groups.first(end));
    }).reduce_scatter(partial);
    const int group = groups.of(rank);
    for (int member = groups.first(group); member < groups.first(group + 1); ++member) {
        const Region block = blocks.block(member);
        if (member != rank) partial.send(block, member);
        if (member == rank) flow.copy(partial.value(block), result);
    }
    return std::move(flow).take();
}

namespace {

/// In the round of each factor, that many leaders send their partial results to each other; the product of the
/// factors must be the number of groups. Operands stay in order.
void exchange_in_rounds(Partial& partial, const Groups& groups, int rank,
                        std::span<const int> factors) {
    const int group = groups.of(rank);
    int distance = 1;
    for (const int factor : factors) {
        const int own_digit = group / distance % factor;
        const int lowest = group - own_digit * distance;
        std::vector<int> peers;
        for (int digit = 0; digit < factor; ++digit) {
            peers.push_back(groups.leader(lowest + digit * distance));
        }
        // Everybody begins with another, so that nobody is addressed by all at once.
        for (int step = 1; step < factor; ++step) {
            partial.send(peers[static_cast<std::size_t>((own_digit + step) % factor)]);
        }
        const auto before = static_cast<std::size_t>(own_digit);
        partial.combine(std::span(peers).first(before), std::span(peers).subspan(before + 1));
        distance *= factor;
    }
}

}  // namespace

// Radix 2 is recursive doubling, of the fewest steps of one message: best for short messages. A larger radix k takes
// fewer rounds of more messages, and pays where messages overtake latency.
//
// Cost, p ranks, n bytes: ceil(log_k p) rounds where p is a power of k, or one times a number below k; in each a
// rank sends, receives and combines up to (k - 1) n bytes. Two steps more for other p.
Schedule allreduce_recursive_multiplying(const Request& request) {
    const int radix = request.parameters.radix;
    const int power = largest_power(radix, request.size);
    std::vector<int> factors;
    for (int left = power; left > 1; left /= radix) factors.push_back(radix);
    const int rest = request.size / power;
    if (rest > 1) factors.push_back(rest);
    const Groups groups(request.size, power * rest);
    Dataflow flow;
    Partial partial = whole_message(flow, request, true);
    groups.fold(partial, request.rank);
    if (groups.leads(request.rank)) {
        exchange_in_rounds(partial, groups, request.rank, factors);
        partial.settle();
    }
    groups.unfold(flow, partial.home(), request.rank);
    return std::move(flow).take();
}

// Cost, p ranks, blocks of n bytes: log2 p steps and messages a rank; a port sends and receives (p - 1) n bytes.
// Half of the bytes go between ranks p / 2 apart. For other numbers of ranks bruck, circulant and sparbit take as
// many steps.
static Schedule allgather_recursive_doubling(const Request& request) {
    const Blocks blocks = blocks_of(request);
    Dataflow flow;
    flow.copy(own_input(request), blocks.block(request.rank));
    for (int group = 1; group < request.size; group *= 2) {
        const int peer = request.rank ^ group;
        const int mine = request.rank / group * group;
        const int theirs = peer / group * group;
        flow.send(peer, group == 1 ? own_input(request) : blocks.range(mine, mine + group));
        flow.receive(peer, blocks.range(theirs, theirs + group));
    }
    return std::move(flow).take();
}

std::vector<Algorithm> recursive_rows() {
    using enum Collective;
    return {
        {.collective = reduce, .name = "rabenseifner",
         .summary = "recursive halving, then the blocks are gathered at the root",
         .source = "Rabenseifner 2004, doi:10.1007/978-3-540-24685-5_1",
         .build = reduce_rabenseifner, .keeps_order = true},
        {.collective = allreduce, .name = "rabenseifner",
         .summary = "recursive halving, then the blocks are spread by doubling",
         .source = "Rabenseifner 2004, doi:10.1007/978-3-540-24685-5_1",
         .build = allreduce_rabenseifner, .keeps_order = true},
        {.collective = reduce_scatter_block, .name = "recursive_halving",
         .summary = "partners split the blocks that both hold, at halving distances",
         .source = "Thakur, Rabenseifner and Gropp 2005, doi:10.1177/1094342005051521",
         .build = reduce_scatter_block_recursive_halving, .blocks = InBlocks::uneven},
        {.collective = allreduce, .name = "recursive_doubling",
         .summary = "partners exchange all that they have, at doubling distances",
         .source = "Thakur, Rabenseifner and Gropp 2005, doi:10.1177/1094342005051521",
         .build = allreduce_recursive_multiplying, .keeps_order = true},
        {.collective = allreduce, .name = "recursive_multiplying",
         .summary = "k ranks at a time exchange all that they have",
         .source = "Ruefenacht, Bull and Booth 2017, doi:10.1016/j.parco.2017.08.004",
         .build = allreduce_recursive_multiplying, .radices = {3, 4, 8}, .keeps_order = true},
        {.collective = allgather, .name = "recursive_doubling", .summary = "pairs exchange all that they hold",
         .source = "Thakur, Rabenseifner and Gropp 2005, doi:10.1177/1094342005051521",
         .build = allgather_recursive_doubling, .fits = is_power_of_two, .blocks = InBlocks::uneven},
    };
}

}  // namespace mutirao
