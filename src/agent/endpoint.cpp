#include "agent/endpoint.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <system_error>
#include <vector>

namespace mutirao::agent {

sockaddr_in socket_address(std::uint32_t address, std::uint16_t port) {
    sockaddr_in made{};
    made.sin_family = AF_INET;
    made.sin_addr.s_addr = htonl(address);
    made.sin_port = htons(port);
    return made;
}

namespace {

Contact contact_with(const std::vector<std::uint32_t>& addresses, std::uint16_t port) {
    Contact contact;
    contact.tcp_port = contact.udp_port = port;
    contact.address_count = static_cast<std::uint16_t>(
        std::min(addresses.size(), static_cast<std::size_t>(Contact::most_addresses)));
    std::copy_n(addresses.begin(), contact.address_count, contact.addresses.begin());
    return contact;
}

std::uint32_t number_of(const sockaddr* address) {
    return ntohl(reinterpret_cast<const sockaddr_in*>(address)->sin_addr.s_addr);
}

/// The addresses of the interfaces that are up, the loopback's only if there is no other; both ports the same.
Contact contact_of_this_host(std::uint16_t port) {
    std::vector<std::uint32_t> addresses;
    ifaddrs* list = nullptr;
    if (getifaddrs(&list) == 0) {
        const std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> owner(list, freeifaddrs);
        for (const ifaddrs* each = list; each != nullptr; each = each->ifa_next) {
            const bool usable = (each->ifa_flags & IFF_UP) != 0 &&
                                (each->ifa_flags & IFF_LOOPBACK) == 0 &&
                                each->ifa_addr != nullptr && each->ifa_addr->sa_family == AF_INET;
            if (usable) addresses.push_back(number_of(each->ifa_addr));
        }
    }
    if (addresses.empty()) addresses.push_back(INADDR_LOOPBACK);
    return contact_with(addresses, port);
}

constexpr int waiting_connections = 1024;
/// For a port that is free for TCP and UDP alike.
constexpr int most_ports_tried = 32;

std::optional<std::uint16_t> bind_to(int socket, std::uint16_t port) {
    sockaddr_in address = socket_address(INADDR_ANY, port);
    socklen_t length = sizeof address;
    auto* generic = reinterpret_cast<sockaddr*>(&address);
    if (bind(socket, generic, length) != 0 || getsockname(socket, generic, &length) != 0)
        return std::nullopt;
    return ntohs(address.sin_port);
}

}  // namespace

std::optional<Contact> contact_of(const std::string& host, std::uint16_t port) {
    addrinfo wanted{};
    wanted.ai_family = AF_INET;
    wanted.ai_socktype = SOCK_STREAM;
    addrinfo* list = nullptr;
    if (getaddrinfo(host.c_str(), nullptr, &wanted, &list) != 0) return std::nullopt;
    const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owner(list, freeaddrinfo);
    std::vector<std::uint32_t> addresses;
    for (const addrinfo* each = list; each != nullptr; each = each->ai_next)
        addresses.push_back(number_of(each->ai_addr));
    return contact_with(addresses, port);
}

std::optional<Endpoint> Endpoint::open(std::uint16_t port, std::string* why_not) {
    const auto refused = [&](const std::string& what) {
        if (why_not != nullptr) *why_not = what + ": " + std::generic_category().message(errno);
        return std::nullopt;
    };
    constexpr int flags = SOCK_CLOEXEC | SOCK_NONBLOCK;
    const int yes = 1;
    for (int tries = 0; tries < most_ports_tried; ++tries) {
        File tcp(socket(AF_INET, SOCK_STREAM | flags, 0));
        File udp(socket(AF_INET, SOCK_DGRAM | flags, 0));
        if (!tcp || !udp) return refused("socket");
        // The connections of an agent that ended a moment ago must not keep the next from its port.
        setsockopt(tcp.number(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
        setsockopt(udp.number(), SOL_SOCKET, SO_TIMESTAMPNS, &yes, sizeof yes);
        const auto tcp_port = bind_to(tcp.number(), port);
        if (!tcp_port || listen(tcp.number(), waiting_connections) != 0)
            return refused("TCP port " + std::to_string(port));
        if (bind_to(udp.number(), *tcp_port))
            return Endpoint(std::move(tcp), std::move(udp), contact_of_this_host(*tcp_port));
        if (port != 0) break;
    }
    return refused("UDP port " + std::to_string(port));
}

}  // namespace mutirao::agent
