#include "agent/segment.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <new>
#include <span>
#include <system_error>

#include "core/text/bytes.h"
#include "core/text/numbers.h"

namespace mutirao::agent {

// The shared memory of an agent: a head and two sections that are replaced as a whole. One process
// writes, any number read without being able to stop it (a sequence lock): a reader copies, and copies
// again if the writer was at work meanwhile.

struct SegmentHead {
    static constexpr std::uint64_t right_magic = 0x6f61726974756d00;
    static constexpr std::uint32_t right_layout = 5;

    std::uint64_t magic = right_magic;
    std::uint32_t layout = right_layout;
    std::int32_t pid = 0;
    std::int32_t self = 0;
    std::int32_t host_count = 0;
    std::uint64_t job = 0;
    std::atomic<std::uint64_t> changes{0};
    std::atomic<std::uint64_t> ended{0};  ///< the agent stopped in good order
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

/// A section at its place in the memory. Words are atomic, so that a torn copy is merely thrown away.
class Section {
  public:
    Section(std::byte* memory, std::size_t capacity_words)
        : words_(reinterpret_cast<std::atomic<std::uint64_t>*>(memory)), capacity_words_(capacity_words) {}

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
    std::size_t capacity_words_;
};

/// How much each section can hold, more than is ever published, and where it lies: it follows from the number of hosts.
struct Layout {
    static constexpr std::size_t network_at = (sizeof(SegmentHead) + 63) / 64 * 64;

    explicit Layout(int host_count)
        : hosts(static_cast<std::size_t>(host_count)),
          network_words(16 + 8 * hosts + 3 * hosts * hosts),
          status_words((64 + hosts) * 1024 / sizeof(std::uint64_t)),
          status_at(network_at + Section::bytes_for(network_words)),
          size_bytes(status_at + Section::bytes_for(status_words)) {}

    std::size_t hosts, network_words, status_words, status_at, size_bytes;
};

/// A piece of shared memory in this process, for the reading and the writing end alike.
struct ViewReader::Mapping {
    File file;  ///< a reader's
    std::byte* memory = nullptr;
    std::size_t size_bytes = 0;

    ~Mapping() {
        if (memory != nullptr) munmap(memory, size_bytes);
    }

    SegmentHead& head() const { return *reinterpret_cast<SegmentHead*>(memory); }
    Section network() const { return {memory + Layout::network_at, Layout(head().host_count).network_words}; }
    Section status() const {
        const Layout layout(head().host_count);
        return {memory + layout.status_at, layout.status_words};
    }
};

namespace {

/// What an agent knows of the whole network, as bytes for the shared memory.
template <class Codec>
void fields(Codec& codec, Coded<Codec, NetworkView>& view) {
    const auto hosts = static_cast<std::size_t>(view.host_count);
    codec.number(view.changes, 8);
    codec.number(view.unknown_links, 4);
    codec.number(view.version, 4);
    codec.number(view.version_hash, 8);
    codec.list(view.tree, 4, hosts, [&](auto& edge) {
        codec.number(edge.first, 4);
        codec.number(edge.second, 4);
        codec.require(0 <= edge.first && edge.first < edge.second && edge.second < view.host_count);
    });
    for (auto* const matrix : {&view.latency_us, &view.last_known_us, &view.bandwidth_bytes_per_us})
        codec.items(*matrix, hosts * hosts, [&](auto& value) { codec.real(value); });
    codec.items(view.host_speeds, hosts, [&](auto& each) {
        codec.real(each.copy_bytes_per_us);
        codec.real(each.reduce_bytes_per_us);
        codec.real(each.message_us);
    });
}

/// Somebody else holds the lock that an agent takes on its segment.
bool is_locked(int file) {
    struct flock lock{};
    lock.l_type = F_WRLCK;
    lock.l_whence = SEEK_SET;
    return fcntl(file, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

bool is_whole(const SegmentHead& head, std::size_t size_bytes) {
    return head.magic == SegmentHead::right_magic && head.layout == SegmentHead::right_layout &&
           head.host_count > 0 && head.host_count <= most_numbered_hosts &&
           Layout(head.host_count).size_bytes == size_bytes;
}

}  // namespace

std::string segment_prefix() { return "mutirao-" + std::to_string(geteuid()) + "-"; }
std::string segment_path(const std::string& name) { return "/dev/shm/" + name; }
std::string daemon_segment_name() {
    char host[65] = {};
    gethostname(host, sizeof host - 1);
    std::string name = segment_prefix() + "daemon-" + host;
    std::replace(name.begin(), name.end(), '/', '_');
    return name;
}

std::string full_segment_name(const std::string& given) {
    return given.starts_with(segment_prefix()) ? given : segment_prefix() + given;
}

std::string segment_name(std::uint64_t job, int host) {
    return segment_prefix() + hexadecimal(job) + "-" + std::to_string(host);
}

std::optional<ViewReader> ViewReader::attach(const std::string& name) {
    if (name.find('/') != std::string::npos) return std::nullopt;
    auto mapping = std::make_shared<Mapping>();
    mapping->file = File(open(segment_path(name).c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
    struct stat about{};
    if (!mapping->file || fstat(mapping->file.number(), &about) != 0 ||
        about.st_uid != geteuid() || about.st_size < static_cast<off_t>(sizeof(SegmentHead)))
        return std::nullopt;
    mapping->size_bytes = static_cast<std::size_t>(about.st_size);
    void* memory = mmap(nullptr, mapping->size_bytes, PROT_READ, MAP_SHARED,
                        mapping->file.number(), 0);
    if (memory == MAP_FAILED) return std::nullopt;
    mapping->memory = static_cast<std::byte*>(memory);
    if (!is_whole(mapping->head(), mapping->size_bytes)) return std::nullopt;
    return ViewReader(std::move(mapping));
}

std::uint64_t ViewReader::changes() const {
    return mapping_->head().changes.load(std::memory_order_acquire);
}

std::optional<NetworkView> ViewReader::read() const {
    const auto bytes = mapping_->network().read();
    if (!bytes) return std::nullopt;
    ByteReader reader(*bytes);
    NetworkView view;
    view.host_count = host_count();
    fields(reader, view);
    return reader.ended_well() ? std::optional(std::move(view)) : std::nullopt;
}

std::optional<std::string> ViewReader::status() const {
    const auto bytes = mapping_->status().read();
    if (!bytes) return std::nullopt;
    return std::string(reinterpret_cast<const char*>(bytes->data()), bytes->size());
}

int ViewReader::self() const { return mapping_->head().self; }
int ViewReader::host_count() const { return mapping_->head().host_count; }
std::uint64_t ViewReader::job() const { return mapping_->head().job; }
int ViewReader::pid() const { return mapping_->head().pid; }

bool ViewReader::gone() const {
    if (mapping_->head().ended.load(std::memory_order_acquire) != 0) return true;
    return !is_locked(mapping_->file.number());
}

namespace {

constexpr const char* folder = "/dev/shm";

bool lock(int file) {
    struct flock wanted{};
    wanted.l_type = F_WRLCK;
    wanted.l_whence = SEEK_SET;
    return fcntl(file, F_OFD_SETLK, &wanted) == 0;
}

std::string system_says() { return std::generic_category().message(errno); }

bool is_same_file(int file, const std::string& path) {
    struct stat mine{}, named{};
    return fstat(file, &mine) == 0 && lstat(path.c_str(), &named) == 0 &&
           mine.st_dev == named.st_dev && mine.st_ino == named.st_ino;
}

File open_to_lock(const std::string& path) {
    return File(open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
}

std::string path_of(const File& file) {
    return "/proc/self/fd/" + std::to_string(file.number());
}

/// Gives the file, which is locked, a name that may be another's. Empty, or why it is refused.
std::string give_name(const File& file, const std::string& path) {
    const std::string first = path + "." + std::to_string(getpid());
    const bool named = linkat(AT_FDCWD, path_of(file).c_str(), AT_FDCWD, first.c_str(), AT_SYMLINK_FOLLOW) == 0 &&
                       rename(first.c_str(), path.c_str()) == 0;
    if (named) return {};
    const std::string reason = system_says();
    unlink(first.c_str());
    return path + ": " + reason + ": remove it, or choose another name";
}

/// A file without a name, opened once for the memory and once for the lock.
struct Nameless {
    File memory;
    File locked;
};

/// With memory behind every byte: a full /dev/shm must show here, not as a signal later.
std::optional<Nameless> nameless_file(std::size_t size_bytes, std::string& why_not) {
    Nameless file;
    const char* need = "shared memory must be mounted there and writable";
    const std::string room = std::to_string(size_bytes / 1024 + 1) + " KiB must be free";
    file.memory = File(open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
    if (file.memory) {
        need = room.c_str();
        errno = posix_fallocate(file.memory.number(), 0, static_cast<off_t>(size_bytes));
        if (errno == 0) {
            need = "files there must take locks";
            file.locked = File(open(path_of(file.memory).c_str(), O_RDWR | O_CLOEXEC));
            if (file.locked && lock(file.locked.number())) return file;
        }
    }
    why_not = std::string(folder) + ": " + system_says() + ": " + need;
    return std::nullopt;
}

}  // namespace

std::unique_ptr<Segment> Segment::make(const SegmentIdentity& identity, std::string& why_not) {
    const std::string path = segment_path(identity.name);
    const File remnant = open_to_lock(path);  // locked until it is replaced, so that nobody else removes what does
    if (remnant && !lock(remnant.number())) {
        why_not = "another agent of this name is running on this host";
        return nullptr;
    }
    const std::size_t size_bytes = Layout(identity.host_count).size_bytes;
    std::optional<Nameless> file = nameless_file(size_bytes, why_not);
    if (!file) return nullptr;
    void* memory = mmap(nullptr, size_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file->memory.number(), 0);
    if (memory == MAP_FAILED) {
        why_not = "no memory for the view";
        return nullptr;
    }
    auto mapping = std::make_shared<ViewReader::Mapping>();
    mapping->memory = static_cast<std::byte*>(memory);
    mapping->size_bytes = size_bytes;
    auto* head = new (memory) SegmentHead;
    head->pid = getpid();
    head->self = identity.self;
    head->host_count = identity.host_count;
    head->job = identity.job;
    why_not = give_name(file->locked, path);
    if (!why_not.empty()) return nullptr;
    return std::unique_ptr<Segment>(new Segment(std::move(mapping), identity.name, std::move(file->locked)));
}

Segment::~Segment() {
    const bool forked = mapping_->head().pid != getpid();
    if (forked) return;
    end();
    if (is_same_file(lock_.number(), segment_path(name_)))
        unlink(segment_path(name_).c_str());
}

void Segment::end() { mapping_->head().ended.store(1, std::memory_order_release); }

void Segment::publish(const NetworkView& view) {
    ByteWriter writer;
    fields(writer, view);
    if (mapping_->network().write(std::move(writer).take()))
        mapping_->head().changes.fetch_add(1, std::memory_order_release);
}

void Segment::publish(std::string_view status) {
    mapping_->status().write(std::as_bytes(std::span(status)));
}

std::vector<FoundSegment> list_segments() {
    std::vector<FoundSegment> found;
    std::error_code none;  // then there is nothing to be listed
    for (const auto& entry : std::filesystem::directory_iterator(folder, none)) {
        const std::string name = entry.path().filename();
        if (!name.starts_with(segment_prefix())) continue;
        if (const auto reader = ViewReader::attach(name)) found.push_back({name, !reader->gone()});
    }
    std::ranges::sort(found, {}, &FoundSegment::name);
    return found;
}

// Whoever holds a remnant's lock may be about to remove it as well: only the holder does, and only what still has the
// name.
void remove_stale_segments() {
    for (const FoundSegment& each : list_segments()) {
        const std::string path = segment_path(each.name);
        const File file = each.alive ? File() : open_to_lock(path);
        if (file && lock(file.number()) && is_same_file(file.number(), path)) unlink(path.c_str());
    }
}

}  // namespace mutirao::agent
