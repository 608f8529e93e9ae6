// What samples of a time say: a median, and between which values it lies; what a decider keeps of them, and how it
// compares them. Medians and distances from them, as times of collectives are far from normal.
#pragma once

#include <cmath>
#include <cstddef>
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

/// The latest samples of one way to run a class.
struct SampleSeries {
    static constexpr std::size_t most = 32;

    std::vector<double> times_us, laps_us;

    void add(const Sample& sample);
    std::size_t size() const { return times_us.size(); }
    double time_us() const;
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
    /// The same was measured again: long ago counts less, and nothing if the two do not agree.
    Difference renewed_by(const Difference& now) const;
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

}  // namespace mutirao
