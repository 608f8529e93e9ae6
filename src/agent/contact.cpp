#include "agent/contact.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>

#include <algorithm>
#include <memory>
#include <vector>

namespace mutirao::agent {
namespace {

Contact contact_with(const std::vector<std::uint32_t>& addresses, std::uint16_t tcp_port,
                     std::uint16_t udp_port) {
    Contact contact;
    contact.tcp_port = tcp_port;
    contact.udp_port = udp_port;
    contact.address_count = static_cast<std::uint16_t>(
        std::min(addresses.size(), static_cast<std::size_t>(Contact::most_addresses)));
    std::copy_n(addresses.begin(), contact.address_count, contact.addresses.begin());
    return contact;
}

std::uint32_t number_of(const sockaddr* address) {
    return ntohl(reinterpret_cast<const sockaddr_in*>(address)->sin_addr.s_addr);
}

}  // namespace

Contact contact_of_this_host(std::uint16_t tcp_port, std::uint16_t udp_port) {
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
    return contact_with(addresses, tcp_port, udp_port);
}

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
    return contact_with(addresses, port, port);
}

}  // namespace mutirao::agent
