#include "agent/rendezvous.h"

#include <poll.h>
#include <sodium.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <type_traits>
#include <utility>

#include "agent/system.h"

namespace mutirao::agent {
namespace {

static_assert(std::is_trivially_copyable_v<Invitation> && sizeof(Invitation) == sizeof(Contact) + sizeof(Key));

/// As it is sent, in the hosts' order of bytes.
struct Arrival {
    Key nonce;  ///< of its sender's making, by which it knows that the answer is no older one
    std::uint32_t rank = 0;
    std::uint32_t ranks = 0;
    Said said{};
    Mac mac{};  ///< of all before

    Mac right_mac(const Key& key) const {
        return mac_of(key, std::as_bytes(std::span(this, 1)).first(sizeof(Arrival) - sizeof mac));
    }
};
static_assert(std::is_trivially_copyable_v<Arrival> && sizeof(Arrival) == sizeof(Key) + 8 + sizeof(Said) + sizeof(Mac));

Mac mac_of_answer(const Key& key, const Key& nonce, std::span<const Said> all) {
    return mac_of(derived_key(key, nonce.bytes), std::as_bytes(all));
}

/// What comes over a connection, up to a known length.
class Incoming {
  public:
    Incoming(File socket, std::span<std::byte> into) : socket_(std::move(socket)), left_(into) {}

    int socket() const { return socket_.number(); }
    bool is_complete() const { return left_.empty(); }
    /// False: nothing more will come.
    bool receive() {
        const ssize_t count = recv(socket(), left_.data(), left_.size(), 0);
        if (count > 0) left_ = left_.subspan(static_cast<std::size_t>(count));
        return count > 0 || (count < 0 && (errno == EAGAIN || errno == EINTR));
    }

  private:
    File socket_;
    std::span<std::byte> left_;
};

/// All of it at once: a new connection's buffer takes more than anything that is said here.
bool send_all(int socket, std::span<const std::byte> bytes) {
    return send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(bytes.size());
}

struct Guest {
    explicit Guest(File socket) : incoming(std::move(socket), std::as_writable_bytes(std::span(arrival.get(), 1))) {}

    std::unique_ptr<Arrival> arrival = std::make_unique<Arrival>();
    Incoming incoming;
    bool is_seated = false;  ///< has said all, and waits for the others
};

/// Who is there.
class Guests {
  public:
    explicit Guests(const Key& key) : key_(key) {}

    void poll_too(std::vector<pollfd>& polled) const {
        for (const Guest& each : all_) polled.push_back({each.incoming.socket(), POLLIN, 0});
    }
    void let_in(File socket) {
        constexpr std::size_t most = 2 * Rendezvous::most_ranks;
        if (socket && all_.size() < most) all_.emplace_back(std::move(socket));
    }
    /// `polled`: as they were, one for each.
    void hear(std::span<const pollfd> polled) {
        for (std::size_t each = polled.size(); each-- > 0;) {
            if (polled[each].revents != 0 && !goes_on(all_[each])) {
                all_.erase(all_.begin() + static_cast<std::ptrdiff_t>(each));
            }
        }
    }
    /// True once: all are there.
    bool tell_all() const {
        std::vector<Said> said;
        std::size_t seated = 0;
        for (const Guest& each : all_) {
            if (each.is_seated) {
                said.resize(each.arrival->ranks);
                said[each.arrival->rank] = each.arrival->said;
                ++seated;
            }
        }
        if (seated == 0 || seated < said.size()) return false;
        for (const Guest& each : all_) {
            const Mac mac = mac_of_answer(key_, each.arrival->nonce, said);
            if (each.is_seated && send_all(each.incoming.socket(), std::as_bytes(std::span(said)))) {
                send_all(each.incoming.socket(), mac);
            }
        }
        return true;
    }

  private:
    bool goes_on(Guest& guest) {
        if (guest.is_seated || !guest.incoming.receive()) return false;
        return !guest.incoming.is_complete() || (guest.is_seated = is_welcome(*guest.arrival));
    }
    /// Of the others' job, and has not been here.
    bool is_welcome(const Arrival& arrival) const {
        return equal(arrival.right_mac(key_), arrival.mac) && arrival.ranks <= Rendezvous::most_ranks &&
               arrival.rank < arrival.ranks && std::ranges::none_of(all_, [&](const Guest& other) {
                   return other.is_seated && (other.arrival->rank == arrival.rank || other.arrival->ranks != arrival.ranks);
               });
    }

    Key key_;
    std::vector<Guest> all_;
};

int ms_until(std::int64_t until_ns) {
    return static_cast<int>(std::clamp<std::int64_t>((until_ns - now_ns()) / ns_per_ms, 0, 60'000));
}

// A host may have addresses that others do not reach, or where they reach something else: the first connection is taken.
File connect_to(const Contact& place, std::int64_t until_ns) {
    std::vector<File> sockets;
    std::vector<pollfd> polled;
    for (int each = 0; each < std::min<int>(place.address_count, Contact::most_addresses); ++each) {
        File socket(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
        const sockaddr_in address = socket_address(place.addresses[static_cast<std::size_t>(each)], place.tcp_port);
        if (socket && (connect(socket.number(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 ||
                       errno == EINPROGRESS)) {
            polled.push_back({socket.number(), POLLOUT, 0});
            sockets.push_back(std::move(socket));
        }
    }
    for (auto left = polled.size(); left > 0 && poll(polled.data(), polled.size(), ms_until(until_ns)) > 0;) {
        for (std::size_t each = 0; each < polled.size(); ++each) {
            if (polled[each].revents == 0) continue;
            int error = 0;
            socklen_t length = sizeof error;
            getsockopt(polled[each].fd, SOL_SOCKET, SO_ERROR, &error, &length);
            if (error == 0 && (polled[each].revents & POLLOUT) != 0) return std::move(sockets[each]);
            polled[each].fd = -1;
            --left;
        }
    }
    return File();
}

}  // namespace

std::string Invitation::text() const {
    std::string digits(2 * sizeof *this + 1, '\0');
    sodium_bin2hex(digits.data(), digits.size(), reinterpret_cast<const unsigned char*>(this), sizeof *this);
    digits.pop_back();
    return digits;
}

std::optional<Invitation> Invitation::from(std::string_view text) {
    Invitation made;
    std::size_t read = 0;
    const int failed = sodium_hex2bin(reinterpret_cast<unsigned char*>(&made), sizeof made, text.data(), text.size(),
                                      nullptr, &read, nullptr);
    return failed == 0 && read == sizeof made ? std::optional(made) : std::nullopt;
}

std::optional<Rendezvous> Rendezvous::open() {
    auto endpoint = Endpoint::open();
    const auto key = random_key();
    return endpoint && key ? std::optional(Rendezvous(std::move(*endpoint), *key)) : std::nullopt;
}

void Rendezvous::serve(int end) {
    Guests guests(key_);
    while (!guests.tell_all()) {
        std::vector<pollfd> polled{{end, POLLIN, 0}, {endpoint_.tcp(), POLLIN, 0}};
        guests.poll_too(polled);
        if (poll(polled.data(), polled.size(), -1) < 0) continue;  // interrupted
        if (polled[0].revents != 0) return;
        guests.hear(std::span(polled).subspan(2));
        guests.let_in(File(accept4(endpoint_.tcp(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC)));
    }
}

std::optional<std::vector<Said>> meet(const Invitation& invitation, std::uint32_t rank, std::uint32_t ranks,
                                      const Said& mine, std::int64_t until_ns) {
    const auto nonce = random_key();
    File socket = nonce ? connect_to(invitation.place, until_ns) : File();
    if (!socket) return std::nullopt;
    Arrival arrival{*nonce, rank, ranks, mine, {}};
    arrival.mac = arrival.right_mac(invitation.key);
    if (!send_all(socket.number(), std::as_bytes(std::span(&arrival, 1)))) return std::nullopt;
    std::vector<std::byte> answer(ranks * sizeof(Said) + sizeof(Mac));
    Incoming incoming(std::move(socket), answer);
    pollfd polled{incoming.socket(), POLLIN, 0};
    while (!incoming.is_complete()) {
        if (poll(&polled, 1, ms_until(until_ns)) <= 0 || !incoming.receive()) return std::nullopt;
    }
    std::vector<Said> all(ranks);
    std::memcpy(all.data(), answer.data(), ranks * sizeof(Said));
    const bool is_ours = equal(mac_of_answer(invitation.key, arrival.nonce, all), std::span(answer).last(sizeof(Mac)));
    return is_ours ? std::optional(std::move(all)) : std::nullopt;
}

}  // namespace mutirao::agent
