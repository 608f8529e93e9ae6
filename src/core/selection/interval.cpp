#include "core/selection/interval.h"

#include <algorithm>
#include <cmath>

namespace mutirao {
namespace {

constexpr double confidence = 0.98;
/// So few samples prove nothing: their extremes hold the median less surely.
constexpr std::size_t least_samples = 7;
/// Of a normal distribution the standard deviation over the median distance from the median.
constexpr double normal_deviation_ratio = 1.4826;

/// How many samples may be left out at each end so that the rest still holds the median: the lower tail of
/// the binomial distribution with a half.
std::size_t left_out(std::size_t samples) {
    double term = std::pow(0.5, static_cast<double>(samples)), tail = term;
    std::size_t count = 0;
    while (2 * (tail += term *= static_cast<double>(samples - count) /
                                static_cast<double>(count + 1)) <= 1 - confidence) {
        ++count;
    }
    return count;
}

double median_of_sorted(const std::vector<double>& sorted) {
    const std::size_t middle = sorted.size() / 2;
    return sorted.size() % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

}  // namespace

Interval median_interval(std::vector<double> samples) {
    if (samples.empty()) return {};
    std::sort(samples.begin(), samples.end());
    const std::size_t outside = samples.size() < least_samples ? 0 : left_out(samples.size());
    return {samples[outside], median_of_sorted(samples), samples[samples.size() - 1 - outside]};
}

double median_of(std::vector<double> samples) {
    if (samples.empty()) return 0;
    std::sort(samples.begin(), samples.end());
    return median_of_sorted(samples);
}

double scatter_of(const std::vector<double>& samples) {
    if (samples.size() < 2) return 0;
    const double median = median_of(samples);
    std::vector<double> distances;
    for (const double sample : samples) distances.push_back(std::abs(sample - median));
    return normal_deviation_ratio * median_of(std::move(distances));
}

}  // namespace mutirao
