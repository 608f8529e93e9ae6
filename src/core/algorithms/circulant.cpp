// Traeff's circulant graphs (arXiv:2410.14234): in each round a rank deals with those at one skip before and after it.
// The skips are the number of ranks halved, rounded up, again and again, so ceil(log2 p) rounds do for any p, and no
// rank has more to do than another. Blocks are never moved to begin with a rank's own, as in the paper: what goes round
// the end of the message is sent in two pieces instead, and nothing is copied.
#include <algorithm>
#include <cstddef>
#include <vector>

#include "core/algorithms/dataflow.h"
#include "core/algorithms/equal_blocks.h"
#include "core/algorithms/reduction.h"
#include "core/algorithms/shape.h"

namespace mutirao {
namespace {

/// From the number of ranks down to 1.
std::vector<int> circulant_skips(int size) {
    std::vector<int> skips{size};
    while (skips.back() > 1) skips.push_back((skips.back() + 1) / 2);
    return skips;
}

class Circulant {
  public:
    /// One block for each rank. `home` has room for all of them where the message has them.
    Circulant(Dataflow& flow, const Request& request, const Blocks& blocks, Region home)
        : flow_(flow), request_(request), blocks_(blocks), home_(home), skips_(circulant_skips(request.size)) {}

    /// The rank's own block, of everybody's operands, to `result`: in the home or apart from it. Operands must commute.
    ///
    /// Before a round with skip s, blocks rank .. rank + (skip before) - 1 are to be reduced further. Those from s on
    /// go to the rank that is s ahead, and as many come for the first ones.
    void reduce_scatter(Region result) {
        if (request_.size == 1) flow_.copy(part_in(Buffer::input, blocks_.block(0)), result);
        for (std::size_t round = 1; round < skips_.size(); ++round) {
            const int skip = skips_[round];
            const int count = skips_[round - 1] - skip;
            const int source = at_distance(-skip);
            const bool from_input = round == 1;
            const auto value = [&](Region part) {
                return from_input ? part_in(Buffer::input, part) : at_home(part);
            };
            for (const Region& piece : pieces(request_.rank + skip, count)) {
                flow_.send(at_distance(skip), value(piece));
            }
            if (skip == 1) {
                finish(source, value(blocks_.block(request_.rank)), result);
                return;
            }
            for (const Region& piece : pieces(request_.rank, count)) {
                const Region arriving = from_input ? at_home(piece) : waiting(piece);
                flow_.receive(source, arriving);
                from_input ? flow_.reduce(value(piece), arriving) : flow_.reduce(arriving, at_home(piece));
            }
            // With an odd number of blocks nothing came for one of them.
            if (!from_input || count == skip) continue;
            for (const Region& piece : pieces(request_.rank + count, skip - count)) {
                flow_.copy(value(piece), at_home(piece));
            }
        }
    }

    /// All blocks, at home, to everybody; `own` is where the rank's own block lies at first.
    void allgather(Region own) {
        for (std::size_t round = skips_.size() - 1; round > 0; --round) {
            const int skip = skips_[round];
            const int count = skips_[round - 1] - skip;
            for (const Region& piece : pieces(request_.rank, count)) {
                flow_.send(at_distance(-skip), skip == 1 ? own : at_home(piece));
            }
            for (const Region& piece : pieces(request_.rank + skip, count)) {
                flow_.receive(at_distance(skip), at_home(piece));
            }
        }
    }

  private:
    /// `count` blocks from `first` on, counted round: up to two pieces.
    std::vector<Region> pieces(int first, int count) const {
        std::vector<Region> pieces;
        for (const BlockRun& run : runs_of(first % request_.size, count, request_.size))
            pieces.push_back(blocks_.range(run.first, run.first + run.count));
        return pieces;
    }
    Region at_home(Region part) const { return part_in(home_.buffer, part, home_.offset_bytes); }
    Region waiting(Region part) const {
        const bool behind = home_.buffer == Buffer::scratch;
        return part_in(Buffer::scratch, part, behind ? aligned(home_.end_bytes()) : 0);
    }
    int at_distance(int skip) const { return (request_.rank + skip + request_.size) % request_.size; }

    void finish(int peer, Region own, Region result) {
        const Region arriving = own == result ? waiting(blocks_.block(request_.rank)) : result;
        flow_.receive(peer, arriving);
        flow_.reduce(own == result ? arriving : own, result);
    }

    Dataflow& flow_;
    const Request& request_;
    Blocks blocks_;
    Region home_;
    std::vector<int> skips_;
};

// Who passes which segment to whom, and when, in Traeff's broadcast on a circulant graph (2025, doi:10.1145/3735139;
// arXiv:2407.18004): in every round a rank sends one segment to the rank that is the round's skip ahead, and receives
// another, so that all ports are busy all the time. The skips take turns; a turn of all of them brings every rank as
// many segments. Read from the end, it is a reduction.

constexpr int none = -1;

/// Of one rank. Segments are numbers, -1: none.
struct CirculantRound {
    int to;
    int sent;
    int from;
    int received;
};

/// What a rank that is not the root receives in each round of a turn: the segments' numbers,
/// counted from the turn's first. All but one are of earlier turns, and have negative numbers.
///
/// That one has the number of the last skip on the way from the root over the greatest skips. A
/// search over such ways finds for every round another rank, at least the round's skip before this
/// one and the farther away the later the round, whose way ends with a skip that no other round
/// has: the segment of that skip comes in the round.
class Turn {
  public:
    /// Skips from 1 up to the number of ranks.
    Turn(const std::vector<int>& skips, int rank)
        : skips_(skips),
          rounds_(skips.size() - 1),
          target_(skips.back() + rank),
          bound_(2 * skips.back()),
          is_free_(skips.size(), true) {
        const std::size_t own = smallest_skip_to(rank);
        is_free_[own] = false;
        search(0, rounds_);
        for (int& segment : segments_) {
            const bool from_the_root = segment == static_cast<int>(rounds_);
            segment = from_the_root ? static_cast<int>(own) : segment - static_cast<int>(rounds_);
        }
    }

    const std::vector<int>& segments() const { return segments_; }

  private:
    /// Of those whose sum it is, from the greatest possible on.
    std::size_t smallest_skip_to(int rank) const {
        std::size_t skip = rounds_;
        for (int left = rank; left > 0; left -= skips_[skip]) {
            while (skips_[skip] > left) --skip;
        }
        return skip;
    }

    /// From here the skip of the next round, or that of a later one, leads to the target.
    int before(std::size_t rounds_ahead) const {
        return target_ - skips_[segments_.size() + rounds_ahead];
    }

    bool is_complete() const { return segments_.size() == rounds_; }

    /// From a rank on, over skips up to the greatest.
    void search(int reached, std::size_t greatest) {
        for (std::size_t skip = greatest + 1; skip-- > 0 && !is_complete();) {
            const int next = reached + skips_[skip];
            if (!is_free_[skip] || next > before(0) || next >= bound_) continue;
            if (next <= before(1)) search(next, skip);
            if (is_complete() || reached > before(1)) return;
            bound_ = next;
            segments_.push_back(static_cast<int>(skip));
            is_free_[skip] = false;
        }
    }

    const std::vector<int>& skips_;
    std::size_t rounds_;
    int target_;  ///< the rank, once round, so that ranks before it are not negative
    int bound_;   ///< what is taken next lies before it
    std::vector<bool> is_free_;  ///< skips that no round's segment has come over
    std::vector<int> segments_;
};

/// Of Request::rank in a broadcast from Request::root, in their order: s - 1 + ceil(log2 p) for p ranks and s segments,
/// none where there is nobody or nothing to send to.
std::vector<CirculantRound> circulant_rounds(const Request& request, std::size_t segments) {
    const int size = request.size;
    if (size == 1 || segments == 0) return {};
    std::vector<int> skips = circulant_skips(size);
    std::reverse(skips.begin(), skips.end());
    const int rank = virtual_rank(request.rank, request.root, size);
    const int turn = static_cast<int>(skips.size()) - 1;
    const int last = static_cast<int>(segments) - 1;
    const std::vector<int> received = Turn(skips, rank).segments();
    std::vector<int> sent;
    for (std::size_t round = 0; round + 1 < skips.size(); ++round) {
        sent.push_back(Turn(skips, (rank + skips[round]) % size).segments()[round]);
    }
    // So many rounds of the first turn are left out that the last turn is a whole one.
    const int idle = (turn - last % turn) % turn;
    std::vector<CirculantRound> rounds;
    for (int i = idle; i < idle + last + turn; ++i) {
        const auto round = static_cast<std::size_t>(i % turn);
        const auto number = [&](const std::vector<int>& of_turn) {
            const int segment = i - i % turn - idle + of_turn[round];
            return std::clamp(segment, none, last);
        };
        const int to = (rank + skips[round]) % size;
        const int from = (rank - skips[round] + size) % size;
        rounds.push_back({.to = real_rank(to, request.root, size),
                          .sent = to == 0 ? none : number(sent),
                          .from = real_rank(from, request.root, size),
                          .received = rank == 0 ? none : number(received)});
    }
    return rounds;
}

/// A rank has most of what it sends to a reduction from the start. If it sent that at once, ports would be busy with
/// segments of late rounds while early ones wait: long messages would take twice as long.
constexpr std::size_t most_turns_ahead = 4;

}  // namespace

// In every round a rank passes one segment on and receives another.
//
// Cost, p ranks, n bytes in s segments: s - 1 + ceil(log2 p) rounds of n / s bytes, which is the least possible; a
// rank receives n bytes, and sends one segment a round at most.
static Schedule broadcast_circulant(const Request& request) {
    const Region whole{Buffer::output, 0, request.length_bytes};
    const auto segments = segments_of(whole, request.parameters.segment_bytes);
    const auto segment = [&](int number) { return segments[static_cast<std::size_t>(number)]; };
    Dataflow flow;
    for (const CirculantRound& round : circulant_rounds(request, segments.size())) {
        if (round.sent >= 0) flow.send(round.to, segment(round.sent));
        if (round.received >= 0) flow.receive(round.from, segment(round.received));
    }
    return std::move(flow).take();
}

// The broadcast read from its end: what a rank received comes to be sent, once everything has come that it had passed
// on.
//
// Cost, p ranks, n bytes in s segments: s - 1 + ceil(log2 p) rounds of n / s bytes, which is the least possible; a
// rank sends n bytes, and receives and combines one segment a round at most. Scratch for up to four times the
// message. The operator must commute: a segment comes up a tree of its own, whose ranks are in no order.
static Schedule reduce_circulant(const Request& request) {
    Dataflow flow;
    const bool is_root = request.rank == request.root;
    std::vector<Partial> parts = parts_of(request, whole_message(flow, request, is_root));
    const auto part = [&](int number) -> Partial& {
        return parts[static_cast<std::size_t>(number)];
    };
    const std::vector<CirculantRound> rounds = circulant_rounds(request, parts.size());
    const std::size_t turn = circulant_skips(request.size).size() - 1;
    const std::size_t window = most_turns_ahead * turn + 1;
    // The last receive before each round, from `window` rounds before the first one on.
    std::vector<StepId> received(window, Dataflow::no_id);
    for (auto round = rounds.rbegin(); round != rounds.rend(); ++round) {
        const StepId awaited = received[received.size() - window];
        if (round->received >= 0) part(round->received).send(round->from, awaited);
        received.push_back(round->sent < 0
                               ? received.back()
                               : part(round->sent).combine({}, std::span(&round->to, 1)));
    }
    if (is_root) {
        for (Partial& each : parts) each.settle();
    }
    return std::move(flow).take();
}

// Cost, p ranks, blocks of n bytes: ceil(log2 p) steps, up to twice as many messages; a port sends and receives
// (p - 1) n bytes; nothing but the own block is copied.
static Schedule allgather_circulant(const Request& request) {
    const Blocks blocks = blocks_of(request);
    Dataflow flow;
    flow.copy(own_input(request), blocks.block(request.rank));
    Circulant(flow, request, blocks, blocks.range(0, request.size)).allgather(own_input(request));
    return std::move(flow).take();
}

// Cost, p ranks, n bytes: 2 ceil(log2 p) rounds for any p, in each one or two messages a rank, and 2 n (p - 1) / p
// bytes through each port, which is the least possible. Empty blocks are not sent.
Schedule allreduce_circulant(const Request& request) {
    const Blocks blocks(request.length_bytes, request.size, request.unit_bytes);
    const Region home{Buffer::output, 0, request.length_bytes};
    Dataflow flow;
    Circulant graph(flow, request, blocks, home);
    graph.reduce_scatter(blocks.block(request.rank));
    graph.allgather(blocks.block(request.rank));
    return std::move(flow).take();
}

// Cost, p ranks, blocks of n bytes: ceil(log2 p) rounds for any p, in each one or two messages a rank, and
// (p - 1) n bytes through each port, which is the least possible.
static Schedule reduce_scatter_block_circulant(const Request& request) {
    const Blocks blocks = blocks_of(request);
    const Region result{Buffer::output, 0, own_length_bytes(request)};
    Dataflow flow;
    Circulant(flow, request, blocks, blocks.range(0, request.size, Buffer::scratch)).reduce_scatter(result);
    return std::move(flow).take();
}

std::vector<Algorithm> circulant_rows() {
    using enum Collective;
    return {
        {.collective = broadcast, .name = "circulant",
         .summary = "a segment in and one out in each round, over skips that take turns",
         .source = "Traeff 2025, doi:10.1145/3735139",
         .build = broadcast_circulant, .segmented = true, .level = Level::hosts},
        {.collective = reduce, .name = "circulant",
         .summary = "a segment in and one out in each round, over skips that take turns",
         .source = "Traeff 2024, arXiv:2407.18004",
         .build = reduce_circulant, .segmented = true},
        {.collective = allgather, .name = "circulant", .summary = "like bruck with skips that halve p, without staging",
         .source = "Traeff 2024, arXiv:2410.14234",
         .build = allgather_circulant, .blocks = InBlocks::uneven},
        {.collective = allreduce, .name = "circulant",
         .summary = "reduce-scatter and allgather along halving skips, for any number of ranks",
         .source = "Traeff 2024, arXiv:2410.14234",
         .build = allreduce_circulant},
        {.collective = reduce_scatter_block, .name = "circulant",
         .summary = "along halving skips, for any number of ranks",
         .source = "Traeff 2024, arXiv:2410.14234",
         .build = reduce_scatter_block_circulant, .blocks = InBlocks::uneven},
    };
}

}  // namespace mutirao
