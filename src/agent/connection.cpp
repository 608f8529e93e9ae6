#include "agent/connection.h"

#include <sys/socket.h>

#include <array>
#include <cerrno>

namespace mutirao::agent {
namespace {

constexpr int most_reads_at_once = 8;

bool would_block() { return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR; }

}  // namespace

void Connection::use(const Session& session) {
    session_ = session;
    counter_ = 0;
}

std::optional<std::uint32_t> Connection::send(int self, Kind kind,
                                              std::span<const std::byte> payload,
                                              Counters& counters) {
    if (broken) return std::nullopt;
    const std::size_t waiting = waiting_.size() - sent_;
    if (waiting + payload.size() > most_waiting_bytes || counter_ == UINT32_MAX) {
        broken = true;
        return std::nullopt;
    }
    append_frame(waiting_, {kind, self, peer, session_.number, ++counter_}, payload,
                 session_.key);
    if (waiting == 0) flush(counters);
    return counter_;
}

void Connection::flush(Counters& counters) {
    while (wants_to_write()) {
        const ssize_t count = ::send(socket(), waiting_.data() + sent_, waiting_.size() - sent_,
                                     MSG_NOSIGNAL | MSG_DONTWAIT);
        if (count < 0) {
            if (!would_block()) broken = true;
            break;
        }
        sent_ += static_cast<std::size_t>(count);
        counters[Count::tcp_bytes_sent] += static_cast<std::uint64_t>(count);
    }
    waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(sent_));
    sent_ = 0;
}

void Connection::receive(Counters& counters) {
    std::array<std::byte, 16 * 1024> bytes;
    for (int reads = 0; reads < most_reads_at_once; ++reads) {
        const ssize_t count = recv(socket(), bytes.data(), bytes.size(), MSG_DONTWAIT);
        if (count < 0 && would_block()) return;
        if (count <= 0) {
            if (decoder.unfinished_bytes() > 0) ++counters[Count::rejected_truncated];
            broken = true;
            return;
        }
        counters[Count::tcp_bytes_received] += static_cast<std::uint64_t>(count);
        decoder.feed(std::span(bytes).first(static_cast<std::size_t>(count)));
        if (static_cast<std::size_t>(count) < bytes.size()) return;
    }
}

}  // namespace mutirao::agent
