// The writing end of an agent's shared memory, and the names under which others find it.
//
// The agent holds a lock on its segment as long as it lives, however it ends, so a second agent of the
// same name can tell a rival from a remnant: it steps aside for the one and removes the other. A
// segment gets its name only when it is locked and whole. The lock belongs to an open file of its own,
// which children of the process do not have (file.h): they do inherit the memory.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "agent/file.h"
#include "agent/view_reader.h"

namespace mutirao::agent {

struct SegmentIdentity {
    std::string name;
    int self = 0;
    int host_count = 0;
    std::uint64_t job = 0;
};

class Segment {
  public:
    enum class Outcome : std::uint8_t { made, held_by_another, refused };

    /// held_by_another: an agent of this name lives. Where the system refuses named memory, or
    /// something else has the name that cannot be removed, what is made has no name and serves this
    /// process only (why_unnamed).
    static Outcome make(const SegmentIdentity& identity, std::unique_ptr<Segment>& segment);
    ~Segment();

    void publish(const NetworkView& view, const Version& version);
    void publish(const Status& status);
    /// Readers see that no more will come.
    void end();
    /// For this process: the same memory.
    ViewReader reader() const;
    /// Empty: it has its name. Otherwise what is wrong, where, and what to do about it.
    const std::string& why_unnamed() const { return why_unnamed_; }

  private:
    explicit Segment(std::shared_ptr<ViewReader::Mapping> mapping) : mapping_(std::move(mapping)) {}

    std::shared_ptr<ViewReader::Mapping> mapping_;
    std::string name_;
    std::string why_unnamed_;
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
