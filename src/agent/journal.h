// What people may want to look at later: the newest measurements and events, in memory for the shared
// view and, when asked for, in the series file.
#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "agent/series.h"
#include "agent/status.h"

namespace mutirao::agent {

class Journal {
  public:
    static constexpr std::size_t most_events = 64;

    Journal(std::string series_file, int host, int host_count)
        : series_(std::move(series_file), host), recent_(static_cast<std::size_t>(host_count)) {}

    /// `sensor`: of static storage, as all names of sensors are.
    void measured(std::string_view sensor, int other, double value);
    /// Half a round trip of the link to `other`.
    void measured_latency(int other, double latency_us);
    void event(std::string text);
    void flush() { series_.flush(); }

    std::vector<double> recent_us(int other) const;
    std::vector<EventStatus> events() const { return {events_.begin(), events_.end()}; }
    const std::string& series_stopped() const { return series_.stopped(); }

  private:
    SeriesFile series_;
    std::vector<std::deque<double>> recent_;
    std::deque<EventStatus> events_;
};

}  // namespace mutirao::agent
