#include "core/selection/clocked_calls.h"

#include <algorithm>
#include <utility>

#include "core/selection/samples.h"

namespace mutirao {

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
