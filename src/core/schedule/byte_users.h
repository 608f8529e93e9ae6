// Which steps of one rank use which bytes: memory is cut into cells at the boundaries of all
// regions in question, and each cell remembers its last writer and the readers since. Whoever
// comes after these comes after all earlier users too, if those have no race among them. What a
// race search and the joining of schedules have in common.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <utility>
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

class ByteUsers {
  public:
    /// Cells are cut for the uses of these steps; others must not be asked for.
    explicit ByteUsers(std::span<const Step> steps);
    ByteUsers(std::span<const Step> steps, std::span<const Step> further);

    /// Appends the steps that one with this use must come after, some of them perhaps repeatedly.
    void collect(const Use& use, std::vector<StepId>& into) const;
    void remember(const Use& use, StepId step);
    /// From now on these cells have no users.
    void forget(const Region& region);

  private:
    using Cut = std::pair<Buffer, std::size_t>;
    struct Reader {
        StepId step;
        int next;  ///< in reader_pool_, -1 at the end
    };

    void add_cuts(std::span<const Step> steps);
    void make_cells();
    template <class Visit>
    void each_cell(const Region& region, Visit visit) const;

    std::vector<Cut> cuts_;  ///< cell i lies between cuts i and i + 1
    std::vector<StepId> last_writer_;
    std::vector<int> readers_;  ///< per cell: its first entry in reader_pool_
    std::vector<Reader> reader_pool_;
};

/// The first two steps that overlap on bytes, at least one writing, and that no path of
/// dependencies orders; empty if there are none. What messages happen to order does not count: an
/// MPI library may read or write the memory of a send or receive from its start to its end.
std::string find_race(const Schedule& schedule, int rank);

}  // namespace mutirao
