#include "agent/view_reader.h"

#include <algorithm>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cstdio>

#include "agent/mapping.h"
#include "agent/published.h"

namespace mutirao::agent {
namespace {

bool lies_within(const SectionPlace& place, std::size_t size_bytes) {
    if (place.offset_bytes % sizeof(std::uint64_t) != 0 || place.offset_bytes > size_bytes ||
        place.capacity_words > size_bytes / sizeof(std::uint64_t))
        return false;
    return place.offset_bytes + Section::bytes_for(place.capacity_words) <= size_bytes;
}

bool is_whole(const SegmentHead& head, std::size_t size_bytes) {
    return head.magic == SegmentHead::right_magic && head.layout == SegmentHead::right_layout &&
           head.size_bytes == size_bytes && head.host_count > 0 &&
           head.host_count <= HostSet::most_hosts && lies_within(head.network, size_bytes) &&
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
    char tail[40];
    std::snprintf(tail, sizeof tail, "%016llx-%d", static_cast<unsigned long long>(job), host);
    return segment_prefix() + tail;
}

bool is_locked(int file) {
    struct flock lock{};
    lock.l_type = F_WRLCK;
    lock.l_whence = SEEK_SET;
    return fcntl(file, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

ViewReader::Mapping::~Mapping() {
    if (memory != nullptr) munmap(memory, size_bytes);
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

ViewReader::ViewReader(std::shared_ptr<Mapping> mapping) : mapping_(std::move(mapping)) {}
ViewReader::ViewReader(ViewReader&&) noexcept = default;
ViewReader& ViewReader::operator=(ViewReader&&) noexcept = default;
ViewReader::~ViewReader() = default;

std::uint64_t ViewReader::changes() const {
    return mapping_->head().changes.load(std::memory_order_acquire);
}

std::optional<NetworkView> ViewReader::read() const {
    const auto bytes = mapping_->network().read();
    auto published = bytes ? decode_published(*bytes, host_count()) : std::nullopt;
    return published ? std::optional(std::move(published->view)) : std::nullopt;
}

std::optional<Version> ViewReader::complete() const {
    const auto bytes = mapping_->network().read();
    auto published = bytes ? decode_published(*bytes, host_count()) : std::nullopt;
    return published ? std::optional(std::move(published->version)) : std::nullopt;
}

std::optional<Status> ViewReader::status() const {
    const auto bytes = mapping_->status().read();
    return bytes ? decode_status(*bytes) : std::nullopt;
}

int ViewReader::self() const { return mapping_->head().self; }
int ViewReader::host_count() const { return mapping_->head().host_count; }
std::uint64_t ViewReader::job() const { return mapping_->head().job; }
int ViewReader::pid() const { return mapping_->head().pid; }

bool ViewReader::gone() const {
    if (mapping_->head().ended.load(std::memory_order_acquire) != 0) return true;
    return mapping_->file && !is_locked(mapping_->file.number());
}

}  // namespace mutirao::agent
