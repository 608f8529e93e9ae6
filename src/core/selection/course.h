// A class's calls on one rank since a ruling took effect, or since the first one, as far as they are clocked:
// which of them are the probe's, what they took, and when it is time to say so. Pure: the times come from outside.
#pragma once

#include <cstdint>
#include <vector>

#include "core/selection/ruling.h"

namespace mutirao {

class Course {
  public:
    /// Before anything is ruled.
    explicit Course(const ShapeClass& shapes) : shapes_(shapes) {}
    explicit Course(const Ruling& ruling)
        : shapes_(ruling.shapes), ruling_(ruling.id), clocking_(ruling.clocking) {}

    /// Of the next call.
    bool clocks() const { return clocking_.clocks(calls_); }
    bool probes() const { return clocking_.probes(calls_); }
    /// The next call, which is clocked, lasted from one time to the other. True: it is time to report.
    bool add(double begun_us, double ended_us);

    bool has_untold() const { return !samples_.empty(); }
    TimeReport take_report();
    /// The median of what is not told yet; 0: nothing.
    double untold_us() const;

  private:
    ShapeClass shapes_;
    std::uint32_t ruling_ = 0;
    Clocking clocking_ = first_calls;
    std::uint64_t calls_ = 0;  ///< clocked so far
    double last_end_us_ = 0;   ///< of the call before; 0: there was none
    Sample sum_;               ///< of the present sample
    bool knows_laps_ = true;   ///< of all its calls
    std::vector<Sample> samples_;  ///< that are complete and not told yet
    std::uint32_t told_ = 0;
};

}  // namespace mutirao
