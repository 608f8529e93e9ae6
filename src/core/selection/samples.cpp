#include "core/selection/samples.h"

#include <algorithm>
#include <cmath>

#include "core/selection/interval.h"

namespace mutirao {
namespace {

/// Where fewer samples are known their scatter is taken to be at least this.
constexpr std::size_t few_samples = 4, some_samples = 8;
constexpr double scatter_of_few = 0.05, scatter_of_some = 0.02, scatter_of_many = 0.01;
constexpr std::size_t least_to_compare = 3;

double variance_of_ratio(double scatter, std::size_t samples, std::size_t others) {
    return scatter * scatter * (1 / static_cast<double>(samples) + 1 / static_cast<double>(others));
}

void push(std::vector<double>& values, double value) {
    values.push_back(value);
    if (values.size() > SampleSeries::most) values.erase(values.begin());
}

}  // namespace

void SampleSeries::add(const Sample& sample) {
    push(times_us, sample.time_us);
    if (sample.lap_us > 0) push(laps_us, sample.lap_us);
}

double SampleSeries::time_us() const { return median_of(times_us); }

Ratio Ratio::with(const Ratio& other) const {
    if (!known()) return other;
    if (!other.known()) return *this;
    const double mine = 1 / variance, its = 1 / other.variance;
    return {(value * mine + other.value * its) / (mine + its), 1 / (mine + its)};
}

Difference Difference::renewed_by(const Difference& now) const {
    const double before_us2 = 2 * variance_us2;
    const double sum_us2 = before_us2 + now.variance_us2;
    if (sum_us2 <= 0 || std::abs(us - now.us) > clear_deviations * std::sqrt(sum_us2)) return now;
    return {(us * now.variance_us2 + now.us * before_us2) / sum_us2, before_us2 * now.variance_us2 / sum_us2};
}

Difference median_difference(const std::vector<double>& samples, const std::vector<double>& others) {
    const auto known_by_us2 = [](const std::vector<double>& values) {
        const double deviation_us = relative_scatter(values) * median_of(values);
        return deviation_us * deviation_us / static_cast<double>(values.size());
    };
    return {median_of(samples) - median_of(others), known_by_us2(samples) + known_by_us2(others)};
}

double relative_scatter(const std::vector<double>& samples) {
    const double least = samples.size() < few_samples    ? scatter_of_few
                         : samples.size() < some_samples ? scatter_of_some
                                                         : scatter_of_many;
    const double median = median_of(samples);
    return median > 0 ? std::max(scatter_of(samples) / median, least) : least;
}

Ratio ratio_of(const std::vector<double>& samples, const std::vector<double>& others, double least_scatter) {
    const double others_median = median_of(others);
    if (samples.empty() || others.size() < 2 || others_median <= 0) return {};
    double scatter = std::max(relative_scatter(others), least_scatter);
    if (samples.size() >= few_samples) scatter = std::max(scatter, relative_scatter(samples));
    return {median_of(samples) / others_median, variance_of_ratio(scatter, samples.size(), others.size())};
}

bool clearly_longer(const std::vector<double>& samples, const std::vector<double>& others) {
    if (samples.size() < least_to_compare || others.size() < least_to_compare) return false;
    return ratio_of(samples, others).low() > 1;
}

}  // namespace mutirao
