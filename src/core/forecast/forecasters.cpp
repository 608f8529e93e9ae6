#include "core/forecast/forecasters.h"

namespace mutirao {

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
