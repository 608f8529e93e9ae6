#include "agent/datagrams.h"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "agent/system.h"

namespace mutirao::agent {
namespace {

constexpr std::uint64_t ip_and_udp_bytes = 28;

/// The kernel's time stamp, by the clock of wall_ns(); 0 where it gave none.
std::int64_t stamp_of(msghdr& message) {
    for (cmsghdr* each = CMSG_FIRSTHDR(&message); each != nullptr;
         each = CMSG_NXTHDR(&message, each)) {
        if (each->cmsg_level != SOL_SOCKET || each->cmsg_type != SO_TIMESTAMPNS) continue;
        timespec time{};
        std::memcpy(&time, CMSG_DATA(each), sizeof time);
        return time.tv_sec * ns_per_s + time.tv_nsec;
    }
    return 0;
}

}  // namespace

std::optional<std::uint32_t> Datagrams::send(int peer, Kind kind,
                                             std::span<const std::byte> payload) {
    return send_to(mesh_.datagram_address(peer), peer, kind, payload);
}

void Datagrams::answer(const Datagram& datagram, Kind kind,
                       std::span<const std::byte> payload) {
    send_to(datagram.from, datagram.frame.head.sender, kind, payload);
}

std::optional<std::uint32_t> Datagrams::send_to(const sockaddr_in& to, int peer, Kind kind,
                                                std::span<const std::byte> payload) {
    sending_.clear();
    const auto counter = mesh_.make_datagram(peer, kind, payload, sending_);
    if (!counter) return std::nullopt;
    const ssize_t count = sendto(socket_, sending_.data(), sending_.size(), MSG_DONTWAIT,
                                 reinterpret_cast<const sockaddr*>(&to), sizeof to);
    if (count < 0) return std::nullopt;
    ++counters_[Count::udp_packets_sent];
    counters_[Count::udp_bytes_sent] += static_cast<std::uint64_t>(count) + ip_and_udp_bytes;
    return counter;
}

std::optional<Datagram> Datagrams::receive() {
    while (true) {
        Datagram datagram;
        alignas(cmsghdr) std::array<char, 128> control;
        iovec part{received_.data(), received_.size()};
        msghdr message{};
        message.msg_name = &datagram.from;
        message.msg_namelen = sizeof datagram.from;
        message.msg_iov = &part;
        message.msg_iovlen = 1;
        message.msg_control = control.data();
        message.msg_controllen = control.size();
        const ssize_t count = recvmsg(socket_, &message, MSG_DONTWAIT);
        if (count < 0) {
            // What an earlier datagram met on its way (port unreachable) is reported here.
            if (errno == EAGAIN || errno == EWOULDBLOCK) return std::nullopt;
            if (errno == ECONNREFUSED || errno == EINTR) continue;
            return std::nullopt;
        }
        const auto size = static_cast<std::size_t>(count);
        ++counters_[Count::udp_packets_received];
        counters_[Count::udp_bytes_received] += size + ip_and_udp_bytes;
        if ((message.msg_flags & MSG_TRUNC) != 0) {
            ++counters_[Count::rejected_oversized];
            continue;
        }
        const auto opened =
            open_datagram(std::span(received_).first(size), self_, mesh_.datagram_peers());
        if (const Reject* why = std::get_if<Reject>(&opened)) {
            ++counters_[*why];
            continue;
        }
        ++counters_[Count::frames_accepted];
        datagram.frame = std::get<Frame>(opened);
        const std::int64_t stamp = stamp_of(message);
        const std::int64_t lag_ns = stamp == 0 ? 0 : wall_ns() - stamp;
        datagram.arrived_ns = now_ns() - std::max<std::int64_t>(lag_ns, 0);
        return datagram;
    }
}

}  // namespace mutirao::agent
