// SQLite as far as a profile, and an agent's series, need it. It is linked statically and stays hidden: a program may bring a
// SQLite of its own, and must meet no other's symbols.
#pragma once

#include <sqlite3.h>

#include <concepts>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace mutirao::profile {

struct CloseDatabase {
    void operator()(sqlite3* database) const { sqlite3_close(database); }
};
using Database = std::unique_ptr<sqlite3, CloseDatabase>;

/// What SQLite could not do, and why. Thrown by all that follows.
struct Refused {
    explicit Refused(sqlite3* database) : code(sqlite3_errcode(database) & 0xff), reason(sqlite3_errmsg(database)) {}

    bool busy() const { return code == SQLITE_BUSY || code == SQLITE_LOCKED; }

    int code;
    std::string reason;
};

inline Database open(const std::string& path, int flags, int patience_ms) {
    sqlite3* opened = nullptr;
    flags |= SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX;
    const int code = sqlite3_open_v2(path.c_str(), &opened, flags, nullptr);
    Database database(opened);
    if (code != SQLITE_OK) throw Refused(opened);
    sqlite3_busy_timeout(opened, patience_ms);
    return database;
}

inline void execute(const Database& database, const char* text) {
    if (sqlite3_exec(database.get(), text, nullptr, nullptr, nullptr) != SQLITE_OK) throw Refused(database.get());
}

/// One statement. Values are bound, and columns read, in their order.
class Statement {
  public:
    Statement(const Database& database, const char* text) : database_(database.get()) {
        sqlite3_stmt* statement = nullptr;
        if (sqlite3_prepare_v2(database_, text, -1, &statement, nullptr) != SQLITE_OK) throw Refused(database_);
        statement_.reset(statement);
    }

    Statement& operator<<(std::string_view text) {
        sqlite3_bind_text(statement_.get(), ++bound_, text.data(), static_cast<int>(text.size()),
                          SQLITE_TRANSIENT);
        return *this;
    }
    Statement& operator<<(std::integral auto number) {
        sqlite3_bind_int64(statement_.get(), ++bound_, static_cast<std::int64_t>(number));
        return *this;
    }
    Statement& operator<<(double number) {
        sqlite3_bind_double(statement_.get(), ++bound_, number);
        return *this;
    }
    /// Nothing: NULL.
    Statement& operator<<(std::optional<double> number) {
        if (number) return *this << *number;
        sqlite3_bind_null(statement_.get(), ++bound_);
        return *this;
    }

    /// True: there is a row, whose columns can be read.
    bool step() {
        read_ = -1;
        const int result = sqlite3_step(statement_.get());
        if (result != SQLITE_ROW && result != SQLITE_DONE) throw Refused(database_);
        return result == SQLITE_ROW;
    }
    /// Runs it to its end, from the beginning, and makes it ready for other values.
    void run() {
        while (step()) continue;
        sqlite3_reset(statement_.get());
        bound_ = 0;
    }

    Statement& operator>>(std::string& text) {
        const auto* bytes =
            reinterpret_cast<const char*>(sqlite3_column_text(statement_.get(), ++read_));
        text.assign(bytes == nullptr ? "" : bytes);
        return *this;
    }
    template <std::integral Integer>
    Statement& operator>>(Integer& number) {
        number = static_cast<Integer>(sqlite3_column_int64(statement_.get(), ++read_));
        return *this;
    }
    Statement& operator>>(double& number) {
        number = sqlite3_column_double(statement_.get(), ++read_);
        return *this;
    }
    Statement& operator>>(std::optional<double>& number) {
        const bool is_null = sqlite3_column_type(statement_.get(), read_ + 1) == SQLITE_NULL;
        *this >> number.emplace();
        if (is_null) number.reset();
        return *this;
    }

  private:
    struct Finalize {
        void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
    };
    sqlite3* database_;
    std::unique_ptr<sqlite3_stmt, Finalize> statement_;
    int bound_ = 0;
    int read_ = -1;
};

}  // namespace mutirao::profile
