// How ranks and tools look at what an agent knows: shared memory that the agent writes and others
// only read. A look at changes() costs one load.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/system.h"
#include "core/spanning_tree/rounds.h"

namespace mutirao::agent {

/// "/dev/shm/NAME"
std::string segment_path(const std::string& name);
/// "mutirao-<uid>-"
std::string segment_prefix();
/// "mutirao-<uid>-<job as 16 hexadecimal digits>-<host>"
std::string segment_name(std::uint64_t job, int host);
/// "mutirao-<uid>-daemon-<host name>": where a job looks for a warm agent. Hosts that share a kernel's
/// shared memory, as containers and the lab's hosts may, have names of their own.
std::string daemon_segment_name();
/// Of a name that people give: what it lacks of the above is put before it.
std::string full_segment_name(const std::string& given);

class ViewReader {
  public:
    /// Nothing if there is no such segment, or it is not one of this version and user. A segment
    /// that its agent left behind can be attached to: see gone().
    static std::optional<ViewReader> attach(const std::string& name);

    /// Grows whenever read() would give something else. Nanoseconds.
    std::uint64_t changes() const;
    /// Newest weights and newest tree, of one moment. Nothing only if the agent died while writing.
    std::optional<NetworkView> read() const;
    /// What people look at, as JSON; written once a second.
    std::optional<std::string> status() const;

    /// This host's number, and which job or host file the numbers belong to.
    int self() const;
    int host_count() const;
    std::uint64_t job() const;
    int pid() const;
    /// The agent has ended, in whatever way. A system call.
    bool gone() const;

  private:
    friend class Segment;
    struct Mapping;
    explicit ViewReader(std::shared_ptr<Mapping> mapping) : mapping_(std::move(mapping)) {}

    std::shared_ptr<Mapping> mapping_;
};

// The writing end of an agent's shared memory, and the names under which others find it.
//
// The agent holds a lock on its segment as long as it lives, however it ends, so a second agent of the
// same name can tell a rival from a remnant: it steps aside for the one and removes the other. A
// segment gets its name only when it is locked and whole. The lock belongs to an open file of its own,
// which children of the process do not have (system.h): they do inherit the memory.

struct SegmentIdentity {
    std::string name;
    int self = 0;
    int host_count = 0;
    std::uint64_t job = 0;
};

class Segment {
  public:
    /// Null, and `why_not` says what is wrong, where, and what to do about it: an agent of this name lives, the system
    /// refuses the memory, or something else has the name that cannot be removed.
    static std::unique_ptr<Segment> make(const SegmentIdentity& identity, std::string& why_not);
    ~Segment();

    void publish(const NetworkView& view);
    void publish(std::string_view status);
    /// Readers see that no more will come.
    void end();

  private:
    Segment(std::shared_ptr<ViewReader::Mapping> mapping, std::string name, File lock)
        : mapping_(std::move(mapping)), name_(std::move(name)), lock_(std::move(lock)) {}

    std::shared_ptr<ViewReader::Mapping> mapping_;
    std::string name_;
    File lock_;
};

struct FoundSegment {
    std::string name;
    bool alive = false;
};
/// This user's segments.
std::vector<FoundSegment> list_segments();
/// Those whose agents are gone. Safe at any time.
void remove_stale_segments();

}  // namespace mutirao::agent
