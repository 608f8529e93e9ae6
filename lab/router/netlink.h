// Makes and configures network interfaces over rtnetlink, in the network namespace that the caller
// is in when the socket is made. Done here and not by `ip`, since 240 hosts would start 1,500
// processes.
#pragma once

#include <cstdint>
#include <string>

#include "common/system.h"

namespace mutirao::lab {

/// What the hosts' TCP does with the route to the others.
struct RouteMetrics {
    std::string congestion_control;  ///< empty: the system's
    std::uint32_t first_window_segments = 0;  ///< of both directions; 0: the system's
};

/// Every function throws SetupError if the kernel refuses.
class Netlink {
  public:
    Netlink();

    /// A pair of interfaces: `name` here, `peer` in the namespace that `peer_namespace` refers to.
    void create_veth(const std::string& name, const std::string& peer, int peer_namespace);
    void bring_up(const std::string& name, bool without_arp);
    /// Address in host byte order.
    void add_address(const std::string& name, std::uint32_t address, int prefix_length);
    /// Gives the route to the address's own network these metrics; false if the kernel does not
    /// have the congestion control.
    bool set_route_metrics(const std::string& name, std::uint32_t address, int prefix_length,
                           const RouteMetrics& metrics);

  private:
    class Message;
    int exchange(Message& message);  // 0 or errno

    UniqueFd socket_;
    std::uint32_t sequence_ = 0;
};

}  // namespace mutirao::lab
