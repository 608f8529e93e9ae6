#include "core/selection/course.h"

#include <utility>

#include "core/selection/interval.h"

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

}  // namespace mutirao
