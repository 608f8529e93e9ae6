// Keeps a profile in an SQLite file that all jobs of a user share. The program works on whatever becomes
// of it: a file that cannot be read or written costs the profile and nothing else.
//
// - Nothing is held open between two operations, so a fork, a file that somebody replaces and a lock on a
//   network file system concern one operation at most.
// - A rollback journal and no WAL: that needs memory shared by all who have the file open, which home
//   folders on NFS cannot give. Writers take turns by SQLite's lock, and each merges its rows with those
//   that it finds in the same transaction, so none is lost.
// - Without syncs to the disk, which may take a second: only a crash of the machine may spoil the file.
// - A spoilt file is renamed to *.damaged, one of an older schema to *.version-N, with one line on stderr.
//   One of a newer schema belongs to a newer mutirao and one of another program to that: both stay.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "core/selection/profile.h"

namespace mutirao::profile {

/// What schema.sql says.
extern const char* const schema;
extern const std::int64_t schema_version;
extern const std::int64_t application_id;

/// A row's columns behind `mpi` in schema.sql, separated by tabs.
std::optional<ProfileRow> row_from(const std::string& line);

/// Of its columns in schema.sql.
std::optional<Fabric> fabric_from(const std::vector<std::string>& columns);

class ProfileStore {
  public:
    /// Touches no file yet. Null if `path` is empty: there is none.
    static std::shared_ptr<ProfileStore> open(std::string path);
    explicit ProfileStore(std::string path) : path_(std::move(path)) {}

    struct Answer {
        std::vector<ProfileRow> rows;
        std::vector<ProgramRun> runs;  ///< earlier ones of this program; those on this fabric last
        std::string why_none;  ///< one line, for `mutirao explain`; empty if there are rows
    };
    /// What was measured on a fabric like this one with that MPI library. Reads the file, once for all who ask
    /// for the same until flush(): not for threads of the program.
    Answer rows_for(const Fabric& fabric, const std::string& mpi);

    /// The number that the rows of a fabric like this one have in the file; 0: none has. Nothing, and `trouble` says
    /// why, where it cannot be read.
    std::optional<std::int64_t> number_of(const Fabric& fabric, std::string& trouble) const;

    /// Takes up what was newly measured, each window once; no file is touched until flush().
    void remember(const Fabric& fabric, const std::string& mpi, std::vector<ProfileRow> rows,
                  std::optional<ProgramRun> run = {});
    bool has_unwritten() const;
    /// Writes what was taken up; false if something is left, since others had the file for so long.
    bool flush(std::chrono::milliseconds patience);

    /// Why nothing is kept any more, in one line; empty while all is well.
    std::string trouble() const;

  private:
    struct Batch {
        Fabric fabric;
        std::string mpi;
        std::vector<ProfileRow> rows;
        std::optional<ProgramRun> run;
    };

    struct Known {
        Fabric fabric;
        std::string mpi;
        Answer answer;
    };

    const std::string path_;
    std::mutex file_mutex_;      ///< one operation at a time
    std::vector<Known> known_;   ///< of what was read; guarded by it
    mutable std::mutex mutex_;   ///< of what follows; never held while the file is touched
    std::vector<Batch> batches_;
    std::string trouble_;
};

// What a profile's Fabric says of one host, what it calls this program, and where it is kept: what the environment and
// the system know.

/// "2 x MODEL": the processors that are on, and of what kind.
std::string processor();

/// What the environment tells MPI libraries to send by, "NAME=VALUE NAME=VALUE"; empty: their own choice.
std::string transport();

/// By which a profile knows another run of this program: a hash of its command line; empty: not known.
std::string program();

/// The file that the setting `profile` means: of "auto" in the user's state folder; empty: none.
std::string profile_path(const std::string& setting);

}  // namespace mutirao::profile
