// What an agent measured and met, for people.
#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "profile/sqlite.h"

namespace mutirao::agent {

struct Event {
    double time_s = 0;  ///< since 1970
    std::string text;
};

/// What people may want to look at later: the newest measurements and events, in memory for the shared
/// view and, when asked for, all of them in an SQLite file, the series. The agent works on whatever
/// becomes of it: the first error ends the series, not the agent.
///
/// Tables: measurement(time_s, sensor, host, other, value), `other` -1 for what concerns one host only;
/// event(time_s, host, text). Times in seconds since 1970, units in the sensor's name.
class Journal {
  public:
    static constexpr std::size_t most_events = 64;
    static constexpr std::size_t most_recent = 16;

    /// `series_file` empty: no series is kept.
    Journal(const std::string& series_file, int host, int host_count);

    /// `sensor`: of static storage, as all names of sensors are.
    void measured(std::string_view sensor, int other, double value);
    /// Half a round trip of the link to `other`.
    void measured_latency(int other, double latency_us);
    void event(std::string text);
    /// Writes what has come together, in one transaction. Waits for a lock a few milliseconds only.
    void flush();

    /// Both with the oldest first.
    const std::deque<double>& recent_us(int other) const { return recent_[static_cast<std::size_t>(other)]; }
    const std::deque<Event>& events() const { return events_; }
    bool keeps_series() const { return database_ != nullptr; }
    /// Why the series ended; empty while it is kept, and if none was asked for.
    const std::string& series_stopped() const { return stopped_; }

  private:
    struct Row {
        double time_s;
        std::string_view sensor;  ///< of static storage; empty: an event
        int other;
        double value;
        std::string text;
    };

    void stop(std::string_view reason);
    void write_rows();

    int host_;
    std::vector<std::deque<double>> recent_;
    std::deque<Event> events_;
    profile::Database database_;
    bool set_up_ = false;
    int busy_flushes_ = 0;  ///< in a row, at which another held the file
    std::vector<Row> rows_;  ///< not written yet
    std::string stopped_;
};

}  // namespace mutirao::agent
