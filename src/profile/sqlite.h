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

inline bool execute(sqlite3* database, const char* text) {
    return sqlite3_exec(database, text, nullptr, nullptr, nullptr) == SQLITE_OK;
}

/// One statement. Values are bound, and columns read, in their order.
class Statement {
  public:
    Statement(sqlite3* database, const char* text) {
        sqlite3_stmt* statement = nullptr;
        sqlite3_prepare_v2(database, text, -1, &statement, nullptr);
        statement_.reset(statement);
    }
    explicit operator bool() const { return statement_ != nullptr; }

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
        result_ = sqlite3_step(statement_.get());
        return result_ == SQLITE_ROW;
    }
    /// Runs it to its end, from the beginning, and makes it ready for other values.
    bool run() {
        while (step()) {
        }
        const bool done = result_ == SQLITE_DONE;
        sqlite3_reset(statement_.get());
        bound_ = 0;
        return done;
    }
    /// No error ended it.
    bool ended_well() const { return result_ == SQLITE_DONE || result_ == SQLITE_ROW; }

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
        number.reset();
        if (double value = 0; sqlite3_column_type(statement_.get(), read_ + 1) != SQLITE_NULL) {
            *this >> value;
            number = value;
        } else {
            ++read_;
        }
        return *this;
    }

  private:
    struct Finalize {
        void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
    };
    std::unique_ptr<sqlite3_stmt, Finalize> statement_;
    int bound_ = 0;
    int read_ = -1;
    int result_ = SQLITE_OK;
};

}  // namespace mutirao::profile
