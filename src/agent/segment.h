// How ranks and tools look at what an agent knows: shared memory that the agent writes and others
// only read. A look at changes() costs one load.
#pragma once

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "agent/system.h"
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

    /// Grows whenever read() or complete() would give something else. Nanoseconds.
    std::uint64_t changes() const;
    /// Newest weights and newest tree, of one moment. Nothing only if the agent died while writing.
    std::optional<NetworkView> read() const;
    /// The last complete version of the tree, with the weights for which it is minimal.
    std::optional<Version> complete() const;
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

    std::optional<struct Published> published() const;

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
    enum class Outcome : std::uint8_t { made, held_by_another, refused };

    /// held_by_another: an agent of this name lives. Where the system refuses named memory, or
    /// something else has the name that cannot be removed, what is made has no name and serves this
    /// process only (why_unnamed).
    static Outcome make(const SegmentIdentity& identity, std::unique_ptr<Segment>& segment);
    ~Segment();

    void publish(const NetworkView& view, const Version& version);
    void publish(std::string_view status);
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

// The shared memory of an agent: a head and two sections that are replaced as a whole. One process
// writes, any number read without being able to stop it (a sequence lock): a reader copies, and copies
// again if the writer was at work meanwhile.

struct SectionPlace {
    std::uint64_t offset_bytes = 0;
    std::uint64_t capacity_words = 0;
};

struct SegmentHead {
    static constexpr std::uint64_t right_magic = 0x6f61726974756d00;
    static constexpr std::uint32_t right_layout = 3;

    std::uint64_t magic = right_magic;
    std::uint32_t layout = right_layout;
    std::int32_t pid = 0;
    std::int32_t self = 0;
    std::int32_t host_count = 0;
    std::uint64_t job = 0;
    std::uint64_t size_bytes = 0;
    SectionPlace network;
    SectionPlace status;
    std::atomic<std::uint64_t> changes{0};
    std::atomic<std::uint64_t> ended{0};  ///< the agent stopped in good order
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

/// A section at its place in the memory. Words are atomic, so that a torn copy is merely thrown away.
class Section {
  public:
    Section(std::byte* memory, const SectionPlace& place)
        : words_(reinterpret_cast<std::atomic<std::uint64_t>*>(memory + place.offset_bytes)),
          capacity_words_(place.capacity_words) {}

    static std::size_t bytes_for(std::size_t capacity_words) {
        return (capacity_words + head_words) * sizeof(std::uint64_t);
    }

    /// False, and nothing is written, if there is no room for it.
    bool write(std::span<const std::byte> bytes) {
        if (bytes.size() > capacity_words_ * sizeof(std::uint64_t)) return false;
        const std::uint64_t sequence = words_[0].load(std::memory_order_relaxed);
        words_[0].store(sequence + 1, std::memory_order_relaxed);
        std::atomic_thread_fence(std::memory_order_release);
        words_[1].store(bytes.size(), std::memory_order_relaxed);
        for (std::size_t at = 0; at < bytes.size(); at += sizeof(std::uint64_t)) {
            std::uint64_t word = 0;
            std::memcpy(&word, bytes.data() + at, std::min(sizeof word, bytes.size() - at));
            words_[head_words + at / sizeof word].store(word, std::memory_order_relaxed);
        }
        words_[0].store(sequence + 2, std::memory_order_release);
        return true;
    }

    /// Nothing if nothing was written yet, or the writer stays in the middle of its work (it died).
    std::optional<std::vector<std::byte>> read() const {
        for (int tries = 0; tries < most_tries; ++tries) {
            const std::uint64_t before = words_[0].load(std::memory_order_acquire);
            if (before == 0) return std::nullopt;
            if (before % 2 == 0) {
                std::vector<std::byte> bytes = copy();
                std::atomic_thread_fence(std::memory_order_acquire);
                if (words_[0].load(std::memory_order_relaxed) == before) return bytes;
            }
            sched_yield();
        }
        return std::nullopt;
    }

  private:
    static constexpr std::size_t head_words = 2;  ///< sequence, bytes in use
    static constexpr int most_tries = 10'000;

    std::vector<std::byte> copy() const {
        const std::uint64_t size = std::min<std::uint64_t>(
            words_[1].load(std::memory_order_relaxed), capacity_words_ * sizeof(std::uint64_t));
        std::vector<std::byte> bytes(size);
        for (std::size_t at = 0; at < size; at += sizeof(std::uint64_t)) {
            const std::uint64_t word =
                words_[head_words + at / sizeof word].load(std::memory_order_relaxed);
            std::memcpy(bytes.data() + at, &word, std::min<std::size_t>(sizeof word, size - at));
        }
        return bytes;
    }

    std::atomic<std::uint64_t>* words_;
    std::uint64_t capacity_words_;
};

/// What an agent knows of the whole network, as bytes for the shared memory.
struct Published {
    NetworkView view;
    Version version;

    bool operator==(const Published&) const = default;
};

std::vector<std::byte> encode(const NetworkView& view, const Version& version);
/// Nothing unless encode() made it of views of so many hosts.
std::optional<Published> decode_published(std::span<const std::byte> bytes, int host_count);
/// More than encode() ever makes.
std::size_t most_published_bytes(int host_count);

// A piece of shared memory in this process, for the reading and the writing end alike.

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
