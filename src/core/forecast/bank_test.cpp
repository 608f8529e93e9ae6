#include "core/forecast/bank.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <numeric>
#include <random>
#include <string>
#include <vector>

namespace mutirao {
namespace {

using Values = std::vector<double>;

Values last(const Values& values, std::size_t window) {
    return {values.end() - static_cast<std::ptrdiff_t>(std::min(window, values.size())),
            values.end()};
}

double mean(const Values& values) {
    return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double median(Values values) {
    std::sort(values.begin(), values.end());
    const std::size_t half = values.size() / 2;
    return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

double trimmed(Values values) {
    std::sort(values.begin(), values.end());
    const std::size_t cut = values.size() / 4;
    return mean({values.begin() + static_cast<std::ptrdiff_t>(cut),
                 values.end() - static_cast<std::ptrdiff_t>(cut)});
}

/// The sum that defines it, instead of the recursion.
double smoothed(const Values& values, double gain) {
    double sum = std::pow(1 - gain, static_cast<double>(values.size() - 1)) * values.front();
    for (std::size_t i = 1; i < values.size(); ++i) {
        sum += gain * std::pow(1 - gain, static_cast<double>(values.size() - 1 - i)) * values[i];
    }
    return sum;
}

/// Walks the whole history anew.
double adaptive(const Values& values, double (*of)(Values)) {
    std::size_t window = 1;
    for (std::size_t known = 1; known < values.size(); ++known) {
        const Values before(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(known));
        std::map<double, std::size_t> by_error;
        for (std::size_t each : {window, window - 1, window + 1}) {
            if (each < 1 || each > 31) continue;
            by_error.emplace(std::abs(of(last(before, each)) - values[known]), each);
        }
        window = by_error.begin()->second;
    }
    return of(last(values, window));
}

std::map<std::string, double> expected(const Values& v) {
    return {
        {"last value", v.back()},
        {"running mean", mean(v)},
        {"mean of 4", mean(last(v, 4))},
        {"mean of 8", mean(last(v, 8))},
        {"mean of 16", mean(last(v, 16))},
        {"mean of 31", mean(last(v, 31))},
        {"median of 5", median(last(v, 5))},
        {"median of 11", median(last(v, 11))},
        {"median of 31", median(last(v, 31))},
        {"trimmed mean of 31", trimmed(last(v, 31))},
        {"adaptive mean", adaptive(v, [](Values w) { return mean(w); })},
        {"adaptive median", adaptive(v, median)},
        {"smoothing 0.05", smoothed(v, 0.05)},
        {"smoothing 0.1", smoothed(v, 0.1)},
        {"smoothing 0.25", smoothed(v, 0.25)},
        {"smoothing 0.5", smoothed(v, 0.5)},
    };
}

double noisy(std::mt19937& random) {
    return std::lognormal_distribution<double>(4, 0.5)(random);
}

// Caught when planted: a window one too long, an even median of one value, a trim of both ends at
// one end, a ring that overwrites its newest value.
TEST(Forecasters, SayWhatTheirDefinitionsSay) {
    std::mt19937 random(7);
    Series series;
    std::array<ForecasterMemory, forecaster_count> memories{};
    Values values;
    for (int step = 0; step < 150; ++step) {
        series.add(values.emplace_back(noisy(random)));
        const auto wanted = expected(values);
        ASSERT_EQ(wanted.size(), forecaster_count);
        for (std::size_t i = 0; i < forecaster_count; ++i) {
            const auto& [name, foretell, parameter] = forecasters()[i];
            ASSERT_NEAR(foretell(series, parameter, memories[i]), wanted.at(std::string(name)), 1e-9) << name << step;
        }
    }
}

// Caught when planted: an error taken of the forecast made after the measurement, errors that never forget.
TEST(Bank, TheOneWithTheLowestErrorSpeaksAndErrorsForgetWithAMemoryOf32) {
    EXPECT_FALSE(Bank().forecast());
    std::mt19937 random(8);
    Bank bank;
    Values values;
    std::map<std::string, double> foretold, absolute, squared;
    for (int step = 0; step < 100; ++step) {
        values.push_back(noisy(random));
        const double gain = step <= 32 ? 1.0 / step : 1.0 / 32;
        for (const auto& [name, forecast] : foretold) {
            const double error = std::abs(values.back() - forecast);
            absolute[name] = (1 - gain) * absolute[name] + gain * error;
            squared[name] = (1 - gain) * squared[name] + gain * error * error;
        }
        foretold = expected(values);
        bank.measured(values.back());
        if (step == 0) continue;
        const Forecast said = bank.forecast().value();
        const std::string name(said.forecaster);
        EXPECT_NEAR(said.value, foretold.at(name), 1e-9);
        EXPECT_NEAR(said.error, absolute.at(name), 1e-9) << name;
        EXPECT_NEAR(said.root_mean_square_error, std::sqrt(squared.at(name)), 1e-6) << name;
        for (const auto& [other, error] : absolute) EXPECT_GE(error, said.error - 1e-9) << other;
    }
}

TEST(Bank, IsSmallEnoughForEveryLink) { EXPECT_LE(sizeof(Bank), 1024U); }

TEST(BankDeathTest, RefusesWhatIsNoNumber) {
    Bank bank;
    EXPECT_DEATH(bank.measured(std::nan("")), "finite");
}

}  // namespace
}  // namespace mutirao
