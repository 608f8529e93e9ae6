// Which steps of one rank use which bytes: memory is cut into cells of bytes that have had the same users, and each
// cell remembers its last writer and the readers since. Whoever comes after these comes after all earlier users too, if
// those have no race among them. What a race search, the joining of schedules and their writing down by data flow have
// in common.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "core/schedule/schedule.h"

namespace mutirao {

/// A region that a step reads or writes.
struct Use {
    Region region;
    bool writes = false;
};

/// What a step uses; a receive reads nothing and a send writes nothing.
struct Uses {
    explicit Uses(const Step& step)
        : read{step.kind == StepKind::receive ? Region{} : step.source, false},
          written{step.kind == StepKind::send ? Region{} : step.target, true} {}

    Use read;
    Use written;
};

/// Cost: the logarithm of the number of cuts in a buffer, and the time to visit those cells that lie inside a region; a
/// new cut moves those behind it, of which there are few.
class ByteUsers {
  public:
    static constexpr StepId nobody = -1;

    /// Appends the steps that `step` must come after because of this use, some of them perhaps repeatedly, and itself
    /// if it has used these bytes before. `nobody`: a reader is not remembered, and what is written has no users from
    /// now on.
    void use(const Use& use, StepId step, std::vector<StepId>& after);

  private:
    struct Cell {
        std::size_t begin_bytes, end_bytes;
        StepId writer = nobody;
        int last_reader = -1;  ///< in readers_; -1: none
    };
    using Cells = std::vector<Cell>;  ///< by their bytes
    /// In a list that cells may share from some reader on: what is cut in two has had the same ones.
    struct Reader {
        StepId step;
        int before;
    };

    /// Those of a region, which it is made to begin and end with, and to leave no byte without one.
    std::span<Cell> cells_of(const Region& region);
    static Cells::iterator split(Cells& cells, Cells::iterator cell, std::size_t at_bytes);

    std::array<Cells, 3> cells_;  ///< by buffer
    std::vector<Reader> readers_;
};

}  // namespace mutirao
