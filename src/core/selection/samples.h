// What a decider keeps of times that were clocked, and how it compares them. Medians and distances from them, as
// times of collectives are far from normal (interval.h).
#pragma once

#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "core/selection/ruling.h"

namespace mutirao {

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
