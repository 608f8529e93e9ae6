// Blocks are never moved to begin with a rank's own, as in the paper: what goes round the end of
// the message is sent in two pieces instead, and nothing is copied.
#include "core/algorithms/circulant.h"

#include "core/algorithms/reduction.h"

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

}  // namespace mutirao
