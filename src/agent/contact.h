// Where the agent of a host can be reached, as a plain value of fixed size that MPI can carry.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>

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

/// The addresses of the interfaces that are up; the loopback's only if there is no other.
Contact contact_of_this_host(std::uint16_t tcp_port, std::uint16_t udp_port);

/// A host by name or number, both ports the same. Nothing if the name cannot be resolved.
std::optional<Contact> contact_of(const std::string& host, std::uint16_t port);

}  // namespace mutirao::agent
