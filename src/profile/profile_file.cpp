#include "profile/profile_file.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "core/text/numbers.h"

namespace mutirao::profile {
namespace {

constexpr const char* set_up =
    "PRAGMA synchronous = OFF;"
    "PRAGMA cache_size = -512;"
    "PRAGMA max_page_count = 16384;";  // of 4 KiB: some hundred thousand rows

/// The columns of a row's key, in the schema's order.
constexpr const char* select_row =
    "SELECT low_us, median_us, high_us, windows, measured_s FROM measurement WHERE fabric = ? AND mpi = ?"
    " AND ranks = ? AND hosts = ? AND most_on_a_host = ? AND collective = ? AND root = ? AND commutes = ?"
    " AND length_bytes = ? AND buffers = ? AND origin = ? AND candidate = ?";
constexpr const char* replace_row =
    "INSERT OR REPLACE INTO measurement VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
constexpr const char* select_rows =
    "SELECT ranks, hosts, most_on_a_host, collective, root, commutes, length_bytes, buffers, origin,"
    " candidate, low_us, median_us, high_us, windows, measured_s FROM measurement"
    " WHERE fabric = ? AND mpi = ?";

constexpr const char* select_runs =
    "SELECT ranks, hosts, most_on_a_host, length_s, CASE WHEN fabric = ? THEN saved_share END, measured_s FROM run"
    " WHERE mpi = ? AND program = ? ORDER BY fabric = ?, measured_s";
constexpr const char* replace_run = "INSERT OR REPLACE INTO run VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?)";
constexpr const char* forget_old_runs =
    "DELETE FROM run WHERE measured_s < (SELECT measured_s FROM run ORDER BY measured_s DESC LIMIT 1 OFFSET 1023)";

std::string_view text_of(Buffers buffers) { return buffers == Buffers::warm ? "warm" : "cold"; }
std::string_view text_of(Origin origin) { return origin == Origin::tuned ? "tuned" : "learned"; }

std::string text_of(const std::vector<double>& values) {
    std::string result;
    for (const double value : values) {
        char digits[32];
        char* const end = std::to_chars(digits, digits + sizeof digits, value).ptr;
        result += (result.empty() ? "" : ",") + std::string(&digits[0], end);
    }
    return result;
}

std::vector<double> values_in(const std::string& text) {
    std::vector<double> result;
    const char* const end = text.data() + text.size();
    for (const char* next = text.data(); next < end;) {
        double value = 0;
        const auto [stop, error] = std::from_chars(next, end, value);
        if (error != std::errc{}) return {};
        result.push_back(value);
        next = stop + 1;
    }
    return result;
}

void bind_key(Statement& statement, std::int64_t fabric, const std::string& mpi, const ProfileRow& row) {
    statement << fabric << mpi << row.ranks.ranks << row.ranks.hosts << row.ranks.most_on_a_host
              << to_string(row.collective()) << row.root << row.commutes << row.length_bytes << text_of(row.buffers)
              << text_of(row.origin) << to_string(row.candidate);
}

template <typename Columns>
void read_measured(Columns& columns, ProfileRow& row) {
    std::int64_t windows = 0;
    columns >> row.time_us.low >> row.time_us.median >> row.time_us.high >> windows >> row.measured_s;
    row.windows = static_cast<std::size_t>(std::max<std::int64_t>(windows, 0));
}

/// Nothing for what another version of the catalogue knew, or nobody can have measured.
template <typename Columns>
std::optional<ProfileRow> read_row(Columns& columns) {
    std::int64_t commutes = 0, length = 0;
    std::string collective, buffers, origin, candidate;
    ProfileRow row;
    columns >> row.ranks.ranks >> row.ranks.hosts >> row.ranks.most_on_a_host >> collective >> row.root >> commutes >>
        length >> buffers >> origin >> candidate;
    row.commutes = commutes != 0;
    row.length_bytes = static_cast<std::size_t>(length);
    row.buffers = buffers == "cold" ? Buffers::cold : Buffers::warm;
    row.origin = origin == "tuned" ? Origin::tuned : Origin::learned;
    read_measured(columns, row);
    const auto of = collective_from(collective);
    const auto parsed = of ? parse_candidate(*of, candidate) : ParsedCandidate{};
    const Interval& time = row.time_us;
    const bool sound = std::isfinite(time.high) && time.low <= time.median &&
                       time.median <= time.high && time.median > 0 && row.windows > 0 && length >= 0;
    if (!parsed.candidate || !sound) return std::nullopt;
    row.candidate = *parsed.candidate;
    return row;
}

template <typename Columns>
Fabric read_fabric(Columns& columns) {
    Fabric fabric;
    std::string latencies_us;
    columns >> fabric.hosts >> fabric.sites >> latencies_us >> fabric.processor >> fabric.transport;
    fabric.latencies_us = values_in(latencies_us);
    return fabric;
}

/// The columns of a line of text.
class TextColumns {
  public:
    explicit TextColumns(std::string_view line) : rest_(line) {}

    TextColumns& operator>>(std::string& text) {
        const std::size_t tab = rest_.find('\t');
        whole_ = whole_ && !ended_;
        ended_ = tab == rest_.npos;
        text = rest_.substr(0, tab);
        rest_ = ended_ ? std::string_view() : rest_.substr(tab + 1);
        return *this;
    }
    template <typename Number>
    TextColumns& operator>>(Number& number) {
        std::string text;
        *this >> text;
        const auto value = number_in<Number>(text);
        whole_ = whole_ && value;
        number = value.value_or(0);
        return *this;
    }
    /// As many as were asked for, and numbers where they were.
    bool ended_well() const { return whole_ && ended_; }

  private:
    std::string_view rest_;
    bool whole_ = true;
    bool ended_ = false;
};

/// SQLite has no code of its own for it.
bool lacks_what_is_asked_for(const Refused& refused) {
    return refused.code == SQLITE_ERROR && (refused.reason.starts_with("no such ") ||
                                            refused.reason.find("has no column named") != std::string::npos);
}

}  // namespace

std::optional<ProfileRow> row_from(const std::string& line) {
    TextColumns columns(line);
    auto row = read_row(columns);
    return columns.ended_well() ? std::move(row) : std::nullopt;
}

std::optional<Fabric> fabric_from(const std::vector<std::string>& columns) {
    std::string line;
    for (const std::string& column : columns) line += (line.empty() ? "" : "\t") + column;
    TextColumns values(line);
    Fabric fabric = read_fabric(values);
    const bool sound = columns.size() == 5 && fabric.hosts > 0 && fabric.sites > 0 &&
                       columns[2].empty() == fabric.latencies_us.empty();
    return values.ended_well() && sound ? std::optional(std::move(fabric)) : std::nullopt;
}

std::optional<std::int64_t> find_alike(const std::vector<KnownFabric>& known, const Fabric& fabric) {
    for (const KnownFabric& each : known) {
        if (!difference(fabric, each.fabric)) return each.id;
    }
    return std::nullopt;
}

ProfileFile::ProfileFile(std::string path, Access access, std::chrono::milliseconds patience)
    : path_(std::move(path)), access_(access), patience_(patience) {}

Outcome ProfileFile::in_transaction(const std::function<void()>& work) {
    try {
        begin();
        if (const Outcome checked = check(); checked != Outcome::done) return checked;
        work();
        if (access_ == Access::write) execute(database_, "COMMIT");
        return Outcome::done;
    } catch (const Refused& refused) {
        return outcome_of(refused);
    }
}

void ProfileFile::begin() {
    const bool writes = access_ == Access::write;
    if (writes) {
        std::error_code unable;  // then opening it fails, and says why
        std::filesystem::create_directories(std::filesystem::path(path_).parent_path(), unable);
    }
    database_ = open(path_, writes ? SQLITE_OPEN_CREATE : 0, static_cast<int>(patience_.count()));
    struct stat found {};
    inode_ = stat(path_.c_str(), &found) == 0 ? found.st_ino : 0;
    execute(database_, set_up);
    execute(database_, writes ? "BEGIN IMMEDIATE" : "BEGIN");
}

Outcome ProfileFile::check() {
    const auto tables = number("SELECT count(*) FROM sqlite_master");
    const auto application = number("PRAGMA application_id");
    const auto version = number("PRAGMA user_version");
    const bool is_new = tables == 0 && application == 0;
    if (is_new && access_ == Access::read) return Outcome::absent;
    if (!is_new && application != application_id) {
        error_ = path_ + " is not a profile of mutirao";
        return Outcome::useless;
    }
    if (!is_new && version > schema_version) {
        error_ = path_ + " was written by a newer mutirao";
        return Outcome::useless;
    }
    if (!is_new && version < schema_version) {
        const std::string number = std::to_string(version);
        return set_aside(".version-" + number, "is of the older schema " + number);
    }
    if (access_ == Access::write) execute(database_, schema);  // also for tables that are new since
    return Outcome::done;
}

std::int64_t ProfileFile::number(const char* question) const {
    Statement statement(database_, question);
    std::int64_t answer = 0;
    if (statement.step()) statement >> answer;
    return answer;
}

std::vector<KnownFabric> ProfileFile::fabrics() const {
    Statement statement(database_, "SELECT id, hosts, sites, latencies_us, processor, transport FROM fabric");
    std::vector<KnownFabric> result;
    while (statement.step()) {
        std::int64_t id = 0;
        statement >> id;
        result.push_back({id, read_fabric(statement)});
    }
    return result;
}

std::vector<ProfileRow> ProfileFile::rows(std::int64_t fabric, const std::string& mpi) const {
    Statement statement(database_, select_rows);
    statement << fabric << mpi;
    std::vector<ProfileRow> result;
    while (statement.step()) {
        if (auto row = read_row(statement)) result.push_back(std::move(*row));
    }
    return result;
}

std::int64_t ProfileFile::add(const Fabric& fabric) {
    Statement statement(database_, "INSERT INTO fabric(hosts, sites, latencies_us, processor, transport)"
                                   " VALUES(?, ?, ?, ?, ?)");
    statement << fabric.hosts << fabric.sites << text_of(fabric.latencies_us)
              << fabric.processor << fabric.transport;
    statement.run();
    return sqlite3_last_insert_rowid(database_.get());
}

void ProfileFile::put(std::int64_t fabric, const std::string& mpi, const ProfileRow& row) {
    Statement present(database_, select_row);
    Statement replace(database_, replace_row);
    ProfileRow whole = row;
    bind_key(present, fabric, mpi, row);
    if (present.step()) {
        ProfileRow earlier = row;
        read_measured(present, earlier);
        whole = merged(earlier, row);
    }
    bind_key(replace, fabric, mpi, whole);
    replace << whole.time_us.low << whole.time_us.median << whole.time_us.high
            << whole.windows << whole.measured_s;
    replace.run();
}

// A profile of before these were kept has no table of them until it is written.
std::vector<ProgramRun> ProfileFile::runs(std::int64_t fabric, const std::string& mpi,
                                          const std::string& program) const {
    std::vector<ProgramRun> result;
    if (number("SELECT count(*) FROM sqlite_master WHERE name = 'run'") == 0) return result;
    Statement statement(database_, select_runs);
    statement << fabric << mpi << program << fabric;
    while (statement.step()) {
        ProgramRun run{.program = program};
        statement >> run.ranks.ranks >> run.ranks.hosts >> run.ranks.most_on_a_host >> run.length_s >> run.saved_share >>
            run.measured_s;
        result.push_back(std::move(run));
    }
    return result;
}

void ProfileFile::put(std::int64_t fabric, const std::string& mpi, const ProgramRun& run) {
    const auto before = runs(fabric, mpi, run.program);
    const auto same = std::find_if(before.rbegin(), before.rend(),
                                   [&](const ProgramRun& each) { return each.ranks == run.ranks; });
    const ProgramRun now = same == before.rend() ? run : newest(*same, run);
    Statement replace(database_, replace_run);
    replace << fabric << mpi << now.program << now.ranks.ranks << now.ranks.hosts << now.ranks.most_on_a_host
            << now.length_s << now.saved_share << now.measured_s;
    replace.run();
    execute(database_, forget_old_runs);
}

Outcome ProfileFile::outcome_of(const Refused& refused) {
    error_ = path_ + ": " + refused.reason;
    struct stat found {};
    if (refused.code == SQLITE_CANTOPEN && access_ == Access::read && stat(path_.c_str(), &found) != 0)
        return Outcome::absent;
    if (refused.busy()) return Outcome::busy;
    if (refused.code == SQLITE_NOTADB || refused.code == SQLITE_CORRUPT || lacks_what_is_asked_for(refused))
        return set_aside(".damaged", "is damaged (" + refused.reason + ")");
    return Outcome::useless;
}

// Closing it has rolled back what was begun, so no journal is left that would be played back into the next
// file of its name.
Outcome ProfileFile::set_aside(const std::string& suffix, const std::string& why) {
    database_.reset();
    struct stat found {};
    if (stat(path_.c_str(), &found) != 0 || found.st_ino != inode_) return Outcome::absent;  // done by others
    const std::string aside = path_ + suffix;
    if (std::rename(path_.c_str(), aside.c_str()) != 0) {
        error_ = path_ + " " + why + ", and cannot be set aside: " + std::strerror(errno);
        return Outcome::useless;
    }
    std::fprintf(stderr, "mutirao: the profile %s %s; it is now %s\n", path_.c_str(), why.c_str(),
                 aside.c_str());
    return Outcome::absent;
}

}  // namespace mutirao::profile
