// Where the agent of a host can be reached, as a plain value of fixed size that MPI can carry, and the sockets behind it,
// bound before the other agents are known, so that their ports can be told to them.
#pragma once

#include <netinet/in.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "agent/system.h"

namespace mutirao::agent {

/// IPv4 only. All numbers in the order of bytes of the hosts, which MPI programs share.
struct Contact {
    static constexpr int most_addresses = 8;

    std::array<std::uint32_t, most_addresses> addresses{};  ///< to be tried in this order
    std::uint16_t address_count = 0;
    std::uint16_t tcp_port = 0;
    std::uint16_t udp_port = 0;
    std::uint16_t unused = 0;

    bool operator==(const Contact&) const = default;
};
static_assert(sizeof(Contact) <= 64 && std::is_trivially_copyable_v<Contact>);

sockaddr_in socket_address(std::uint32_t address, std::uint16_t port);

/// A host by name or number, both ports the same. Nothing if the name cannot be resolved.
std::optional<Contact> contact_of(const std::string& host, std::uint16_t port);

class Endpoint {
  public:
    /// One UDP and one TCP socket of the same port (0: any) on all IPv4 interfaces, not inherited
    /// by programs that this process starts. Nothing, and `why_not` says why, if the port is taken,
    /// or there are no sockets to be had.
    static std::optional<Endpoint> open(std::uint16_t port = 0, std::string* why_not = nullptr);

    const Contact& contact() const { return contact_; }
    int tcp() const { return tcp_.number(); }
    int udp() const { return udp_.number(); }

  private:
    Endpoint(File tcp, File udp, Contact contact)
        : tcp_(std::move(tcp)), udp_(std::move(udp)), contact_(contact) {}

    File tcp_;
    File udp_;
    Contact contact_;
};

}  // namespace mutirao::agent
