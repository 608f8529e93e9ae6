// Mean and median over a window that finds its own length: after each measurement it becomes longer
// or shorter by one if that window would have foretold the measurement better.
#include <cmath>

#include "core/forecast/forecasters.h"

namespace mutirao {
namespace {

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

}  // namespace

double adaptive_mean(const Series& series, double most_window, ForecasterMemory& memory) {
    return adaptive(series, &Series::mean, most_window, memory);
}

double adaptive_median(const Series& series, double most_window, ForecasterMemory& memory) {
    return adaptive(series, &Series::median, most_window, memory);
}

}  // namespace mutirao
