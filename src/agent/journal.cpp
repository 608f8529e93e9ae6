#include "agent/journal.h"

#include "agent/system.h"

namespace mutirao::agent {
namespace {

constexpr int busy_timeout_ms = 20;
/// Locked at so many flushes in a row, and the series ends; until then rows wait.
constexpr int most_busy_flushes = 60;

/// A rollback journal, since several hosts may write one file on NFS; without its syncs a crash of the machine may
/// spoil the file, but history is not worth stalls of the agent. 64 K pages of 4 KiB: about three days of 24 hosts.
constexpr const char* set_up =
    "PRAGMA journal_mode = TRUNCATE;"
    "PRAGMA synchronous = OFF;"
    "PRAGMA cache_size = -256;"
    "PRAGMA max_page_count = 65536;"
    "CREATE TABLE IF NOT EXISTS measurement("
    "time_s REAL, sensor TEXT, host INTEGER, other INTEGER, value REAL);"
    "CREATE INDEX IF NOT EXISTS measurement_of ON measurement(host, other, sensor, time_s);"
    "CREATE TABLE IF NOT EXISTS event(time_s REAL, host INTEGER, text TEXT);";

double wall_s() { return static_cast<double>(wall_ns()) / ns_per_s; }

}  // namespace

Journal::Journal(const std::string& series_file, int host, int host_count)
    : host_(host), recent_(static_cast<std::size_t>(host_count)) {
    if (series_file.empty()) return;
    try {
        database_ = profile::open(series_file, SQLITE_OPEN_CREATE, busy_timeout_ms);
    } catch (const profile::Refused& refused) {
        stop(refused.reason);
    }
    flush();
}

void Journal::measured(std::string_view sensor, int other, double value) {
    if (keeps_series()) rows_.push_back({wall_s(), sensor, other, value, {}});
}

void Journal::measured_latency(int other, double latency_us) {
    std::deque<double>& recent = recent_[static_cast<std::size_t>(other)];
    recent.push_back(latency_us);
    if (recent.size() > most_recent) recent.pop_front();
    measured("latency_us", other, latency_us);
}

void Journal::event(std::string text) {
    const double time_s = wall_s();
    if (keeps_series()) rows_.push_back({time_s, {}, -1, 0, text});
    events_.push_back({time_s, std::move(text)});
    if (events_.size() > most_events) events_.pop_front();
}

void Journal::flush() {
    if (!keeps_series() || (set_up_ && rows_.empty())) return;
    try {
        if (!set_up_) profile::execute(database_, set_up);
        set_up_ = true;
        profile::execute(database_, "BEGIN IMMEDIATE");
        write_rows();
        profile::execute(database_, "COMMIT");
        rows_.clear();
        busy_flushes_ = 0;
    } catch (const profile::Refused& refused) {
        sqlite3_exec(database_.get(), "ROLLBACK", nullptr, nullptr, nullptr);  // in vain unless it was begun
        if (!refused.busy() || ++busy_flushes_ > most_busy_flushes) stop(refused.reason);
    }
}

void Journal::write_rows() {
    profile::Statement measurement(database_, "INSERT INTO measurement VALUES(?, ?, ?, ?, ?)");
    profile::Statement event(database_, "INSERT INTO event VALUES(?, ?, ?)");
    for (const Row& row : rows_) {
        if (row.sensor.empty()) {
            event << row.time_s << host_ << row.text;
            event.run();
        } else {
            measurement << row.time_s << row.sensor << host_ << row.other << row.value;
            measurement.run();
        }
    }
}

void Journal::stop(std::string_view reason) {
    stopped_ = reason;
    database_.reset();
    rows_ = {};
}

}  // namespace mutirao::agent
