// How ranks and tools look at what an agent knows: shared memory that the agent writes and others
// only read. A look at changes() costs one load.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "agent/status.h"
#include "core/spanning_tree/rounds.h"

namespace mutirao::agent {

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

    ViewReader(ViewReader&&) noexcept;
    ViewReader& operator=(ViewReader&&) noexcept;
    ~ViewReader();

    /// Grows whenever read() or complete() would give something else. Nanoseconds.
    std::uint64_t changes() const;
    /// Newest weights and newest tree, of one moment. Nothing only if the agent died while writing.
    std::optional<NetworkView> read() const;
    /// The last complete version of the tree, with the weights for which it is minimal.
    std::optional<Version> complete() const;
    /// What people look at; written once a second.
    std::optional<Status> status() const;

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
    explicit ViewReader(std::shared_ptr<Mapping> mapping);

    std::shared_ptr<Mapping> mapping_;
};

}  // namespace mutirao::agent
