#include "router/forwarder.h"

#include <arpa/inet.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <netinet/ip.h>
#include <sys/socket.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace mutirao::lab {

namespace {

constexpr std::size_t batch_frames = 32;
constexpr std::size_t largest_frame_bytes = 68 * 1024;
constexpr int socket_buffer_bytes = 64 << 20;
constexpr Nanoseconds longest_lead_ns = 50'000;

// What PACKET_VNET_HDR puts before each frame: virtio_net_hdr of linux/virtio_net.h, which C++
// cannot include (a member is named `class`).
struct OffloadHeader {
    std::uint8_t flags;
    std::uint8_t segmentation;  // 0: none
    std::uint16_t headers_bytes;
    std::uint16_t segment_bytes;
    std::uint16_t checksum_start;
    std::uint16_t checksum_offset;
};
constexpr std::size_t offload_header_bytes = sizeof(OffloadHeader);
static_assert(offload_header_bytes == 10);
constexpr std::size_t ip_at = offload_header_bytes + ETH_HLEN;

Nanoseconds read_clock(clockid_t clock) {
    timespec now{};
    clock_gettime(clock, &now);
    return Nanoseconds{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

void set_option(int fd, int level, int option, int value, const char* step) {
    require(setsockopt(fd, level, option, &value, sizeof value) == 0, step);
}

// Without root only up to net.core.rmem_max; what then overruns is counted.
void enlarge(int fd, int forced, int permitted) {
    const int bytes = socket_buffer_bytes;
    if (setsockopt(fd, SOL_SOCKET, forced, &bytes, sizeof bytes) == 0) return;
    set_option(fd, SOL_SOCKET, permitted, bytes, "enlarging a buffer");
}

UniqueFd open_port(const std::string& interface) {
    UniqueFd port(socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    require(static_cast<bool>(port), "opening a packet socket");
    const int fd = port.get();
    set_option(fd, SOL_PACKET, PACKET_VNET_HDR, 1, "asking for unsplit frames");
    set_option(fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, 1, "asking for incoming packets only");
    set_option(fd, SOL_PACKET, PACKET_QDISC_BYPASS, 1, "asking for direct sending");
    set_option(fd, SOL_SOCKET, SO_TIMESTAMPNS, 1, "asking for time stamps");
    enlarge(fd, SO_RCVBUFFORCE, SO_RCVBUF);
    enlarge(fd, SO_SNDBUFFORCE, SO_SNDBUF);
    sockaddr_ll address{};
    address.sll_family = AF_PACKET;
    address.sll_protocol = htons(ETH_P_ALL);
    address.sll_ifindex = static_cast<int>(if_nametoindex(interface.c_str()));
    require(bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0,
            "taking the packets of " + interface);
    return port;
}

// What the frame is on a real wire, where a segmented send is many packets with their own headers.
std::size_t bytes_on_wire(const std::byte* bytes, std::size_t size) {
    OffloadHeader offload{};
    std::memcpy(&offload, bytes, sizeof offload);
    const std::size_t frame = size - offload_header_bytes;
    const std::size_t headers = offload.headers_bytes;
    if (offload.segmentation == 0 || offload.segment_bytes == 0 || frame <= headers) {
        return frame;
    }
    const std::size_t segment = offload.segment_bytes;
    const std::size_t segments = (frame - headers + segment - 1) / segment;
    return frame + (segments - 1) * headers;
}

}  // namespace

Nanoseconds monotonic_now() { return read_clock(CLOCK_MONOTONIC); }

/// Where a burst of packets is received, with the time at which each was sent.
struct Forwarder::Batch {
    std::vector<std::byte> bytes = std::vector<std::byte>(batch_frames * largest_frame_bytes);
    std::array<mmsghdr, batch_frames> messages{};
    std::array<iovec, batch_frames> parts{};
    struct alignas(cmsghdr) Ancillary {
        char bytes[CMSG_SPACE(sizeof(timespec))];
    };
    std::array<Ancillary, batch_frames> ancillaries{};

    std::byte* frame(std::size_t slot) { return bytes.data() + slot * largest_frame_bytes; }

    int receive(int fd) {
        for (std::size_t slot = 0; slot < batch_frames; ++slot) {
            parts[slot] = {frame(slot), largest_frame_bytes};
            msghdr& header = messages[slot].msg_hdr;
            header = {};
            header.msg_iov = &parts[slot];
            header.msg_iovlen = 1;
            header.msg_control = &ancillaries[slot];
            header.msg_controllen = sizeof ancillaries[slot];
        }
        return recvmmsg(fd, messages.data(), batch_frames, MSG_DONTWAIT, nullptr);
    }

    // Counting from here, not from when this process was scheduled, keeps a busy machine's
    // packets on time.
    Nanoseconds age(std::size_t slot, Nanoseconds wall_clock_now) {
        const cmsghdr* header = CMSG_FIRSTHDR(&messages[slot].msg_hdr);
        if (header == nullptr || header->cmsg_type != SCM_TIMESTAMPNS) return 0;
        timespec stamp{};
        std::memcpy(&stamp, CMSG_DATA(header), sizeof stamp);
        const Nanoseconds sent = Nanoseconds{stamp.tv_sec} * 1'000'000'000 + stamp.tv_nsec;
        constexpr Nanoseconds longest = 1'000'000'000;  // beyond: the wall clock was set
        const Nanoseconds age = wall_clock_now - sent;
        return age >= 0 && age < longest ? age : 0;
    }
};

Forwarder::Forwarder(const std::vector<Host>& hosts, LinkTable& links)
    : links_(links), host_of_address_(1 << 16, -1), batch_(std::make_unique<Batch>()) {
    for (std::size_t index = 0; index < hosts.size(); ++index) {
        ports_.push_back(open_port(hosts[index].router_interface));
        host_of_address_[hosts[index].address & 0xffff] = static_cast<std::int16_t>(index);
    }
}

Forwarder::~Forwarder() = default;

void Forwarder::take_from(std::size_t host) {
    const int count = batch_->receive(ports_[host].get());
    if (count <= 0) return;
    const Nanoseconds now = monotonic_now();
    const Nanoseconds wall_clock_now = read_clock(CLOCK_REALTIME);
    for (std::size_t slot = 0; slot < static_cast<std::size_t>(count); ++slot) {
        queue(host, batch_->frame(slot), batch_->messages[slot].msg_len,
              now - batch_->age(slot, wall_clock_now));
    }
}

std::optional<int> Forwarder::destination(const std::byte* bytes, std::size_t size) const {
    if (size < ip_at + sizeof(iphdr)) return std::nullopt;
    std::uint16_t protocol = 0;
    std::memcpy(&protocol, bytes + ip_at - sizeof protocol, sizeof protocol);
    if (protocol != htons(ETH_P_IP)) return std::nullopt;
    std::uint32_t address = 0;
    std::memcpy(&address, bytes + ip_at + offsetof(iphdr, daddr), sizeof address);
    address = ntohl(address);
    if (address >> 16 != (10U << 8 | 77U)) return std::nullopt;
    const int host = host_of_address_[address & 0xffff];
    return host < 0 ? std::nullopt : std::optional<int>(host);
}

void Forwarder::queue(std::size_t from, const std::byte* bytes, std::size_t size,
                      Nanoseconds sent) {
    const int source = static_cast<int>(from);
    const auto to = destination(bytes, size);
    if (!to || *to == source) return;  // broadcasts and the like: the wide area carries none
    const auto due = links_.admit(source, *to, bytes_on_wire(bytes, size), sent);
    if (!due) return;
    Frame frame{*due, order_++, source, *to, links_.limits_entry(source, *to),
                static_cast<std::uint32_t>(size),
                std::make_unique_for_overwrite<std::byte[]>(size)};
    std::memcpy(frame.bytes.get(), bytes, size);
    keep(std::move(frame));
}

void Forwarder::keep(Frame frame) {
    heap_.push_back(std::move(frame));
    std::push_heap(heap_.begin(), heap_.end(), later);
}

bool Forwarder::later(const Frame& a, const Frame& b) {
    return a.due != b.due ? a.due > b.due : a.order > b.order;
}

void Forwarder::deliver() {
    while (!heap_.empty() && heap_.front().due - lead_ <= monotonic_now()) {
        std::pop_heap(heap_.begin(), heap_.end(), later);
        Frame frame = std::move(heap_.back());
        heap_.pop_back();
        if (frame.enters) {
            enter_site(std::move(frame));
        } else {
            send(frame);
        }
    }
}

void Forwarder::enter_site(Frame frame) {
    const std::size_t bytes = bytes_on_wire(frame.bytes.get(), frame.size);
    const auto due = links_.enter(frame.from, frame.to, bytes, frame.due);
    if (!due) return;
    frame.due = *due;
    frame.enters = false;
    keep(std::move(frame));
}

void Forwarder::send(const Frame& frame) {
    const int port = ports_[static_cast<std::size_t>(frame.to)].get();
    const Nanoseconds started = monotonic_now();
    if (::send(port, frame.bytes.get(), frame.size, MSG_DONTWAIT) < 0) {
        links_.count_drop(frame.from, frame.to);
    }
    const Nanoseconds arrived = monotonic_now();  // sending runs the receiver's network stack
    lead_ += (std::min(arrived - started, longest_lead_ns) - lead_) / 16;
    const Nanoseconds late = std::max<Nanoseconds>(0, arrived - frame.due);
    ++punctuality_.forwarded;
    punctuality_.late_sum += late;
    punctuality_.late_max = std::max(punctuality_.late_max, late);
}

std::optional<Nanoseconds> Forwarder::next_due() const {
    if (heap_.empty()) return std::nullopt;
    return heap_.front().due;
}

const Punctuality& Forwarder::punctuality() {
    for (const UniqueFd& port : ports_) {
        tpacket_stats since{};
        socklen_t size = sizeof since;
        if (getsockopt(port.get(), SOL_PACKET, PACKET_STATISTICS, &since, &size) == 0) {
            punctuality_.overruns += since.tp_drops;
        }
    }
    return punctuality_;
}

}  // namespace mutirao::lab
