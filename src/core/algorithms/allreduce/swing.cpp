// Recursive halving and doubling as Rabenseifner's, but with partners that swing to and fro around
// a ring, at distance 1, -1, 3, -5, 11 .., so that in a ring or torus fewer messages share a link
// (De Sensi, Bonato, Saam and Hoefler 2024, arXiv:2401.09356).
//
// The blocks that two partners split are not neighbours in the message. Every rank therefore copies
// them once into an order of its own, in which what it keeps always stands before what it sends,
// and back at the end.
//
// Cost, p ranks, n bytes: 2 log2 p steps, 2 n (p - 1) / p bytes through each port, which is the
// least possible, and 2 n bytes copied. The number of ranks must be a power of two; operands must
// commute. Empty blocks are not sent.
#include <utility>

#include "core/algorithms/reduction.h"

namespace mutirao::allreduce {

namespace {

int swing_partner(int rank, int step, int size) {
    long long power = 1;  // (-2)^(step + 1)
    for (int i = 0; i <= step; ++i) power *= -2;
    const long long distance = (1 - power) / 3;
    const long long partner = rank % 2 == 0 ? rank + distance : rank - distance;
    return static_cast<int>((partner % size + size) % size);
}

/// The blocks that a rank has before that step of the halving: first what it keeps, then what its
/// partner keeps, each again in the order of its rank.
void append_order(std::vector<int>& order, int rank, int step, int steps, int size) {
    if (step == steps) {
        order.push_back(rank);
        return;
    }
    append_order(order, rank, step + 1, steps, size);
    append_order(order, swing_partner(rank, step, size), step + 1, steps, size);
}

/// A rank's blocks in its order, in scratch memory.
class SwingOrder {
  public:
    explicit SwingOrder(const Request& request)
        : blocks_(request.length_bytes, request.size, request.unit_bytes), begins_{0} {
        while (1 << steps_ < request.size) ++steps_;
        append_order(order_, request.rank, 0, steps_, request.size);
        for (const int block : order_) {
            begins_.push_back(begins_.back() + blocks_.block(block).length_bytes);
        }
    }

    int steps() const { return steps_; }

    void pack(Dataflow& flow) const {
        for (std::size_t i = 0; i < order_.size(); ++i) {
            flow.copy(part_in(Buffer::input, blocks_.block(order_[i])), packed(i, i + 1));
        }
    }
    void unpack(Dataflow& flow) const {
        for (std::size_t i = 0; i < order_.size(); ++i) {
            flow.copy(packed(i, i + 1), blocks_.block(order_[i]));
        }
    }

    /// What is kept in a step, and what is sent.
    Region kept(int step) const { return packed(0, half(step)); }
    Region given(int step) const { return packed(half(step), 2 * half(step)); }

  private:
    std::size_t half(int step) const { return order_.size() >> (step + 1); }
    Region packed(std::size_t first, std::size_t end) const {
        return {Buffer::scratch, begins_[first], begins_[end] - begins_[first]};
    }

    Blocks blocks_;
    int steps_ = 0;
    std::vector<int> order_{};
    std::vector<std::size_t> begins_;
};

}  // namespace

Schedule swing(const Request& request) {
    Dataflow flow;
    if (request.size == 1) {
        whole_message(flow, request, true).settle();
        return std::move(flow).take();
    }
    const SwingOrder order(request);
    order.pack(flow);
    for (int step = 0; step < order.steps(); ++step) {
        const int partner = swing_partner(request.rank, step, request.size);
        const Region kept = order.kept(step);
        // Nothing else is in the output before the end.
        const Region arriving = part_in(Buffer::output, kept);
        flow.send(partner, order.given(step));
        flow.receive(partner, arriving);
        flow.reduce(arriving, kept);
    }
    for (int step = order.steps() - 1; step >= 0; --step) {
        const int partner = swing_partner(request.rank, step, request.size);
        flow.send(partner, order.kept(step));
        flow.receive(partner, order.given(step));
    }
    order.unpack(flow);
    return std::move(flow).take();
}

}  // namespace mutirao::allreduce
