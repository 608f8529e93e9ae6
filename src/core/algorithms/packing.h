// Blocks that travel together: one piece of memory for a message of several.
#pragma once

#include <span>

#include "core/algorithms/dataflow.h"
#include "core/schedule/schedule.h"

namespace mutirao {

class Packing {
  public:
    /// All scratch memory from `begin_bytes` on must be left to it.
    Packing(Dataflow& flow, std::size_t block_bytes, std::size_t begin_bytes = 0)
        : flow_(flow), block_bytes_(block_bytes), end_bytes_(begin_bytes) {}

    /// Scratch memory for so many blocks that nothing else has.
    Region room(std::size_t blocks);
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
