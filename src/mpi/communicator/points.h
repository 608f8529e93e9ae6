// At which calls the ranks of a communicator look whether mutirao should handle it: known to all of them from the calls
// alone, for nobody knows what time it is elsewhere. A unit is a call, or so many bytes of one. The first point is after
// 32 units, then whenever there were a quarter more.
//
// Points lie in calls in which all ranks wait for each other anyway, so that ranks may wait there for what they began
// to tell each other at the point before. In a program that makes no such calls they lie later: in calls in which all
// follow a root, since who follows can be told by it whether there is anything to wait for; and in others, where some
// run ahead of who cannot tell them, only seldom, unless the user said that it pays soon.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/collectives/call_shape.h"

namespace mutirao::mpi {

class Points {
  public:
    static constexpr std::int64_t usual_first_units = 32;
    static constexpr std::size_t unit_bytes = std::size_t{1} << 16;

    explicit Points(std::int64_t first_units = usual_first_units, bool seldom = true)
        : interval_units_(first_units), seldom_(seldom) {}

    static std::int64_t units_of(const CallShape& shape) {
        return 1 + static_cast<std::int64_t>(shape.length_bytes / unit_bytes);
    }

    /// Before a call that begins when so many units are left until the next point, or none; true: it is the point.
    bool lies_in(const CallShape& shape, std::int64_t left_units) const {
        return left_units <= 0 && left_units <= -late_units(shape.collective, shape.empty());
    }
    /// Until the next point, from one that was so late.
    std::int64_t next(std::int64_t left_units) {
        units_ += interval_units_ - left_units;
        return interval_units_ = std::max<std::int64_t>(units_ / 4, 1);
    }

    /// Up to the last point.
    std::int64_t units() const { return units_; }

    /// No rank returns before the root has come, which waits for none.
    static bool follows_root(Collective collective) {
        return collective == Collective::broadcast || collective == Collective::scatter ||
               collective == Collective::scatterv;
    }

  private:
    /// How much later than wished a point may lie in such a call.
    std::int64_t late_units(Collective collective, bool empty) const {
        switch (collective) {
            // No rank returns before all have come, whatever they pass.
            case Collective::barrier: return 0;
            case Collective::allreduce:
            case Collective::allgather:
            case Collective::alltoall:
            case Collective::reduce_scatter_block: return empty ? interval_units_ / 2 : 0;
            // Some return before others have come.
            case Collective::reduce:
            case Collective::gather:
            case Collective::gatherv:
            case Collective::scan:
            case Collective::exscan: return seldom_ ? 16 * interval_units_ : interval_units_ / 2;
            default: return interval_units_ / 2;
        }
    }

    std::int64_t units_ = 0;
    std::int64_t interval_units_;
    bool seldom_;
};

}  // namespace mutirao::mpi
