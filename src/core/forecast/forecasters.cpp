#include "core/forecast/forecasters.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace mutirao {
namespace {

/// It stays as it is: best where the quantity changes in steps, and after each step.
double last_value(const Series& series, double, ForecasterMemory&) { return series.at(0); }

/// The mean of all measurements: best where they scatter about a level that does not change.
double running_mean(const Series& series, double, ForecasterMemory& mean) {
    mean += (series.at(0) - mean) / static_cast<double>(series.count());
    return mean;
}

/// The mean of the newest few measurements: follows a level that moves slowly.
double sliding_mean(const Series& series, double window, ForecasterMemory&) {
    return series.mean(0, static_cast<int>(window));
}

/// The median of the newest few measurements: single outliers do not move it.
double sliding_median(const Series& series, double window, ForecasterMemory&) {
    return series.median(0, static_cast<int>(window));
}

/// Left out at each end.
constexpr double trimmed_share = 0.25;

/// The mean of the newest measurements without the extremes: as steady as a mean over scatter, as
/// deaf as a median to outliers.
double trimmed_mean(const Series& series, double window, ForecasterMemory&) {
    return series.trimmed_mean(0, static_cast<int>(window), trimmed_share);
}

// Mean and median over a window that finds its own length: after each measurement it becomes longer
// or shorter by one if that window would have foretold the measurement better.
using OverWindow = double (Series::*)(int first_age, int window) const;

double adaptive(const Series& series, OverWindow over_window, double most_window,
                ForecasterMemory& memory) {
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

double adaptive_mean(const Series& series, double most_window, ForecasterMemory& memory) {
    return adaptive(series, &Series::mean, most_window, memory);
}

double adaptive_median(const Series& series, double most_window, ForecasterMemory& memory) {
    return adaptive(series, &Series::median, most_window, memory);
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
        {"mean of 4", sliding_mean, 4},
        {"mean of 8", sliding_mean, 8},
        {"mean of 16", sliding_mean, 16},
        {"mean of 31", sliding_mean, 31},
        {"median of 5", sliding_median, 5},
        {"median of 11", sliding_median, 11},
        {"median of 31", sliding_median, 31},
        {"trimmed mean of 31", trimmed_mean, 31},
        {"adaptive mean", adaptive_mean, 31},
        {"adaptive median", adaptive_median, 31},
        {"smoothing 0.05", exponential_smoothing, 0.05},
        {"smoothing 0.1", exponential_smoothing, 0.1},
        {"smoothing 0.25", exponential_smoothing, 0.25},
        {"smoothing 0.5", exponential_smoothing, 0.5},
    }};
    return table;
}

}  // namespace mutirao
