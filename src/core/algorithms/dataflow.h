// Steps written down in the order in which one rank could do them one after the other; what really
// must wait for what follows from the bytes that they use, and nothing else waits. An algorithm
// with many intermediate results thus states no dependency and cannot forget one.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <span>
#include <utility>
#include <vector>

#include "core/schedule/byte_users.h"
#include "core/schedule/schedule.h"

namespace mutirao {

/// A reader comes after the last writer of its bytes, a writer also after the readers since then.
/// Steps over no bytes are left out, and so are an empty message and the empty blocks of a short
/// one; they return no_id.
class Dataflow {
  public:
    static constexpr StepId no_id = ByteUsers::nobody;

    /// `later_than`: a step that this one must come after besides, or no_id.
    StepId send(int peer, Region data, StepId later_than = no_id);
    StepId receive(int peer, Region into);
    StepId copy(Region from, Region into);
    /// into = into op from.
    StepId reduce(Region from, Region into);
    /// into = from op into.
    StepId reduce_before(Region from, Region into);

    Schedule take() && { return std::move(schedule_); }

  private:
    using LocalStep = StepId (Schedule::*)(Region from, Region into, Schedule::After);
    StepId work(LocalStep step, Region from, Region into);
    /// What a next step with these uses comes after, each step once.
    Schedule::After earlier(std::initializer_list<Use> uses, StepId later_than = no_id);

    Schedule schedule_;
    ByteUsers users_;
    std::vector<StepId> after_;
};

/// Blocks that travel together: one piece of memory for a message of several.
class Packing {
  public:
    /// All scratch memory from `begin_bytes` on must be left to it.
    Packing(Dataflow& flow, std::size_t block_bytes, std::size_t begin_bytes = 0)
        : flow_(flow), block_bytes_(block_bytes), end_bytes_(begin_bytes) {}

    /// Scratch memory for so many blocks that nothing else has.
    Region room(std::size_t blocks);
    std::size_t end_bytes() const { return end_bytes_; }
    /// These pieces as one: where they lie if they follow each other, otherwise copies.
    Region packed(std::span<const Region> pieces);
    /// Copies of these pieces, one behind another.
    void pack(std::span<const Region> pieces, const Region& message);
    /// The `index`-th block of a message.
    Region block(const Region& message, std::size_t index) const {
        return {message.buffer, message.offset_bytes + index * block_bytes_, block_bytes_};
    }
    /// Receives a message whose bytes belong there, at once if these follow each other.
    void receive(int peer, std::span<const Region> pieces);

  private:
    Region room_of(std::span<const Region> pieces);

    Dataflow& flow_;
    std::size_t block_bytes_;
    std::size_t end_bytes_;
};

}  // namespace mutirao
