// What the algorithms of the reducing collectives share: one rank's partial result and how
// messages enter it in order, and groups of neighbours that act as one. How a result
// is associated is decided here, so that all ranks decide alike.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "core/algorithms/algorithm.h"
#include "core/algorithms/dataflow.h"
#include "core/algorithms/shape.h"

namespace mutirao {

/// The bytes of a part of the message, in a buffer that holds the whole from `base_bytes` on.
inline Region part_in(Buffer buffer, Region part, std::size_t base_bytes = 0) {
    return {buffer, base_bytes + part.offset_bytes, part.length_bytes};
}

/// first .. end-1.
std::vector<int> ranks_from(int first, int end);

/// One rank's operand, and with it what came from others so far. It stays in the input until the
/// first message is there, and is combined in its home from then on, so nothing is copied first.
/// Messages wait in scratch memory behind the home, if that lies there, or from 0 on.
class Partial {
  public:
    /// `operand` is never written. Both of the same length.
    Partial(Dataflow& flow, Region operand, Region home);

    /// Where it lies now.
    Region value() const { return at_home_ ? home_ : operand_; }
    /// The same of these bytes only, counted from the beginning of the whole.
    Region value(Region part) const { return within(value(), part); }
    Region home() const { return home_; }
    /// Which bytes of the whole it is of.
    Region bytes() const { return {home_.buffer, begin_bytes_, home_.length_bytes}; }

    /// `later_than`: as Dataflow's.
    void send(int peer, StepId later_than = Dataflow::no_id) const {
        flow_->send(peer, value(), later_than);
    }
    void send(Region part, int peer) const { flow_->send(peer, value(part)); }

    /// Only these bytes from now on, counted from the beginning of the whole.
    void narrow(Region part);
    /// Receives from each, and becomes before[0] op .. op itself op after[0] op .., associated from
    /// the left. Returns the receive from the last of `after`.
    StepId combine(std::span<const int> before, std::span<const int> after);
    /// The same of all other ranks, in the ranks' order, and settles.
    void combine_all(const Request& request);
    /// Receives from each, and becomes peers[0] op peers[1] .., in its home, without itself.
    void replace(std::span<const int> peers);
    /// Puts it into its home if it is not there.
    void settle();

  private:
    Region waiting(int index) const;
    Region next_waiting();
    void receive_all(std::span<const int> peers, Region into);
    Region within(Region whole, Region part) const;

    Dataflow* flow_;
    Region operand_;
    Region home_;
    std::size_t begin_bytes_ = 0;  ///< of this part in the whole
    std::size_t slots_begin_bytes_;
    std::size_t slot_bytes_;
    int slot_count_;
    int prefix_slot_count_;  ///< of the first slots, for what comes before the operand
    int prefixes_ = 0;  ///< how many there were, to take turns
    int messages_ = 0;
    bool at_home_ = false;
};

/// The whole message: every rank's in the input, the result in the output where there is one to be,
/// and elsewhere in scratch memory.
Partial whole_message(Dataflow& flow, const Request& request, bool has_result);

/// One of each segment of it, in their order.
std::vector<Partial> parts_of(const Request& request, const Partial& whole);

/// Neighbouring ranks in `count` groups of nearly equal size, for algorithms that cannot do with
/// any number of ranks: a leader combines its group's operands in order and acts for it.
class Groups {
  public:
    /// The rank `preferred` leads its group; elsewhere the first rank does.
    Groups(int size, int count, int preferred = -1);

    int count() const { return count_; }
    int first(int group) const;
    int of(int rank) const;
    int leader(int group) const;
    bool leads(int rank) const { return leader(of(rank)) == rank; }

    /// To the leader.
    void fold(Partial& partial, int rank) const;
    /// The leader's result, at its home, to the other homes.
    void unfold(Dataflow& flow, Region home, int rank) const;

  private:
    int size_;
    int count_;
    int preferred_;
};

int largest_power(int base, int most);

}  // namespace mutirao
