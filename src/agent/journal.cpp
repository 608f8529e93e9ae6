#include "agent/journal.h"

#include "agent/clock.h"

namespace mutirao::agent {
namespace {

double wall_s() { return static_cast<double>(wall_ns()) / ns_per_s; }

}  // namespace

void Journal::measured(std::string_view sensor, int other, double value) {
    series_.measured(wall_s(), sensor, other, value);
}

void Journal::measured_latency(int other, double latency_us) {
    std::deque<double>& recent = recent_[static_cast<std::size_t>(other)];
    recent.push_back(latency_us);
    if (recent.size() > LinkStatus::most_recent) recent.pop_front();
    measured("latency_us", other, latency_us);
}

void Journal::event(std::string text) {
    const double time_s = wall_s();
    series_.event(time_s, text);
    events_.push_back({time_s, std::move(text)});
    if (events_.size() > most_events) events_.pop_front();
}

std::vector<double> Journal::recent_us(int other) const {
    const std::deque<double>& recent = recent_[static_cast<std::size_t>(other)];
    return {recent.begin(), recent.end()};
}

}  // namespace mutirao::agent
