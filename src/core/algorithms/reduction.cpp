#include "core/algorithms/reduction.h"

#include <algorithm>
#include <numeric>

namespace mutirao {

std::vector<int> ranks_from(int first, int end) {
    std::vector<int> ranks(static_cast<std::size_t>(std::max(end - first, 0)));
    std::iota(ranks.begin(), ranks.end(), first);
    return ranks;
}

// --- partial results ---------------------------------------------------------------------------

namespace {

/// Short messages from many ranks may all wait at once, long ones only two: memory is limited.
constexpr std::size_t waiting_bytes = std::size_t{1} << 20;
constexpr std::size_t fewest_slots = 2;
constexpr std::size_t most_slots = 4096;

}  // namespace

Partial::Partial(Dataflow& flow, Region operand, Region home)
    : flow_(&flow),
      operand_(operand),
      home_(home),
      slots_begin_bytes_(home.buffer == Buffer::scratch ? aligned(home.end_bytes()) : 0),
      slot_bytes_(std::max<std::size_t>(aligned(operand.length_bytes), 64)),
      slot_count_(static_cast<int>(
          std::clamp(waiting_bytes / slot_bytes_, fewest_slots, most_slots))),
      prefix_slot_count_(slot_bytes_ < waiting_bytes ? 2 : 1) {}

Region Partial::within(Region whole, Region part) const {
    return {whole.buffer, whole.offset_bytes + part.offset_bytes - begin_bytes_,
            part.length_bytes};
}

void Partial::narrow(Region part) {
    operand_ = within(operand_, part);
    home_ = within(home_, part);
    begin_bytes_ = part.offset_bytes;
}

Region Partial::waiting(int index) const {
    const std::size_t slot = slots_begin_bytes_ + static_cast<std::size_t>(index) * slot_bytes_;
    return {Buffer::scratch, slot + begin_bytes_, operand_.length_bytes};
}

Region Partial::next_waiting() {
    return waiting(prefix_slot_count_ + messages_++ % slot_count_);
}

void Partial::receive_all(std::span<const int> peers, Region into) {
    for (std::size_t i = 0; i < peers.size(); ++i) {
        const Region message = i == 0 ? into : next_waiting();
        flow_->receive(peers[i], message);
        if (i > 0) flow_->reduce(message, into);
    }
}

StepId Partial::combine(std::span<const int> before, std::span<const int> after) {
    if (!before.empty()) {
        const Region prefix = at_home_ ? waiting(prefixes_++ % prefix_slot_count_) : home_;
        receive_all(before, prefix);
        at_home_ ? flow_->reduce_before(prefix, home_) : flow_->reduce(operand_, home_);
        at_home_ = true;
    }
    StepId received = Dataflow::no_id;
    for (const int peer : after) {
        const Region message = at_home_ ? next_waiting() : home_;
        received = flow_->receive(peer, message);
        at_home_ ? flow_->reduce(message, home_) : flow_->reduce_before(operand_, home_);
        at_home_ = true;
    }
    return received;
}

void Partial::combine_all(const Request& request) {
    combine(ranks_from(0, request.rank), ranks_from(request.rank + 1, request.size));
    settle();
}

void Partial::replace(std::span<const int> peers) {
    receive_all(peers, home_);
    at_home_ = true;
}

void Partial::settle() {
    if (!at_home_) flow_->copy(operand_, home_);
    at_home_ = true;
}

Partial whole_message(Dataflow& flow, const Request& request, bool has_result) {
    const std::size_t length = request.length_bytes;
    return {flow, {Buffer::input, 0, length},
            {has_result ? Buffer::output : Buffer::scratch, 0, length}};
}

std::vector<Partial> parts_of(const Request& request, const Partial& whole) {
    std::vector<Partial> parts;
    for (const Region& segment :
         segments_of(whole.bytes(), request.parameters.segment_bytes, request.unit_bytes)) {
        parts.push_back(whole);
        parts.back().narrow(segment);
    }
    return parts;
}

// --- groups ------------------------------------------------------------------------------------

Groups::Groups(int size, int count, int preferred)
    : size_(size), count_(count), preferred_(preferred) {}

int Groups::first(int group) const {
    return group * (size_ / count_) + std::min(group, size_ % count_);
}

int Groups::of(int rank) const {
    const int smaller = size_ / count_;
    const int larger_count = size_ % count_;
    const int in_larger = larger_count * (smaller + 1);
    return rank < in_larger ? rank / (smaller + 1) : larger_count + (rank - in_larger) / smaller;
}

int Groups::leader(int group) const {
    const bool has_preferred = preferred_ >= 0 && of(preferred_) == group;
    return has_preferred ? preferred_ : first(group);
}

void Groups::fold(Partial& partial, int rank) const {
    const int group = of(rank);
    if (leads(rank)) {
        partial.combine(ranks_from(first(group), rank), ranks_from(rank + 1, first(group + 1)));
    } else {
        partial.send(leader(group));
    }
}

void Groups::unfold(Dataflow& flow, Region home, int rank) const {
    const int group = of(rank);
    if (!leads(rank)) {
        flow.receive(leader(group), home);
        return;
    }
    for (int member = first(group); member < first(group + 1); ++member) {
        if (member != rank) flow.send(member, home);
    }
}

int largest_power(int base, int most) {
    int power = 1;
    while (power <= most / base) power *= base;
    return power;
}

}  // namespace mutirao
