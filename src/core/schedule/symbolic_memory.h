// What the checker knows of memory: not the bytes but how they came about. Bytes in a row that hold
// consecutive bytes of the same expression are one stretch, so the cost follows the number of
// segments and never the number of bytes.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "core/schedule/expressions.h"

namespace mutirao {

/// Bytes [begin, end) of a buffer. Byte p holds byte p + shift_bytes (modulo 2^64) of the initial
/// data of every rank in `expression`, combined as it says.
struct Stretch {
    std::size_t begin_bytes = 0;
    std::size_t end_bytes = 0;
    Expressions::Id expression = 0;
    std::size_t shift_bytes = 0;
};

/// One buffer of one rank: disjoint stretches in order, neighbours that continue each other joined.
/// Bytes outside the stretches are undefined.
class SymbolicMemory {
  public:
    /// Appends the stretches inside [begin, end), cut to it, up to the first byte that is
    /// undefined, and returns that byte if there is one.
    std::optional<std::size_t> read(std::size_t begin, std::size_t end,
                                    std::vector<Stretch>& out) const;

    /// `stretches` must cover [begin, end) exactly and in order, or be empty if it is.
    void write(std::size_t begin, std::size_t end, const std::vector<Stretch>& stretches);

  private:
    std::vector<Stretch> stretches_;
};

}  // namespace mutirao
