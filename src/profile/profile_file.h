// One operation on a profile's file: opened, checked, and set aside where it is of no use.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/selection/profile.h"
#include "profile/sqlite.h"

namespace mutirao::profile {

/// What schema.sql says.
extern const char* const schema;
extern const std::int64_t schema_version;
extern const std::int64_t application_id;

/// How an operation ended.
enum class Outcome : unsigned char {
    done,
    absent,   ///< there is no such file
    busy,     ///< others had it for too long
    useless   ///< error() says why
};

/// A row's columns behind `mpi` in schema.sql, separated by tabs.
std::optional<ProfileRow> row_from(const std::string& line);

/// Of its columns in schema.sql.
std::optional<Fabric> fabric_from(const std::vector<std::string>& columns);

struct KnownFabric {
    std::int64_t id = 0;
    Fabric fabric;
};

/// The one that the rows of `fabric` belong to: as it was first seen, so that it does not creep away.
std::optional<std::int64_t> find_alike(const std::vector<KnownFabric>& known, const Fabric& fabric);

class ProfileFile {
  public:
    enum class Access : unsigned char { read, write };

    ProfileFile(std::string path, Access access, std::chrono::milliseconds patience);

    /// Opens the file, made anew if it is to be written, and does the work, which may call what follows, in one
    /// transaction. Sets a damaged file aside.
    Outcome in_transaction(const std::function<void()>& work);
    const std::string& error() const { return error_; }

    std::vector<KnownFabric> fabrics() const;
    std::vector<ProfileRow> rows(std::int64_t fabric, const std::string& mpi) const;
    std::int64_t add(const Fabric& fabric);
    void put(std::int64_t fabric, const std::string& mpi, const ProfileRow& row);
    /// Those on other fabrics first, without what they saved.
    std::vector<ProgramRun> runs(std::int64_t fabric, const std::string& mpi, const std::string& program) const;
    static constexpr std::int64_t no_fabric = -1;
    void put(std::int64_t fabric, const std::string& mpi, const ProgramRun& run);

  private:
    void begin();
    Outcome check();
    Outcome outcome_of(const Refused& refused);
    Outcome set_aside(const std::string& suffix, const std::string& why);
    std::int64_t number(const char* question) const;

    const std::string path_;
    const Access access_;
    const std::chrono::milliseconds patience_;
    ino_t inode_ = 0;
    Database database_;
    std::string error_;
};

}  // namespace mutirao::profile
