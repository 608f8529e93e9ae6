#include "agent/mesh.h"

#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "core/text/bytes.h"

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

namespace {

using Stage = Connection::Stage;

/// Accepted but not yet known to be of the job, from addresses of the contacts and from others alike;
/// for more, the oldest ones go.
constexpr int most_strangers = 64;
constexpr std::int64_t accept_pause_ns = ns_per_s;
constexpr std::int64_t first_backoff_ns = 50 * ns_per_ms;
constexpr std::int64_t longest_backoff_ns = 2 * ns_per_s;

std::int64_t backoff_ns(int attempts) {
    return std::min(first_backoff_ns << std::min(attempts, 10), longest_backoff_ns);
}

struct Hello {
    std::uint64_t job = 0, number = 0;
};
template <class Codec>
void fields(Codec& codec, Coded<Codec, Hello>& hello) {
    codec.number(hello.job, 8);
    codec.number(hello.number, 8);
}

struct Welcome {
    Hello hello;
    std::uint64_t answered = 0;
};
template <class Codec>
void fields(Codec& codec, Coded<Codec, Welcome>& welcome) {
    fields(codec, welcome.hello);
    codec.number(welcome.answered, 8);
}

/// Channels outlast a dead link: it may come back, and what was sent with it.
void set_up_channel(int socket, const Options& options) {
    const int yes = 1;
    const auto limit_ms = static_cast<unsigned>(4 * options.dead_after_ms);
    setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    setsockopt(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, &limit_ms, sizeof limit_ms);
}

/// The least of what connecting took, what the greeting took and what the kernel measured on both: a
/// busy host makes each of them longer, and none shorter.
double greeting_round_trip_us(const Connection& connection) {
    const std::int64_t greeting_ns = now_ns() - connection.greeted_ns;
    double least_us =
        std::min(connection.connect_us, static_cast<double>(greeting_ns) / ns_per_us);
    tcp_info about{};
    socklen_t length = sizeof about;
    if (getsockopt(connection.socket(), IPPROTO_TCP, TCP_INFO, &about, &length) == 0 &&
        about.tcpi_rtt > 0)
        least_us = std::min(least_us, static_cast<double>(about.tcpi_rtt));
    return least_us;
}

}  // namespace

Mesh::Mesh(const Job& job, const Endpoint& endpoint, Counters& counters, MeshListener& listener)
    : job_(job),
      endpoint_(endpoint),
      counters_(counters),
      listener_(listener),
      peers_(job_.contacts.size()),
      datagram_peers_(job_.contacts.size()) {
    for (const Contact& contact : job_.contacts)
        contact_addresses_.insert(contact.addresses.begin(),
                                  contact.addresses.begin() + contact.address_count);
}

Expectation Mesh::expectation_of(std::optional<int> sender, const Session& session) const {
    return {job_.self, host_count(), sender, session};
}

std::optional<std::uint32_t> Mesh::send(int peer, Kind kind, std::span<const std::byte> payload) {
    Connection* channel = peers_[index(peer)].channel;
    return channel == nullptr ? std::nullopt : channel->send(job_.self, kind, payload, counters_);
}

void Mesh::add_sockets(std::vector<pollfd>& sockets) const {
    constexpr int none = -1;  // passed over
    sockets.push_back({endpoint_.udp(), POLLIN, 0});
    sockets.push_back({accept_again_ns_ == 0 ? endpoint_.tcp() : none, POLLIN, 0});
    for (const auto& each : connections_) {
        const bool reads = each->stage != Stage::connecting, writes = !reads || each->wants_to_write();
        sockets.push_back({each->socket(), static_cast<short>((reads ? POLLIN : 0) | (writes ? POLLOUT : 0)), 0});
    }
}

void Mesh::on_ready(std::span<const pollfd> sockets, std::int64_t now_ns) {
    const auto of_connections = sockets.subspan(2);
    for (std::size_t i = 0; i < of_connections.size(); ++i) {
        Connection& connection = *connections_[i];
        const int events = of_connections[i].revents;
        if (connection.broken || events == 0) continue;
        if (connection.stage == Stage::connecting) {
            on_connected(connection, now_ns);
            continue;
        }
        if ((events & ~POLLIN) != 0) connection.flush(counters_);
        if ((events & ~POLLOUT) != 0) read(connection);
    }
    if (sockets[1].revents != 0) accept_all(now_ns);
}

void Mesh::tick(std::int64_t now_ns) {
    clear_broken(now_ns);
    if (now_ns >= accept_again_ns_) accept_again_ns_ = 0;
    for (int peer = job_.self + 1; peer < host_count(); ++peer) {
        const Peer& each = peers_[index(peer)];
        if (each.channel == nullptr && each.attempt == nullptr && now_ns >= each.next_attempt_ns)
            connect_to(peer, now_ns);
    }
}

std::int64_t Mesh::next_ns() const {
    std::int64_t next = accept_again_ns_ != 0 ? accept_again_ns_ : never_ns;
    for (int peer = job_.self + 1; peer < host_count(); ++peer) {
        const Peer& each = peers_[index(peer)];
        if (each.channel == nullptr && each.attempt == nullptr)
            next = std::min(next, each.next_attempt_ns);
    }
    for (const auto& connection : connections_) {
        if (connection->broken) return 0;
        if (connection->stage != Stage::up)
            next = std::min(next, connection->started_ns + patience_to_greet_ns(job_.options));
    }
    return next;
}

void Mesh::accept_all(std::int64_t now_ns) {
    constexpr int flags = SOCK_CLOEXEC | SOCK_NONBLOCK;
    while (true) {
        sockaddr_in from{};
        socklen_t length = sizeof from;
        File socket(accept4(endpoint_.tcp(), reinterpret_cast<sockaddr*>(&from), &length, flags));
        if (!socket) break;
        const bool familiar = contact_addresses_.contains(ntohl(from.sin_addr.s_addr));
        make_room(familiar);
        set_up_channel(socket.number(), job_.options);
        FrameDecoder hello(expectation_of(std::nullopt, {job_.key, 0}));
        keep({std::move(socket), Stage::awaiting_hello, std::move(hello), now_ns})->familiar = familiar;
    }
    if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
        accept_again_ns_ = now_ns + accept_pause_ns;
    }
}

/// Who has connected and says nothing must not keep others out: the oldest of its sort goes.
void Mesh::make_room(bool familiar) {
    const auto is_stranger = [&](const auto& each) {
        return each->stage == Stage::awaiting_hello && each->familiar == familiar && !each->broken;
    };
    if (std::ranges::count_if(connections_, is_stranger) < most_strangers + host_count()) return;
    ++counters_[Count::strangers_dropped];
    (*std::ranges::find_if(connections_, is_stranger))->broken = true;
}

void Mesh::connect_to(int peer, std::int64_t now_ns) {
    Peer& host = peers_[index(peer)];
    const Contact& contact = job_.contacts[index(peer)];
    const int attempt = host.attempts++;
    host.next_attempt_ns = now_ns + backoff_ns(attempt);
    if (contact.address_count == 0) return;
    const auto address = contact.addresses[static_cast<std::size_t>(
        attempt % static_cast<int>(contact.address_count))];
    const sockaddr_in to = socket_address(address, contact.tcp_port);
    File socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!socket) return;
    set_up_channel(socket.number(), job_.options);
    if (connect(socket.number(), reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0 &&
        errno != EINPROGRESS)
        return;
    FrameDecoder welcome(expectation_of(peer, {job_.key, 0}));
    host.attempt = keep({std::move(socket), Stage::connecting, std::move(welcome), now_ns});
    host.attempt->peer = peer;
}

Connection* Mesh::keep(Connection connection) {
    return connections_.emplace_back(std::make_unique<Connection>(std::move(connection))).get();
}

void Mesh::on_connected(Connection& connection, std::int64_t now_ns) {
    int error = 0;
    socklen_t length = sizeof error;
    getsockopt(connection.socket(), SOL_SOCKET, SO_ERROR, &error, &length);
    const auto number = random_number();
    if (error != 0 || !number) {
        connection.broken = true;
        return;
    }
    connection.greeted_ns = now_ns;
    connection.connect_us = static_cast<double>(now_ns - connection.started_ns) / ns_per_us;
    connection.stage = Stage::awaiting_welcome;
    connection.own_number = *number;
    connection.use({job_.key, 0});
    connection.send(job_.self, Kind::hello, to_bytes(Hello{job_.id, *number}), counters_);
}

void Mesh::read(Connection& connection) {
    connection.receive(counters_);
    bool failed = false;
    while (!failed) {
        const auto next = connection.decoder.next();
        if (std::holds_alternative<std::monostate>(next)) return;
        if (const Reject* why = std::get_if<Reject>(&next)) {
            reject(connection, *why);
            return;
        }
        ++counters_[Count::frames_accepted];
        const bool was_broken = connection.broken;
        handle(connection, std::get<Frame>(next));
        failed = connection.broken && !was_broken;
    }
}

void Mesh::reject(Connection& connection, Reject why) {
    ++counters_[why];
    connection.broken = true;
}

void Mesh::handle(Connection& connection, const Frame& frame) {
    switch (connection.stage) {
        case Stage::awaiting_hello: return on_hello(connection, frame);
        case Stage::awaiting_welcome: return on_welcome(connection, frame);
        case Stage::awaiting_confirm:
            if (frame.head.kind != Kind::confirm)
                return reject(connection, Reject::rejected_unexpected);
            return bring_up(connection, std::nullopt);
        case Stage::up:
            // Replaced by a newer connection while this one was being read.
            if (peers_[index(connection.peer)].channel != &connection) return;
            if (frame.head.kind <= Kind::confirm)
                return reject(connection, Reject::rejected_unexpected);
            return listener_.received(connection.peer, frame);
        case Stage::connecting: break;
    }
    reject(connection, Reject::rejected_unexpected);
}

void Mesh::on_hello(Connection& connection, const Frame& frame) {
    const auto hello = from_bytes<Hello>(frame.payload);
    if (!hello) return reject(connection, Reject::rejected_malformed);
    connection.peer_number = hello->number;
    const bool expected = frame.head.kind == Kind::hello && hello->job == job_.id &&
                          frame.head.sender < job_.self;
    const auto number = random_number();
    if (!expected || !number) return reject(connection, Reject::rejected_unexpected);
    connection.peer = frame.head.sender;
    connection.own_number = *number;
    connection.use({job_.key, 0});
    connection.send(job_.self, Kind::welcome,
                    to_bytes(Welcome{{job_.id, *number}, connection.peer_number}), counters_);
    connection.stage = Stage::awaiting_confirm;
    agree(connection);
}

void Mesh::on_welcome(Connection& connection, const Frame& frame) {
    const auto welcome = from_bytes<Welcome>(frame.payload);
    if (!welcome) return reject(connection, Reject::rejected_malformed);
    connection.peer_number = welcome->hello.number;
    if (frame.head.kind != Kind::welcome || welcome->hello.job != job_.id)
        return reject(connection, Reject::rejected_unexpected);
    if (welcome->answered != connection.own_number) return reject(connection, Reject::rejected_replayed);
    agree(connection);
    connection.send(job_.self, Kind::confirm, {}, counters_);
    bring_up(connection, Greeting{connection.connect_us, greeting_round_trip_us(connection)});
}

/// Derives what both sides use from here on; the old key stays until the other proves that it lives.
void Mesh::agree(Connection& connection) {
    const bool lower = job_.self < connection.peer;
    const Sessions sessions = agree_sessions(
        job_.key, job_.id, std::min(job_.self, connection.peer),
        std::max(job_.self, connection.peer),
        lower ? connection.own_number : connection.peer_number,
        lower ? connection.peer_number : connection.own_number);
    connection.use(sessions.channel);
    connection.decoder.expect(expectation_of(connection.peer, sessions.channel));
    connection.datagrams = sessions.datagrams;
}

void Mesh::bring_up(Connection& connection, const std::optional<Greeting>& greeting) {
    const int peer = connection.peer;
    drop_channel(peer);
    Peer& host = peers_[index(peer)];
    connection.stage = Stage::up;
    host.channel = &connection;
    if (host.attempt == &connection) host.attempt = nullptr;
    host.attempts = 0;
    host.datagram_counter = 0;
    datagram_peers_[index(peer)] = {connection.datagrams, {}};
    socklen_t length = sizeof host.datagram_address;
    getpeername(connection.socket(), reinterpret_cast<sockaddr*>(&host.datagram_address),
                &length);
    host.datagram_address.sin_port = htons(job_.contacts[index(peer)].udp_port);
    ++counters_[Count::channels_opened];
    listener_.joined(peer, greeting);
}

void Mesh::drop_channel(int peer) {
    Connection* channel = std::exchange(peers_[index(peer)].channel, nullptr);
    if (channel == nullptr) return;
    channel->broken = true;
    ++counters_[Count::channels_lost];
    listener_.lost(peer);
}

void Mesh::clear_broken(std::int64_t now_ns) {
    const auto is_over = [&](const auto& each) {
        const bool greets = each->stage != Stage::up;
        return each->broken || (greets && now_ns - each->started_ns >= patience_to_greet_ns(job_.options));
    };
    // Whoever hears of one that is lost may break others, by what it sends.
    while (true) {
        const auto found = std::ranges::find_if(connections_, is_over);
        if (found == connections_.end()) return;
        const std::unique_ptr<Connection> ended = std::move(*found);
        connections_.erase(found);
        if (ended->peer < 0) continue;
        Peer& host = peers_[index(ended->peer)];
        if (host.attempt == ended.get()) host.attempt = nullptr;
        if (host.channel == ended.get()) drop_channel(ended->peer);
    }
}

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

std::optional<std::uint32_t> Mesh::send_datagram(const sockaddr_in& to, int peer, Kind kind,
                                                 std::span<const std::byte> payload) {
    const Session& session = datagram_peers_[index(peer)].session;
    std::uint32_t& counter = peers_[index(peer)].datagram_counter;
    if (session.number == 0 || counter == UINT32_MAX) return std::nullopt;
    sending_.clear();
    append_frame(sending_, {kind, job_.self, peer, session.number, ++counter}, payload, session.key);
    const ssize_t count = sendto(endpoint_.udp(), sending_.data(), sending_.size(), MSG_DONTWAIT,
                                 reinterpret_cast<const sockaddr*>(&to), sizeof to);
    if (count < 0) return std::nullopt;
    ++counters_[Count::udp_packets_sent];
    counters_[Count::udp_bytes_sent] += static_cast<std::uint64_t>(count) + ip_and_udp_bytes;
    return counter;
}

void Mesh::send_datagrams(int peer, Kind kind, std::span<const std::span<const std::byte>> payloads) {
    const Session& session = datagram_peers_[index(peer)].session;
    std::uint32_t& counter = peers_[index(peer)].datagram_counter;
    if (session.number == 0 || UINT32_MAX - counter < payloads.size()) return;
    sending_.clear();
    std::vector<iovec> parts;
    for (const auto& payload : payloads) {
        const std::size_t begin = sending_.size();
        append_frame(sending_, {kind, job_.self, peer, session.number, ++counter}, payload, session.key);
        parts.push_back({nullptr, sending_.size() - begin});
    }
    sockaddr_in to = peers_[index(peer)].datagram_address;
    std::vector<mmsghdr> messages(parts.size());
    std::byte* next = sending_.data();  // which moves no more
    for (std::size_t i = 0; i < parts.size(); ++i) {
        parts[i].iov_base = std::exchange(next, next + parts[i].iov_len);
        messages[i].msg_hdr = {&to, sizeof to, &parts[i], 1, nullptr, 0, 0};
    }
    const int sent = sendmmsg(endpoint_.udp(), messages.data(), static_cast<unsigned>(messages.size()), MSG_DONTWAIT);
    for (int i = 0; i < sent; ++i) {
        ++counters_[Count::udp_packets_sent];
        counters_[Count::udp_bytes_sent] += messages[static_cast<std::size_t>(i)].msg_len + ip_and_udp_bytes;
    }
}

std::optional<Datagram> Mesh::receive_datagram() {
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
        const ssize_t count = recvmsg(endpoint_.udp(), &message, MSG_DONTWAIT);
        if (count < 0) {
            // What an earlier datagram met on its way (port unreachable) is reported here.
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
        const auto opened = open_datagram(std::span(received_).first(size), job_.self, datagram_peers_);
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
