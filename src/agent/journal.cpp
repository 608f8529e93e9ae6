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

}  // namespace

SeriesFile::SeriesFile(std::string path, int host) : host_(host) {
    if (path.empty()) return;
    sqlite3* database = nullptr;
    const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
    const int opened = sqlite3_open_v2(path.c_str(), &database, flags, nullptr);
    database_.reset(database);
    if (opened != SQLITE_OK) {
        stop(sqlite3_errstr(opened));
        return;
    }
    sqlite3_busy_timeout(database, busy_timeout_ms);
    flush();
}

SeriesFile::~SeriesFile() { flush(); }

void SeriesFile::measured(double time_s, std::string_view sensor, int other, double value) {
    if (kept()) rows_.push_back({time_s, sensor, other, value, {}});
}

void SeriesFile::event(double time_s, std::string_view text) {
    if (kept()) rows_.push_back({time_s, {}, -1, 0, std::string(text)});
}

void SeriesFile::flush() {
    if (!kept() || (set_up_ && rows_.empty())) return;
    if (!set_up_) set_up_ = profile::execute(database_.get(), set_up);
    const bool begun = set_up_ && profile::execute(database_.get(), "BEGIN IMMEDIATE");
    if (begun && write_rows() && profile::execute(database_.get(), "COMMIT")) {
        rows_.clear();
        busy_flushes_ = 0;
        return;
    }
    const int error = sqlite3_errcode(database_.get());
    const bool busy = error == SQLITE_BUSY || error == SQLITE_LOCKED;
    const std::string reason = sqlite3_errmsg(database_.get());
    if (begun) profile::execute(database_.get(), "ROLLBACK");
    if (!busy || ++busy_flushes_ > most_busy_flushes) stop(reason);
}

bool SeriesFile::write_rows() {
    profile::Statement measurement(database_.get(), "INSERT INTO measurement VALUES(?, ?, ?, ?, ?)");
    profile::Statement event(database_.get(), "INSERT INTO event VALUES(?, ?, ?)");
    if (!measurement || !event) return false;
    for (const Row& row : rows_) {
        const bool is_event = row.sensor.empty();
        if (is_event)
            event << row.time_s << host_ << row.text;
        else
            measurement << row.time_s << row.sensor << host_ << row.other << row.value;
        if (!(is_event ? event : measurement).run()) return false;
    }
    return true;
}

void SeriesFile::stop(std::string_view reason) {
    stopped_ = reason;
    database_.reset();
    rows_ = {};
}

namespace {

double wall_s() { return static_cast<double>(wall_ns()) / ns_per_s; }

}  // namespace

void Journal::measured(std::string_view sensor, int other, double value) {
    series_.measured(wall_s(), sensor, other, value);
}

void Journal::measured_latency(int other, double latency_us) {
    std::deque<double>& recent = recent_[static_cast<std::size_t>(other)];
    recent.push_back(latency_us);
    if (recent.size() > most_recent) recent.pop_front();
    measured("latency_us", other, latency_us);
}

void Journal::event(std::string text) {
    const double time_s = wall_s();
    series_.event(time_s, text);
    events_.push_back({time_s, std::move(text)});
    if (events_.size() > most_events) events_.pop_front();
}

}  // namespace mutirao::agent
