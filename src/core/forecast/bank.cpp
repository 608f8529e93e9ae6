#include "core/forecast/bank.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <span>
#include <vector>

#include "core/text/invariant.h"

namespace mutirao {
namespace {

double mean_of(std::span<const double> values) {
    return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

}  // namespace

std::span<const double> Series::recent(int first_age, int window) const {
    const int count = std::min(window, kept() - first_age);
    if (count < 1) broken_invariant("measurements in a window", count, 1);
    return std::span(values_).subspan(static_cast<std::size_t>(first_age), static_cast<std::size_t>(count));
}

double Series::mean(int first_age, int window) const { return mean_of(recent(first_age, window)); }

double Series::median(int first_age, int window) const {
    const std::span<const double> window_values = recent(first_age, window);
    std::vector<double> values(window_values.begin(), window_values.end());
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    if (values.size() % 2 == 1) return *middle;
    return (*std::max_element(values.begin(), middle) + *middle) / 2;
}

double Series::trimmed_mean(int first_age, int window) const {
    const std::span<const double> window_values = recent(first_age, window);
    std::vector<double> values(window_values.begin(), window_values.end());
    std::sort(values.begin(), values.end());
    const std::size_t cut = values.size() / 4;
    return mean_of(std::span(values).subspan(cut, values.size() - 2 * cut));
}

namespace {

/// It stays as it is: best where the quantity changes in steps, and after each step.
double last_value(const Series& series, double, ForecasterMemory&) { return series.at(0); }

/// The mean of all measurements: best where they scatter about a level that does not change.
double running_mean(const Series& series, double, ForecasterMemory& mean) {
    mean += (series.at(0) - mean) / static_cast<double>(series.count());
    return mean;
}

// Over the newest few measurements. A mean follows a level that moves slowly; single outliers do not move a median;
// a mean without the extremes is as steady as the one over scatter and as deaf as the other to outliers.
using OverWindow = double (Series::*)(int first_age, int window) const;

template <OverWindow over_window>
double sliding(const Series& series, double window, ForecasterMemory&) {
    return (series.*over_window)(0, static_cast<int>(window));
}

/// The window finds its own length: after each measurement it becomes longer or shorter by one if that window would
/// have foretold the measurement better.
template <OverWindow over_window>
double adaptive(const Series& series, double most_window, ForecasterMemory& memory) {
    const int present = std::max(static_cast<int>(memory), 1);
    int best = present;
    if (series.kept() > 1) {
        double least_error = std::abs((series.*over_window)(1, present) - series.at(0));
        for (const int window : {present - 1, present + 1}) {
            if (window < 1 || window > static_cast<int>(most_window)) continue;
            const double error = std::abs((series.*over_window)(1, window) - series.at(0));
            if (error >= least_error) continue;
            least_error = error;
            best = window;
        }
    }
    memory = best;
    return (series.*over_window)(0, best);
}

/// A level that goes a fixed part of the way towards each measurement: old ones fade, none is
/// forgotten at once.
double exponential_smoothing(const Series& series, double gain, ForecasterMemory& level) {
    level = series.count() == 1 ? series.at(0) : level + gain * (series.at(0) - level);
    return level;
}

}  // namespace

std::span<const Forecaster, forecaster_count> forecasters() {
    static constexpr std::array<Forecaster, forecaster_count> table = {{
        {"last value", last_value, 0},
        {"running mean", running_mean, 0},
        {"mean of 4", sliding<&Series::mean>, 4},
        {"mean of 8", sliding<&Series::mean>, 8},
        {"mean of 16", sliding<&Series::mean>, 16},
        {"mean of 31", sliding<&Series::mean>, 31},
        {"median of 5", sliding<&Series::median>, 5},
        {"median of 11", sliding<&Series::median>, 11},
        {"median of 31", sliding<&Series::median>, 31},
        {"trimmed mean of 31", sliding<&Series::trimmed_mean>, 31},
        {"adaptive mean", adaptive<&Series::mean>, 31},
        {"adaptive median", adaptive<&Series::median>, 31},
        {"smoothing 0.05", exponential_smoothing, 0.05},
        {"smoothing 0.1", exponential_smoothing, 0.1},
        {"smoothing 0.25", exponential_smoothing, 0.25},
        {"smoothing 0.5", exponential_smoothing, 0.5},
    }};
    return table;
}

namespace {

/// The weight of the newest error, once there were enough of them for it to be the smaller one.
constexpr double least_gain = 1.0 / 32;

}  // namespace

void Bank::measured(double value) {
    if (!std::isfinite(value)) broken_invariant("finite measurements", 0, 1);
    const auto errors_before = static_cast<double>(series_.count()) - 1;
    if (series_.count() > 0) {
        const double gain = std::max(1 / (errors_before + 1), least_gain);
        for (Runner& runner : runners_) {
            const double error = std::abs(value - runner.forecast);
            runner.mean_absolute_error += gain * (error - runner.mean_absolute_error);
            runner.mean_squared_error += gain * (error * error - runner.mean_squared_error);
        }
    }
    series_.add(value);
    for (std::size_t i = 0; i < forecaster_count; ++i) {
        const Forecaster& row = forecasters()[i];
        runners_[i].forecast = row.foretell(series_, row.parameter, runners_[i].memory);
    }
}

std::optional<Forecast> Bank::forecast() const {
    if (series_.count() == 0) return std::nullopt;
    const auto speaker =
        std::min_element(runners_.begin(), runners_.end(), [](const Runner& a, const Runner& b) {
            return a.mean_absolute_error < b.mean_absolute_error;
        });
    const auto row = static_cast<std::size_t>(speaker - runners_.begin());
    return Forecast{speaker->forecast, speaker->mean_absolute_error, forecasters()[row].name,
                    std::sqrt(speaker->mean_squared_error)};
}

}  // namespace mutirao
