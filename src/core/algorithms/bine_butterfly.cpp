#include "core/algorithms/bine_butterfly.h"

#include <bit>
#include <utility>

namespace mutirao {
namespace {

/// The blocks that a rank has before that step of the halving: first what it keeps, then what its
/// partner keeps, each again in the order of its rank.
void append_order(std::vector<int>& order, int rank, int step, int steps, int size) {
    if (step == steps) {
        order.push_back(rank);
        return;
    }
    append_order(order, rank, step + 1, steps, size);
    append_order(order, bine_partner(rank, step, size), step + 1, steps, size);
}

}  // namespace

int bine_partner(int rank, int step, int size) {
    long long power = 1;  // (-2)^(step + 1)
    for (int i = 0; i <= step; ++i) power *= -2;
    const long long distance = (1 - power) / 3;
    const long long partner = rank % 2 == 0 ? rank + distance : rank - distance;
    return static_cast<int>((partner % size + size) % size);
}

BineOrder::BineOrder(int rank, int size, Blocks blocks)
    : blocks_(std::move(blocks)), steps_(std::countr_zero(static_cast<unsigned>(size))), begins_{0} {
    append_order(order_, rank, 0, steps_, size);
    for (const int block : order_) {
        begins_.push_back(begins_.back() + blocks_.block(block).length_bytes);
    }
}

Region BineOrder::packed(int first, int end) const {
    const std::size_t begin = begins_[static_cast<std::size_t>(first)];
    return {Buffer::scratch, begin, begins_[static_cast<std::size_t>(end)] - begin};
}

}  // namespace mutirao
