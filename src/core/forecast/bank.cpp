#include "core/forecast/bank.h"

#include <cmath>

#include "core/text/invariant.h"

namespace mutirao {
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

std::vector<Standing> Bank::standings() const {
    std::vector<Standing> result;
    if (series_.count() == 0) return result;
    for (std::size_t i = 0; i < forecaster_count; ++i) {
        const Runner& runner = runners_[i];
        result.push_back({forecasters()[i].name, runner.forecast, runner.mean_absolute_error,
                          runner.mean_squared_error});
    }
    return result;
}

}  // namespace mutirao
