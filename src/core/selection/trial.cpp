#include "core/selection/trial.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/text/invariant.h"

namespace mutirao {
namespace {

constexpr double confidence = 0.98;
/// From so many windows on an arm that was far slower in each is given up.
constexpr std::size_t least_windows = 2;

/// SplitMix64 (Steele, Lea and Flood 2014, doi:10.1145/2660193.2660195).
std::uint64_t mixed(std::uint64_t value) {
    value += 0x9E3779B97F4A7C15u;
    value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9u;
    value = (value ^ (value >> 27)) * 0x94D049BB133111EBu;
    return value ^ (value >> 31);
}

/// How many samples may be left out at each end so that the rest still holds the median: the lower tail of
/// the binomial distribution with a half.
std::size_t left_out(std::size_t samples) {
    const double each = std::pow(0.5, static_cast<double>(samples));
    double term = each, tail = each;
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

// A window goes through the arms from a random one on, in random strides: no arm always follows the same one.
int Turns::arm_of(std::uint64_t call) const {
    const auto count = static_cast<std::uint64_t>(arms);
    const std::uint64_t turn = call / static_cast<std::uint64_t>(repetitions);
    const std::uint64_t random = mixed(turn / count);
    std::uint64_t stride = 1 + (random >> 32) % count;
    while (std::gcd(stride, count) != 1) ++stride;
    return static_cast<int>((random % count + stride * (turn % count)) % count);
}

Trial::Interval median_interval(std::vector<double> samples) {
    if (samples.empty()) return {};
    std::sort(samples.begin(), samples.end());
    const std::size_t outside = samples.size() < least_samples ? 0 : left_out(samples.size());
    return {samples[outside], median_of_sorted(samples), samples[samples.size() - 1 - outside]};
}

Trial::Trial(int arms, Rules rules)
    : rules_(rules),
      alive_(static_cast<std::size_t>(arms)),
      times_(static_cast<std::size_t>(arms)) {
    std::iota(alive_.begin(), alive_.end(), 0);
}

void Trial::add_window(const std::vector<double>& times) {
    if (times.size() != alive_.size()) {
        broken_invariant("times of a window (times, arms)", static_cast<long long>(times.size()),
                         static_cast<long long>(alive_.size()));
    }
    for (std::size_t i = 0; i < times.size(); ++i) {
        times_[static_cast<std::size_t>(alive_[i])].push_back(times[i]);
    }
    ++windows_;
    const int best = fastest();
    std::erase_if(alive_, [&](int arm) { return arm != best && loses(arm, best); });
    if (alive_.size() == 2 && alive_.front() == 0 && ties_with_first(alive_.back())) alive_ = {0};
    if (static_cast<int>(windows_) >= rules_.most_windows) {
        const bool tie = std::find(alive_.begin(), alive_.end(), 0) != alive_.end();
        alive_ = {tie ? 0 : fastest()};
    }
}

bool Trial::loses(int arm, int best) const {
    const std::vector<double> slower = ratios(arm, best);
    if (slower.size() >= least_windows &&
        *std::min_element(slower.begin(), slower.end()) > rules_.far_slower) {
        return true;
    }
    // What is slower by the median, and not faster by more than the margin, is not worth more trials.
    const double margin = arm == 0 ? 1 + rules_.margin : 1 - rules_.margin;
    return slower.size() >= least_samples && median_interval(slower).low > margin;
}

bool Trial::ties_with_first(int arm) const {
    const std::vector<double> slower = ratios(0, arm);
    return slower.size() >= least_samples && median_interval(slower).high <= 1 + rules_.margin;
}

std::vector<double> Trial::ratios(int arm, int best) const {
    const auto& mine = times_[static_cast<std::size_t>(arm)];
    const auto& its = times_[static_cast<std::size_t>(best)];
    std::vector<double> result(std::min(mine.size(), its.size()));
    for (std::size_t i = 0; i < result.size(); ++i) result[i] = mine[i] / its[i];
    return result;
}

int Trial::fastest() const {
    return *std::min_element(alive_.begin(), alive_.end(), [&](int a, int b) {
        return time_of(a).median < time_of(b).median;
    });
}

Trial::Interval Trial::time_of(int arm) const {
    return median_interval(times_[static_cast<std::size_t>(arm)]);
}

}  // namespace mutirao
