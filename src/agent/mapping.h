// A piece of shared memory in this process, for the reading and the writing end alike.
#pragma once

#include <cstddef>
#include <memory>

#include "agent/file.h"
#include "agent/shared_layout.h"
#include "agent/view_reader.h"

namespace mutirao::agent {

struct ViewReader::Mapping {
    File file;  ///< of its own for a reader of another process; none for the agent's own process
    std::byte* memory = nullptr;
    std::size_t size_bytes = 0;

    Mapping() = default;
    Mapping(const Mapping&) = delete;
    Mapping& operator=(const Mapping&) = delete;
    ~Mapping();

    SegmentHead& head() const { return *reinterpret_cast<SegmentHead*>(memory); }
    Section network() const { return {memory, head().network}; }
    Section status() const { return {memory, head().status}; }
};

/// "/dev/shm/NAME"
std::string segment_path(const std::string& name);
/// "mutirao-<uid>-"
std::string segment_prefix();
/// Somebody else holds the lock that an agent takes on its segment.
bool is_locked(int file);

}  // namespace mutirao::agent
