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
};

/// A piece of shared memory in this process, for the reading and the writing end alike.
struct ViewReader::Mapping {
    File file;  ///< of its own for a reader of another process; none for the agent's own process
    std::byte* memory = nullptr;
    std::size_t size_bytes = 0;

    ~Mapping() {
        if (memory != nullptr) munmap(memory, size_bytes);
    }

    SegmentHead& head() const { return *reinterpret_cast<SegmentHead*>(memory); }
    Section network() const { return {memory, head().network}; }
    Section status() const { return {memory, head().status}; }
};

namespace {

constexpr std::size_t fixed_bytes = 64;
constexpr std::size_t edge_bytes = 8;
constexpr std::size_t speed_bytes = 24;

template <class Codec>
void tree_fields(Codec& codec, Coded<Codec, EdgeList>& tree, int host_count) {
    codec.list(tree, 4, static_cast<std::size_t>(host_count), [&](auto& edge) {
        codec.number(edge.first, 4);
        codec.number(edge.second, 4);
        codec.require(0 <= edge.first && edge.first < edge.second && edge.second < host_count);
    });
}

template <class Codec>
void matrix_fields(Codec& codec, Coded<Codec, std::vector<double>>& matrix, int host_count) {
    const auto hosts = static_cast<std::size_t>(host_count);
    codec.items(matrix, hosts * hosts, [&](auto& value) { codec.real(value); });
}

template <class Codec>
void fields(Codec& codec, Coded<Codec, NetworkView>& view, Coded<Codec, Version>& complete, int hosts) {
    codec.number(view.changes, 8);
    codec.number(view.unknown_links, 4);
    codec.number(view.version, 4);
    codec.number(view.version_hash, 8);
    codec.number(complete.number, 4);
    codec.number(complete.hash, 8);
    tree_fields(codec, view.tree, hosts);
    tree_fields(codec, complete.tree, hosts);
    matrix_fields(codec, view.latency_us, hosts);
    matrix_fields(codec, view.last_known_us, hosts);
    matrix_fields(codec, complete.latency_us, hosts);
    matrix_fields(codec, view.bandwidth_bytes_per_us, hosts);
    codec.items(view.host_speeds, static_cast<std::size_t>(hosts), [&](auto& each) {
        codec.real(each.copy_bytes_per_us);
        codec.real(each.reduce_bytes_per_us);
        codec.real(each.message_us);
    });
}

/// More than is ever published.
std::size_t most_published_bytes(int host_count) {
    const auto hosts = static_cast<std::size_t>(host_count);
    return fixed_bytes + hosts * (2 * edge_bytes + speed_bytes) + 4 * hosts * hosts * sizeof(double);
}

bool lies_within(const SectionPlace& place, std::size_t size_bytes) {
    if (place.offset_bytes % sizeof(std::uint64_t) != 0 || place.offset_bytes > size_bytes ||
        place.capacity_words > size_bytes / sizeof(std::uint64_t))
        return false;
    return place.offset_bytes + Section::bytes_for(place.capacity_words) <= size_bytes;
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
           head.size_bytes == size_bytes && head.host_count > 0 &&
           head.host_count <= most_numbered_hosts && lies_within(head.network, size_bytes) &&
           lies_within(head.status, size_bytes);
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

std::optional<Published> ViewReader::published() const {
    const auto bytes = mapping_->network().read();
    if (!bytes) return std::nullopt;
    ByteReader reader(*bytes);
    Published both;
    both.view.host_count = both.version.host_count = host_count();
    fields(reader, both.view, both.version, host_count());
    return reader.ended_well() ? std::optional(std::move(both)) : std::nullopt;
}

std::optional<NetworkView> ViewReader::read() const {
    auto both = published();
    return both ? std::optional(std::move(both->view)) : std::nullopt;
}

std::optional<Version> ViewReader::complete() const {
    auto both = published();
    return both ? std::optional(std::move(both->version)) : std::nullopt;
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
    return mapping_->file && !is_locked(mapping_->file.number());
}

namespace {

constexpr const char* folder = "/dev/shm";
constexpr int most_tries = 100;

std::size_t most_status_bytes(int host_count) {
    return 64 * 1024 + static_cast<std::size_t>(host_count) * 1024;
}

SectionPlace place_section(std::size_t& end_bytes, std::size_t most_bytes) {
    const std::size_t words = most_bytes / sizeof(std::uint64_t) + 1;
    const SectionPlace place{end_bytes, words};
    end_bytes += Section::bytes_for(words);
    return place;
}

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

bool is_own_file(const std::string& path) {
    struct stat named{};
    return lstat(path.c_str(), &named) == 0 && S_ISREG(named.st_mode) &&
           named.st_uid == geteuid();
}

/// What is in the way, right after it could not be removed.
std::string obstacle(const std::string& path) {
    std::string what = ": " + system_says();
    struct stat named{};
    if (lstat(path.c_str(), &named) == 0) {
        if (S_ISDIR(named.st_mode))
            what = " is a directory";
        else if (!S_ISREG(named.st_mode))
            what = " is no file";
        else if (named.st_uid != geteuid())
            what = " belongs to user " + std::to_string(named.st_uid);
    }
    return path + what + ": remove it, or choose another name";
}

/// Removes the file of that name if no living agent holds it. Who holds its lock may be about to
/// remove it as well; only the holder does, and only what still has the name.
enum class Remnant : std::uint8_t { removed, alive, refused };
Remnant remove_remnant(const std::string& path) {
    const File file(open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    if (!file && errno == ENOENT) return Remnant::removed;
    // No agent's: those have a mode with which their user can open them.
    if (!file && errno == EACCES && is_own_file(path))
        return unlink(path.c_str()) == 0 ? Remnant::removed : Remnant::refused;
    if (!file) return Remnant::refused;
    if (!lock(file.number())) return Remnant::alive;
    if (!is_same_file(file.number(), path)) return Remnant::removed;
    return unlink(path.c_str()) == 0 ? Remnant::removed : Remnant::refused;
}

std::string path_of(const File& file) {
    return "/proc/self/fd/" + std::to_string(file.number());
}

/// Gives the file, which is locked, the name; `wrong`: why it is refused.
Segment::Outcome give_name(const File& file, const std::string& path, std::string& wrong) {
    const std::string nameless = path_of(file);
    wrong = path + " is taken again and again";
    for (int tries = 0; tries < most_tries; ++tries) {
        if (linkat(AT_FDCWD, nameless.c_str(), AT_FDCWD, path.c_str(), AT_SYMLINK_FOLLOW) == 0)
            return Segment::Outcome::made;
        if (errno != EEXIST) {
            wrong = path + ": " + system_says();
            return Segment::Outcome::refused;
        }
        switch (remove_remnant(path)) {
            case Remnant::removed: break;
            case Remnant::alive: return Segment::Outcome::held_by_another;
            case Remnant::refused:
                wrong = obstacle(path);
                return Segment::Outcome::refused;
        }
    }
    return Segment::Outcome::refused;
}

/// A file without a name, opened once for the memory and once for the lock.
struct Nameless {
    File memory;
    File locked;
    std::string wrong;
};

/// With memory behind every byte: a full /dev/shm must show here, not as a signal later.
Nameless nameless_file(std::size_t size_bytes) {
    const auto refused = [](int error, const std::string& need) {
        errno = error;
        return Nameless{File(), File(), std::string(folder) + ": " + system_says() + ": " + need};
    };
    Nameless file;
    file.memory = File(open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
    if (!file.memory) return refused(errno, "shared memory must be mounted there and writable");
    const int error =
        posix_fallocate(file.memory.number(), 0, static_cast<off_t>(size_bytes));
    if (error != 0)
        return refused(error, std::to_string(size_bytes / 1024 + 1) + " KiB must be free");
    file.locked = File(open(path_of(file.memory).c_str(), O_RDWR | O_CLOEXEC));
    if (!file.locked || !lock(file.locked.number()))
        return refused(errno, "files there must take locks");
    return file;
}

}  // namespace

Segment::Outcome Segment::make(const SegmentIdentity& identity,
                               std::unique_ptr<Segment>& segment) {
    std::size_t size_bytes = (sizeof(SegmentHead) + 63) / 64 * 64;
    const SectionPlace network =
        place_section(size_bytes, most_published_bytes(identity.host_count));
    const SectionPlace status =
        place_section(size_bytes, most_status_bytes(identity.host_count));

    Nameless file = nameless_file(size_bytes);
    const int flags = file.memory ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS;
    void* memory =
        mmap(nullptr, size_bytes, PROT_READ | PROT_WRITE, flags, file.memory.number(), 0);
    if (memory == MAP_FAILED) return Outcome::refused;
    auto mapping = std::make_shared<ViewReader::Mapping>();
    mapping->memory = static_cast<std::byte*>(memory);
    mapping->size_bytes = size_bytes;
    auto* head = new (memory) SegmentHead;
    head->pid = getpid();
    head->self = identity.self;
    head->host_count = identity.host_count;
    head->job = identity.job;
    head->size_bytes = size_bytes;
    head->network = network;
    head->status = status;

    const Outcome named =
        file.locked ? give_name(file.locked, segment_path(identity.name), file.wrong)
                    : Outcome::refused;
    if (named == Outcome::held_by_another) return named;
    segment.reset(new Segment(std::move(mapping)));
    segment->lock_ = std::move(file.locked);
    if (named == Outcome::made)
        segment->name_ = identity.name;
    else
        segment->why_unnamed_ = file.wrong;
    return Outcome::made;
}

Segment::~Segment() {
    const bool forked = mapping_->head().pid != getpid();
    if (forked) return;
    end();
    if (!name_.empty() && is_same_file(lock_.number(), segment_path(name_)))
        unlink(segment_path(name_).c_str());
}

void Segment::end() { mapping_->head().ended.store(1, std::memory_order_release); }

void Segment::publish(const NetworkView& view, const Version& version) {
    ByteWriter writer;
    fields(writer, view, version, view.host_count);
    if (mapping_->network().write(std::move(writer).take()))
        mapping_->head().changes.fetch_add(1, std::memory_order_release);
}

void Segment::publish(std::string_view status) {
    mapping_->status().write(std::as_bytes(std::span(status)));
}

ViewReader Segment::reader() const { return ViewReader(mapping_); }

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

void remove_stale_segments() {
    for (const FoundSegment& each : list_segments())
        if (!each.alive) remove_remnant(segment_path(each.name));
}

}  // namespace mutirao::agent
