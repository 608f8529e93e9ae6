// What samples of a time say: a median, and between which values it lies; what a decider keeps of them, and how it
// compares them. Medians and distances from them, as times of collectives are far from normal.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "core/selection/ruling.h"

namespace mutirao {

struct Interval {
    double low = 0;
    double median = 0;
    double high = 0;

    bool operator==(const Interval&) const = default;
};

/// The interval between two order statistics that holds the median with at least 98%; all of the samples
/// where they are too few for that (Hunold and Carpen-Amarie 2016, doi:10.1109/TPDS.2016.2539167, on how far
/// from normal the times of collectives are). Empty: all 0.
Interval median_interval(std::vector<double> samples);

/// 0 of none.
double median_of(std::vector<double> samples);

/// How far samples scatter about their median, as a standard deviation of what is normal, from the median of
/// the distances: a few outliers do not move it. 0 of fewer than two.
double scatter_of(const std::vector<double>& samples);

/// So many standard deviations make a difference clear: some 99%.
inline constexpr double clear_deviations = 2.6;
inline constexpr double deviations_of_95_percent = 1.96;

/// The latest samples of one way to run a class. Where they shift, as when what the program does around its calls
/// changes, those of before are no controls of what runs now: they are forgotten once the shift is whole.
struct SampleSeries {
    static constexpr std::size_t most = 32;

    std::vector<double> times_us, laps_us;

    /// True: by this one a shift is whole.
    bool add(const Sample& sample);
    std::size_t size() const { return times_us.size(); }
    double time_us() const;
    /// The newest differ from those before them.
    bool shifts() const;

  private:
    bool newest_differ(std::size_t count) const;  ///< but one of them may not
};

/// A ratio of two times, as far as it is known.
struct Ratio {
    double value = 1;
    double variance = std::numeric_limits<double>::infinity();  ///< relative

    bool known() const { return std::isfinite(variance); }
    double deviation() const { return std::sqrt(variance); }
    double low() const { return value * (1 - clear_deviations * deviation()); }
    double high() const { return value * (1 + clear_deviations * deviation()); }
    /// With one more measurement of the same.
    Ratio with(const Ratio& other) const;
    Ratio over(const Ratio& other) const { return {value / other.value, variance + other.variance}; }
};

/// A difference of two times.
struct Difference {
    double us = 0;
    double variance_us2 = 0;

    Difference operator+(const Difference& other) const {
        return {us + other.us, variance_us2 + other.variance_us2};
    }
    /// The same was measured again: long ago counts less, and where the two do not agree both are doubted
    /// (Birge, doi:10.1103/PhysRev.40.207).
    Difference renewed_by(const Difference& now) const;
    /// It was measured before something changed that should not matter: a tenth more or less.
    void doubt();
};

/// Of the samples' median.
Difference median_difference(const std::vector<double>& samples, const std::vector<double>& others);

/// Scatter over median; never less than so many samples can show.
double relative_scatter(const std::vector<double>& samples);

/// What one way took over what the other took, from samples of both; not known of too few. `least_scatter`: of such
/// calls, relative to their time, as more of them have shown.
Ratio ratio_of(const std::vector<double>& samples, const std::vector<double>& others, double least_scatter = 0);

/// By more than the samples' scatter explains; false of too few.
bool clearly_longer(const std::vector<double>& samples, const std::vector<double>& others);

// The calls of a class that are clocked: what one rank notes of them (Course), and what all ranks tell of them
// (ClockedCalls). A sample is known once every rank has told it. Pure: the times come from outside.

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
