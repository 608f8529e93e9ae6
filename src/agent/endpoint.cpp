#include "agent/endpoint.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>
#include <system_error>

namespace mutirao::agent {
namespace {

constexpr int waiting_connections = 1024;
/// For a port that is free for TCP and UDP alike.
constexpr int most_tries = 32;

std::optional<std::uint16_t> bind_to(int socket, std::uint16_t port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_ANY);
    socklen_t length = sizeof address;
    auto* generic = reinterpret_cast<sockaddr*>(&address);
    if (bind(socket, generic, length) != 0 || getsockname(socket, generic, &length) != 0)
        return std::nullopt;
    return ntohs(address.sin_port);
}

}  // namespace

std::optional<Endpoint> Endpoint::open(std::uint16_t port, std::string* why_not) {
    const auto refused = [&](const std::string& what) {
        if (why_not != nullptr) *why_not = what + ": " + std::generic_category().message(errno);
        return std::nullopt;
    };
    constexpr int flags = SOCK_CLOEXEC | SOCK_NONBLOCK;
    const int yes = 1;
    for (int tries = 0; tries < most_tries; ++tries) {
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
            return Endpoint(std::move(tcp), std::move(udp),
                            contact_of_this_host(*tcp_port, *tcp_port));
        if (port != 0) break;
    }
    return refused("UDP port " + std::to_string(port));
}

}  // namespace mutirao::agent
