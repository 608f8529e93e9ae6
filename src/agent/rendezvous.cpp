#include "agent/rendezvous.h"

#include <poll.h>
#include <sodium.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <memory>
#include <span>
#include <thread>
#include <type_traits>
#include <utility>

#include "agent/system.h"

namespace mutirao::agent {
namespace {

/// Hosts, and ranks of a host: connections that are held at once.
constexpr std::size_t most_guests = 256;

static_assert(std::is_trivially_copyable_v<Invitation> && sizeof(Invitation) == sizeof(Contact) + sizeof(Key));

/// As it is sent, in the hosts' order of bytes.
struct Arrival {
    Key nonce;  ///< of its sender's making, by which it knows that the answer is no older one
    std::uint32_t rank = 0;
    std::uint32_t ranks = 0;
    Said said{};
    Mac mac{};  ///< of all before

    std::span<const std::byte> bytes() const { return std::as_bytes(std::span(this, 1)); }
    Mac right_mac(const Key& key) const { return mac_of(key, bytes().first(sizeof(Arrival) - sizeof mac)); }
};
static_assert(std::is_trivially_copyable_v<Arrival> && sizeof(Arrival) == sizeof(Key) + 8 + sizeof(Said) + sizeof(Mac));

Mac mac_of_answer(const Key& key, const Key& nonce, std::span<const Said> all) {
    return mac_of(derived_key(key, nonce.bytes), std::as_bytes(all));
}

int ms_until(std::int64_t until_ns) {
    return static_cast<int>(std::clamp<std::int64_t>((until_ns - now_ns()) / ns_per_ms, 0, 60'000));
}

bool send_all(const File& socket, std::span<const std::byte> bytes, std::int64_t until_ns) {
    while (!bytes.empty()) {
        const ssize_t count = send(socket.number(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
        pollfd polled{socket.number(), POLLOUT, 0};
        if (count > 0) {
            bytes = bytes.subspan(static_cast<std::size_t>(count));
        } else if (errno != EAGAIN || poll(&polled, 1, ms_until(until_ns)) <= 0) {
            return false;
        }
    }
    return true;
}

/// False: nothing more will come. `received`: of `into`, so far.
bool receive(const File& socket, std::span<std::byte> into, std::size_t& received) {
    const ssize_t count = recv(socket.number(), into.data() + received, into.size() - received, 0);
    if (count > 0) received += static_cast<std::size_t>(count);
    return count > 0 || (count < 0 && (errno == EAGAIN || errno == EINTR));
}

/// A connection, over which one rank says something, or one of a host for all of it.
struct Guest {
    File socket;
    std::vector<Arrival> arrivals;
    std::unique_ptr<Arrival> next = std::make_unique<Arrival>();
    std::size_t received = 0;  ///< of the next one
};

/// Who comes to a listening socket, if there is one.
class Guests {
  public:
    Guests(const Key& key, const int door, std::function<void(const Arrival&)> when_one_is_here)
        : key_(key), door_(door), when_one_is_here_(std::move(when_one_is_here)) {}

    /// Until one of them says something, or `beside` has something to read: true.
    bool wait_beside(int beside, int most_ms) {
        std::vector<pollfd> polled{{beside, POLLIN, 0}, {door_, POLLIN, 0}};
        for (const Guest& each : all_) polled.push_back({each.socket.number(), POLLIN, 0});
        if (poll(polled.data(), polled.size(), most_ms) <= 0) return false;
        for (std::size_t each = all_.size(); each-- > 0;) {
            if (polled[each + 2].revents != 0 && !hear(all_[each])) {
                all_.erase(all_.begin() + static_cast<std::ptrdiff_t>(each));
            }
        }
        if (polled[1].revents != 0) {
            File socket(accept4(door_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
            if (socket && all_.size() < most_guests) all_.push_back({std::move(socket), {}});
        }
        return polled[0].revents != 0;
    }

    /// By rank; empty: some are not here.
    std::vector<Said> all_said() const {
        std::vector<Said> said;
        std::size_t here = 0;
        for (const Guest& guest : all_) {
            for (const Arrival& each : guest.arrivals) {
                said.resize(each.ranks);
                said[each.rank] = each.said;
                ++here;
            }
        }
        return here == said.size() ? said : std::vector<Said>();
    }

    void tell(std::span<const Said> all, std::int64_t until_ns) const {
        for (const Guest& each : all_) {
            if (!each.arrivals.empty() && send_all(each.socket, std::as_bytes(all), until_ns)) {
                send_all(each.socket, mac_of_answer(key_, each.arrivals.front().nonce, all), until_ns);
            }
        }
    }

  private:
    /// False: it is sent away.
    bool hear(Guest& guest) {
        if (!receive(guest.socket, std::as_writable_bytes(std::span(guest.next.get(), 1)), guest.received)) return false;
        if (guest.received < sizeof(Arrival)) return true;
        if (!is_welcome(*guest.next)) return false;
        guest.received = 0;
        guest.arrivals.push_back(*guest.next);
        when_one_is_here_(guest.arrivals.back());
        return true;
    }
    /// Of the others' job, and has not been here.
    bool is_welcome(const Arrival& arrival) const {
        const auto excludes_it = [&](const Arrival& other) {
            return other.rank == arrival.rank || other.ranks != arrival.ranks;
        };
        return equal(arrival.right_mac(key_), arrival.mac) && arrival.ranks <= Rendezvous::most_ranks &&
               arrival.rank < arrival.ranks && std::ranges::none_of(all_, [&](const Guest& guest) {
                   return std::ranges::any_of(guest.arrivals, excludes_it);
               });
    }

    Key key_;
    int door_;
    std::function<void(const Arrival&)> when_one_is_here_;
    std::vector<Guest> all_;
};

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

/// How a rank comes to the others.
struct Route {
    File socket = File();
    File door = File();  ///< where other ranks of this host come; none: this one has come to such a door itself, or there can be none
};

// A name in no file system, which ends with its socket; only who has the key can take it beforehand.
Route route_to(const Invitation& invitation, std::uint64_t host, std::int64_t until_ns) {
    const Key name = derived_key(invitation.key, std::as_bytes(std::span(&host, 1)));
    sockaddr_un place{AF_UNIX, {}};
    std::memcpy(place.sun_path + 1, name.bytes.data(), key_bytes);
    const auto* const address = reinterpret_cast<const sockaddr*>(&place);
    constexpr socklen_t length = offsetof(sockaddr_un, sun_path) + 1 + key_bytes;
    for (; now_ns() < until_ns; std::this_thread::sleep_for(std::chrono::milliseconds(1))) {
        File socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
        const bool is_first = bind(socket.number(), address, length) == 0;
        if (!is_first && errno != EADDRINUSE) return {connect_to(invitation.place, until_ns), File()};
        if (is_first && listen(socket.number(), SOMAXCONN) == 0) {
            return {connect_to(invitation.place, until_ns), std::move(socket)};
        }
        if (!is_first && connect(socket.number(), address, length) == 0) return {std::move(socket), File()};
    }
    return Route();
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
    return read_digits(text, std::as_writable_bytes(std::span(&made, 1))) ? std::optional(made) : std::nullopt;
}

std::optional<Rendezvous> Rendezvous::open() {
    auto endpoint = Endpoint::open();
    const auto key = random_key();
    return endpoint && key ? std::optional(Rendezvous(std::move(*endpoint), *key)) : std::nullopt;
}

// What is said to one should not wait for another that reads slowly: connections have room for all of it.
void Rendezvous::serve(int end) {
    constexpr int room_bytes = most_ranks * sizeof(Said);
    setsockopt(endpoint_.tcp(), SOL_SOCKET, SO_SNDBUF, &room_bytes, sizeof room_bytes);
    Guests guests(key_, endpoint_.tcp(), [](const Arrival&) {});
    while (guests.all_said().empty()) {
        if (guests.wait_beside(end, -1)) return;
    }
    guests.tell(guests.all_said(), now_ns() + 5 * ns_per_s);
}

std::optional<std::vector<Said>> meet(const Invitation& invitation, const Speaker& me, const Said& mine,
                                      std::int64_t until_ns) {
    const auto nonce = random_key();
    const Route route = nonce ? route_to(invitation, me.host, until_ns) : Route();
    if (!route.socket) return std::nullopt;
    const auto say = [&](const Arrival& arrival) { return send_all(route.socket, arrival.bytes(), until_ns); };
    Arrival arrival{*nonce, me.rank, me.ranks, mine, {}};
    arrival.mac = arrival.right_mac(invitation.key);
    if (!say(arrival)) return std::nullopt;
    Guests others(invitation.key, route.door.number(), say);
    std::vector<std::byte> answer(me.ranks * sizeof(Said) + sizeof(Mac));
    for (std::size_t received = 0; received < answer.size();) {
        const bool is_told = others.wait_beside(route.socket.number(), ms_until(until_ns));
        if (is_told ? !receive(route.socket, answer, received) : now_ns() >= until_ns) return std::nullopt;
    }
    std::vector<Said> all(me.ranks);
    std::memcpy(all.data(), answer.data(), me.ranks * sizeof(Said));
    if (!equal(mac_of_answer(invitation.key, arrival.nonce, all), std::span(answer).last(sizeof(Mac)))) return std::nullopt;
    others.tell(all, until_ns);
    return all;
}

}  // namespace mutirao::agent
