// The calls of a class that are clocked: what one rank notes of them (Course), and what all ranks tell of them
// (ClockedCalls). A sample is known once every rank has told it. Pure: the times come from outside.
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

class ClockedCalls {
  public:
    /// `reporters`: how many ranks tell every sample. `one_way`: ranks may return long before others are done.
    ClockedCalls(int reporters, bool one_way) : reporters_(reporters), one_way_(one_way) {}

    /// Another ruling is in force; before the first one the MPI library's own calls are clocked.
    void begin(std::uint32_t ruling, const Clocking& clocking);
    void add(const TimeReport& report);

    bool one_way() const { return one_way_; }
    std::uint32_t ruling() const { return ruling_; }
    const Clocking& clocking() const { return clocking_; }
    std::uint32_t size() const { return clocking_.samples(); }
    /// The probe's samples are those from the clocking's lead to before this one.
    std::uint32_t probe_end() const { return clocking_.lead + clocking_.probe; }

    bool knows(std::uint32_t number) const { return told_[number].reports == reporters_; }
    /// All before that one.
    bool knows_until(std::uint32_t end) const;
    Sample sample(std::uint32_t number) const;
    /// On the mean of the ranks.
    double mean_us(std::uint32_t number) const { return told_[number].sum.time_us / reporters_; }
    /// Of those that are known.
    std::vector<double> times_us(std::uint32_t begin, std::uint32_t end) const;
    std::vector<double> means_us(std::uint32_t begin, std::uint32_t end) const;

  private:
    struct Told {
        int reports = 0;
        Sample sum, slowest;
    };

    template <typename Value>
    std::vector<double> known(std::uint32_t begin, std::uint32_t end, Value value) const;

    int reporters_;
    bool one_way_;
    std::uint32_t ruling_ = 0;
    Clocking clocking_ = first_calls;
    std::vector<Told> told_ = std::vector<Told>(first_calls.samples());
};

}  // namespace mutirao
