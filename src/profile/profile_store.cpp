#include "profile/profile_store.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>

#include "core/text/bytes.h"
#include "core/text/numbers.h"
#include "profile/sqlite.h"

namespace mutirao::profile {

// --- rows and fabrics as columns, of the file or of a line of text ---------------------------------------

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

// --- the file --------------------------------------------------------------------------------------------

namespace {

struct KnownFabric {
    std::int64_t id = 0;
    Fabric fabric;
};

/// The one that the rows of `fabric` belong to: as it was first seen, so that it does not creep away.
std::optional<std::int64_t> find_alike(const std::vector<KnownFabric>& known, const Fabric& fabric) {
    for (const KnownFabric& each : known) {
        if (!difference(fabric, each.fabric)) return each.id;
    }
    return std::nullopt;
}

std::int64_t number(const Database& database, const char* question) {
    Statement statement(database, question);
    std::int64_t answer = 0;
    if (statement.step()) statement >> answer;
    return answer;
}

std::vector<KnownFabric> fabrics_in(const Database& database) {
    Statement statement(database, "SELECT id, hosts, sites, latencies_us, processor, transport FROM fabric");
    std::vector<KnownFabric> result;
    while (statement.step()) {
        std::int64_t id = 0;
        statement >> id;
        result.push_back({id, read_fabric(statement)});
    }
    return result;
}

std::vector<ProfileRow> rows_in(const Database& database, std::int64_t fabric, const std::string& mpi) {
    Statement statement(database, select_rows);
    statement << fabric << mpi;
    std::vector<ProfileRow> result;
    while (statement.step()) {
        if (auto row = read_row(statement)) result.push_back(std::move(*row));
    }
    return result;
}

std::int64_t add(const Database& database, const Fabric& fabric) {
    Statement statement(database, "INSERT INTO fabric(hosts, sites, latencies_us, processor, transport)"
                                   " VALUES(?, ?, ?, ?, ?)");
    statement << fabric.hosts << fabric.sites << text_of(fabric.latencies_us)
              << fabric.processor << fabric.transport;
    statement.run();
    return sqlite3_last_insert_rowid(database.get());
}

void put(const Database& database, std::int64_t fabric, const std::string& mpi, const ProfileRow& row) {
    Statement present(database, select_row);
    Statement replace(database, replace_row);
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

/// Those on other fabrics first, without what they saved. A profile of before runs were kept has no table of them until
/// it is written.
std::vector<ProgramRun> runs_in(const Database& database, std::int64_t fabric, const std::string& mpi,
                                const std::string& program) {
    std::vector<ProgramRun> result;
    if (number(database, "SELECT count(*) FROM sqlite_master WHERE name = 'run'") == 0) return result;
    Statement statement(database, select_runs);
    statement << fabric << mpi << program << fabric;
    while (statement.step()) {
        ProgramRun run{.program = program};
        statement >> run.ranks.ranks >> run.ranks.hosts >> run.ranks.most_on_a_host >> run.length_s >>
            run.saved_share >> run.measured_s;
        result.push_back(std::move(run));
    }
    return result;
}

void put(const Database& database, std::int64_t fabric, const std::string& mpi, const ProgramRun& run) {
    const auto before = runs_in(database, fabric, mpi, run.program);
    const auto same = std::find_if(before.rbegin(), before.rend(),
                                   [&](const ProgramRun& each) { return each.ranks == run.ranks; });
    const ProgramRun now = same == before.rend() ? run : newest(*same, run);
    Statement replace(database, replace_run);
    replace << fabric << mpi << now.program << now.ranks.ranks << now.ranks.hosts << now.ranks.most_on_a_host
            << now.length_s << now.saved_share << now.measured_s;
    replace.run();
    execute(database, forget_old_runs);
}

/// SQLite has no code of its own for it.
bool lacks_what_is_asked_for(const Refused& refused) {
    return refused.code == SQLITE_ERROR && (refused.reason.starts_with("no such ") ||
                                            refused.reason.find("has no column named") != std::string::npos);
}

/// How an operation ended.
enum class Outcome : unsigned char {
    done,
    absent,   ///< there is no such file
    busy,     ///< others had it for too long
    useless   ///< error() says why
};

/// One operation on the file: opened, checked, and set aside where it is of no use.
class Operation {
  public:
    Operation(const std::string& path, bool writes, std::chrono::milliseconds patience)
        : path_(path), writes_(writes), patience_(patience) {}

    /// Opens the file, made anew if it is to be written, and does the work in one transaction. Sets a damaged file
    /// aside.
    Outcome in_transaction(const std::function<void(const Database&)>& work) {
        try {
            begin();
            if (const Outcome checked = check(); checked != Outcome::done) return checked;
            work(database_);
            if (writes_) execute(database_, "COMMIT");
            return Outcome::done;
        } catch (const Refused& refused) {
            return outcome_of(refused);
        }
    }

    const std::string& error() const { return error_; }

  private:
    void begin() {
        if (writes_) {
            std::error_code unable;  // then opening it fails, and says why
            std::filesystem::create_directories(std::filesystem::path(path_).parent_path(), unable);
        }
        database_ = open(path_, writes_ ? SQLITE_OPEN_CREATE : 0, static_cast<int>(patience_.count()));
        struct stat found {};
        inode_ = stat(path_.c_str(), &found) == 0 ? found.st_ino : 0;
        execute(database_, set_up);
        execute(database_, writes_ ? "BEGIN IMMEDIATE" : "BEGIN");
    }

    Outcome check() {
        const auto tables = number(database_, "SELECT count(*) FROM sqlite_master");
        const auto application = number(database_, "PRAGMA application_id");
        const auto version = number(database_, "PRAGMA user_version");
        const bool is_new = tables == 0 && application == 0;
        if (is_new && !writes_) return Outcome::absent;
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
        if (writes_) execute(database_, schema);  // also for tables that are new since
        return Outcome::done;
    }

    Outcome outcome_of(const Refused& refused) {
        error_ = path_ + ": " + refused.reason;
        struct stat found {};
        if (refused.code == SQLITE_CANTOPEN && !writes_ && stat(path_.c_str(), &found) != 0)
            return Outcome::absent;
        if (refused.busy()) return Outcome::busy;
        if (refused.code == SQLITE_NOTADB || refused.code == SQLITE_CORRUPT || lacks_what_is_asked_for(refused))
            return set_aside(".damaged", "is damaged (" + refused.reason + ")");
        return Outcome::useless;
    }

    // Closing it has rolled back what was begun, so no journal is left that would be played back into the next
    // file of its name.
    Outcome set_aside(const std::string& suffix, const std::string& why) {
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

    const std::string& path_;
    const bool writes_;
    const std::chrono::milliseconds patience_;
    ino_t inode_ = 0;
    Database database_;
    std::string error_;
};

constexpr std::chrono::milliseconds patience_to_read{500};
constexpr std::size_t most_known = 16;
constexpr std::int64_t no_fabric = -1;
/// More than this is not taken up before it is written.
constexpr std::size_t most_batches = 4096;

std::string why_none_is_alike(const std::vector<KnownFabric>& known, const Fabric& fabric) {
    if (known.empty()) return "the profile is empty";
    const auto nearest = std::find_if(known.begin(), known.end(), [&](const KnownFabric& each) {
        return each.fabric.hosts == fabric.hosts && each.fabric.sites == fabric.sites;
    });
    const Fabric& other = nearest == known.end() ? known.back().fabric : nearest->fabric;
    return "the profile is of another fabric: this one is " + *difference(fabric, other);
}

}  // namespace

std::shared_ptr<ProfileStore> ProfileStore::open(std::string path) {
    return path.empty() ? nullptr : std::make_shared<ProfileStore>(std::move(path));
}

ProfileStore::Answer ProfileStore::rows_for(const Fabric& fabric, const std::string& mpi) {
    const std::lock_guard file_lock(file_mutex_);
    for (const Known& each : known_) {
        if (each.mpi == mpi && each.fabric == fabric) return each.answer;
    }
    Operation reading(path_, false, patience_to_read);
    Answer answer;
    const Outcome outcome = reading.in_transaction([&](const Database& database) {
        const auto fabrics = fabrics_in(database);
        const auto id = find_alike(fabrics, fabric);
        answer.runs = runs_in(database, id.value_or(no_fabric), mpi, program());
        if (id) answer.rows = rows_in(database, *id, mpi);
        if (!id) {
            answer.why_none = why_none_is_alike(fabrics, fabric);
        } else if (answer.rows.empty()) {
            answer.why_none = "the profile knows this fabric, but not with " + mpi;
        }
    });
    if (outcome == Outcome::absent) answer = {{}, {}, "there is no profile yet"};
    if (outcome != Outcome::done && outcome != Outcome::absent) return {{}, {}, reading.error()};  // that may pass
    if (known_.size() < most_known) known_.push_back({fabric, mpi, answer});
    return answer;
}

std::optional<std::int64_t> ProfileStore::number_of(const Fabric& fabric, std::string& trouble) const {
    Operation reading(path_, false, patience_to_read);
    std::int64_t number = 0;
    const Outcome outcome = reading.in_transaction(
        [&](const Database& database) { number = find_alike(fabrics_in(database), fabric).value_or(0); });
    trouble = reading.error();
    return outcome == Outcome::done || outcome == Outcome::absent ? std::optional(number) : std::nullopt;
}

void ProfileStore::remember(const Fabric& fabric, const std::string& mpi,
                            std::vector<ProfileRow> rows, std::optional<ProgramRun> run) {
    const std::lock_guard lock(mutex_);
    if ((rows.empty() && !run) || !trouble_.empty() || batches_.size() >= most_batches) return;
    const auto same = std::find_if(batches_.rbegin(), batches_.rend(), [&](const Batch& each) {
        return run && each.run && each.run->ranks == run->ranks;
    });
    if (same != batches_.rend()) same->run.reset();  // a program may free thousands of communicators
    batches_.push_back({fabric, mpi, std::move(rows), std::move(run)});
}

bool ProfileStore::has_unwritten() const {
    const std::lock_guard lock(mutex_);
    return !batches_.empty();
}

bool ProfileStore::flush(std::chrono::milliseconds patience) {
    const std::lock_guard file_lock(file_mutex_);
    std::vector<Batch> batches;
    {
        const std::lock_guard lock(mutex_);
        batches = std::exchange(batches_, {});
    }
    if (batches.empty()) return true;
    known_.clear();
    Outcome outcome = Outcome::absent;
    std::string error;
    for (int attempt = 0; attempt < 2 && outcome == Outcome::absent; ++attempt) {
        Operation writing(path_, true, patience);
        outcome = writing.in_transaction([&](const Database& database) {
            for (const Batch& batch : batches) {
                const auto known = find_alike(fabrics_in(database), batch.fabric);
                const auto id = known ? *known : add(database, batch.fabric);
                for (const ProfileRow& row : batch.rows) put(database, id, batch.mpi, row);
                if (batch.run) put(database, id, batch.mpi, *batch.run);
            }
        });  // absent: what was there has been set aside
        error = writing.error();
    }
    const std::lock_guard lock(mutex_);
    if (outcome == Outcome::busy) {
        batches_.insert(batches_.begin(), std::make_move_iterator(batches.begin()),
                        std::make_move_iterator(batches.end()));
        return false;
    }
    if (outcome != Outcome::done) trouble_ = error;
    return true;
}

std::string ProfileStore::trouble() const {
    const std::lock_guard lock(mutex_);
    return trouble_;
}

namespace {

/// Set by the launcher's --mca, too.
constexpr std::array transport_variables{
    "OMPI_MCA_pml",   "OMPI_MCA_btl",          "OMPI_MCA_mtl",     "MPIR_CVAR_CH4_NETMOD",
    "MPIR_CVAR_NOLOCAL", "MPIR_CVAR_CH4_SHM", "I_MPI_FABRICS", "FI_PROVIDER", "UCX_TLS"};

std::string value_of(const char* name) {
    const char* const value = std::getenv(name);
    return value == nullptr ? "" : value;
}

std::string hash_of_command_line() {
    std::ifstream file("/proc/self/cmdline", std::ios::binary);
    const std::string words((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    return words.empty() ? "" : hexadecimal(fnv1a(std::as_bytes(std::span(words))));
}

}  // namespace

std::string processor() {
    std::ifstream file("/proc/cpuinfo");
    std::string model = "unknown";
    for (std::string line; std::getline(file, line);) {
        const std::size_t colon = line.find(": ");
        if (!line.starts_with("model name") || colon == line.npos) continue;
        model = line.substr(colon + 2);
        break;
    }
    return std::to_string(sysconf(_SC_NPROCESSORS_ONLN)) + " x " + model;
}

std::string transport() {
    std::string result;
    for (const char* const name : transport_variables) {
        const std::string value = value_of(name);
        if (!value.empty()) result += (result.empty() ? "" : " ") + std::string(name) + "=" + value;
    }
    return result;
}

// Asked at every communicator's end.
std::string program() {
    static const auto& known = *new std::string(hash_of_command_line());
    return known;
}

// As the XDG base directories have it: a relative path counts as unset.
std::string profile_path(const std::string& setting) {
    if (setting == "off") return {};
    if (setting != "auto") return setting;
    std::string state = value_of("XDG_STATE_HOME");
    if (!state.starts_with('/')) {
        const std::string home = value_of("HOME");
        if (!home.starts_with('/')) return {};
        state = home + "/.local/state";
    }
    return state + "/mutirao/profile.db";
}

}  // namespace mutirao::profile
