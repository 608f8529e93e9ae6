#include "core/selection/samples.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

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

/// Where fewer samples are known their scatter is taken to be at least this.
constexpr std::size_t few_samples = 4, some_samples = 8;
constexpr double scatter_of_few = 0.05, scatter_of_some = 0.02, scatter_of_many = 0.01;
constexpr std::size_t least_to_compare = 3;
/// The newest ones of a series, all but one of which differ by so much from those before, may be the first ones of
/// another time, or are known to be.
constexpr std::size_t first_of_a_shift = 3, whole_shift = 5, least_before_a_shift = 4;
constexpr double shift_ratio = 1.25;

double variance_of_ratio(double scatter, std::size_t samples, std::size_t others) {
    return scatter * scatter * (1 / static_cast<double>(samples) + 1 / static_cast<double>(others));
}

void push(std::vector<double>& values, double value) {
    values.push_back(value);
    if (values.size() > SampleSeries::most) values.erase(values.begin());
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

bool SampleSeries::add(const Sample& sample) {
    push(times_us, sample.time_us);
    if (sample.lap_us > 0) push(laps_us, sample.lap_us);
    const bool shifted = newest_differ(whole_shift);
    if (shifted) *this = {{times_us.end() - whole_shift, times_us.end()}, {}};
    return shifted;
}

// From nearly all before them, all in one direction.
bool SampleSeries::newest_differ(std::size_t count) const {
    if (times_us.size() < least_before_a_shift + count) return false;
    const std::size_t most_newest = std::min<std::size_t>(whole_shift, times_us.size() - least_before_a_shift);
    std::vector<double> before(times_us.begin(), times_us.end() - static_cast<std::ptrdiff_t>(most_newest));
    std::sort(before.begin(), before.end());
    const double low_us = before[1] / shift_ratio, high_us = before[before.size() - 2] * shift_ratio;
    const auto newest = std::span(times_us).last(count);
    const auto longer = std::ranges::count_if(newest, [&](double time_us) { return time_us > high_us; });
    const auto shorter = std::ranges::count_if(newest, [&](double time_us) { return time_us < low_us; });
    return static_cast<std::size_t>(std::max(longer, shorter)) + 1 >= count;
}

bool SampleSeries::shifts() const { return newest_differ(first_of_a_shift); }

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
    if (sum_us2 <= 0) return now;
    const double doubt = std::max((us - now.us) * (us - now.us) / sum_us2, 1.0);
    return {(us * now.variance_us2 + now.us * before_us2) / sum_us2,
            before_us2 * now.variance_us2 / sum_us2 * doubt};
}

void Difference::doubt() {
    constexpr double share = 0.1;
    variance_us2 += share * us * share * us;
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

bool Course::add(double begun_us, double ended_us) {
    sum_.time_us += ended_us - begun_us;
    sum_.lap_us += ended_us - last_end_us_;
    knows_laps_ = knows_laps_ && last_end_us_ > 0;
    last_end_us_ = ended_us;
    if (++calls_ % clocking_.calls_per_sample != 0) return false;
    const double calls = clocking_.calls_per_sample;
    samples_.push_back({sum_.time_us / calls, knows_laps_ ? sum_.lap_us / calls : 0});
    sum_ = {};
    knows_laps_ = true;
    return clocking_.tells_after(static_cast<std::uint32_t>(calls_ / clocking_.calls_per_sample));
}

double Course::untold_us() const {
    std::vector<double> times_us;
    for (const Sample& each : samples_) times_us.push_back(each.time_us);
    return times_us.empty() ? 0 : median_of(times_us);
}

TimeReport Course::take_report() {
    const std::uint32_t first = told_;
    told_ += static_cast<std::uint32_t>(samples_.size());
    return {shapes_, ruling_, first, std::exchange(samples_, {})};
}

void ClockedCalls::begin(std::uint32_t ruling, const Clocking& clocking) {
    ruling_ = ruling;
    clocking_ = clocking;
    told_.assign(clocking.samples(), {});
}

void ClockedCalls::add(const TimeReport& report) {
    for (std::size_t i = 0; i < report.samples.size(); ++i) {
        const std::size_t number = report.first + i;
        if (number >= told_.size()) return;
        Told& all = told_[number];
        const Sample& one = report.samples[i];
        ++all.reports;
        all.sum.time_us += one.time_us;
        all.sum.lap_us += one.lap_us;
        all.slowest.time_us = std::max(all.slowest.time_us, one.time_us);
        all.slowest.lap_us = std::max(all.slowest.lap_us, one.lap_us);
    }
}

bool ClockedCalls::knows_until(std::uint32_t end) const {
    for (std::uint32_t i = 0; i < end; ++i) {
        if (!knows(i)) return false;
    }
    return true;
}

// Where every rank waits for every other their mean is the least disturbed. Elsewhere the slowest one alone tells
// what a row of calls takes.
Sample ClockedCalls::sample(std::uint32_t number) const {
    const Told& all = told_[number];
    if (one_way_) return all.slowest;
    return {all.sum.time_us / reporters_, all.sum.lap_us / reporters_};
}

template <typename Value>
std::vector<double> ClockedCalls::known(std::uint32_t begin, std::uint32_t end, Value value) const {
    std::vector<double> result;
    for (std::uint32_t i = begin; i < end; ++i) {
        if (knows(i)) result.push_back(value(i));
    }
    return result;
}

std::vector<double> ClockedCalls::times_us(std::uint32_t begin, std::uint32_t end) const {
    return known(begin, end, [this](std::uint32_t number) { return sample(number).time_us; });
}

std::vector<double> ClockedCalls::means_us(std::uint32_t begin, std::uint32_t end) const {
    return known(begin, end, [this](std::uint32_t number) { return mean_us(number); });
}

}  // namespace mutirao
