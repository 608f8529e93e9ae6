// Blocks are never moved to begin with a rank's own, as in the paper: what goes round the end of
// the message is sent in two pieces instead, and nothing is copied.
#include "core/algorithms/circulant.h"

#include <algorithm>

#include "core/algorithms/reduction.h"
#include "core/algorithms/shape.h"

namespace mutirao {

std::vector<int> circulant_skips(int size) {
    std::vector<int> skips{size};
    while (skips.back() > 1) skips.push_back((skips.back() + 1) / 2);
    return skips;
}

Circulant::Circulant(Dataflow& flow, const Request& request, const Blocks& blocks, Region home)
    : flow_(flow),
      request_(request),
      blocks_(blocks),
      home_(home),
      skips_(circulant_skips(request.size)) {}

std::vector<Region> Circulant::pieces(int first, int count) const {
    const int size = request_.size;
    first %= size;
    if (first + count <= size) return {blocks_.range(first, first + count)};
    return {blocks_.range(first, size), blocks_.range(0, first + count - size)};
}

Region Circulant::at_home(Region part) const {
    return part_in(home_.buffer, part, home_.offset_bytes);
}

Region Circulant::waiting(Region part) const {
    const bool behind = home_.buffer == Buffer::scratch;
    return part_in(Buffer::scratch, part, behind ? aligned(home_.end_bytes()) : 0);
}

int Circulant::at_distance(int skip) const {
    return (request_.rank + skip + request_.size) % request_.size;
}

// Before a round with skip s, blocks rank .. rank + (skip before) - 1 are to be reduced further.
// Those from s on go to the rank that is s ahead, and as many come for the first ones.
void Circulant::reduce_scatter(Region result) {
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
            from_input ? flow_.reduce(value(piece), arriving)
                       : flow_.reduce(arriving, at_home(piece));
        }
        // With an odd number of blocks nothing came for one of them.
        if (!from_input || count == skip) continue;
        for (const Region& piece : pieces(request_.rank + count, skip - count)) {
            flow_.copy(value(piece), at_home(piece));
        }
    }
}

void Circulant::finish(int peer, Region own, Region result) {
    if (own == result) {
        const Region arriving = waiting(blocks_.block(request_.rank));
        flow_.receive(peer, arriving);
        flow_.reduce(arriving, result);
    } else {
        flow_.receive(peer, result);
        flow_.reduce(own, result);
    }
}

void Circulant::allgather() {
    for (std::size_t round = skips_.size() - 1; round > 0; --round) {
        const int skip = skips_[round];
        const int count = skips_[round - 1] - skip;
        for (const Region& piece : pieces(request_.rank, count)) {
            flow_.send(at_distance(-skip), at_home(piece));
        }
        for (const Region& piece : pieces(request_.rank + skip, count)) {
            flow_.receive(at_distance(skip), at_home(piece));
        }
    }
}

namespace {

constexpr int none = -1;

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

}  // namespace

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

}  // namespace mutirao
