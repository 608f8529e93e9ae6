// The hosts: each a set of namespaces with its own network, name, shared memory and view of /sys.
// They exist as long as this process's descriptors (and the programs inside) do.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/system.h"

namespace mutirao::lab {

// Makes and configures network interfaces over rtnetlink, in the network namespace that the caller
// is in when the socket is made. Done here and not by `ip`, since 240 hosts would start 1,500
// processes.

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

struct Namespaces {
    UniqueFd mount;
    UniqueFd network;
    UniqueFd uts;
    UniqueFd ipc;
};

struct Host {
    std::string name;
    std::uint32_t address = 0;  ///< host byte order
    Namespaces namespaces;
    std::string router_interface;  ///< the other end of its wire, in the router's namespace
};

/// "10.77.0.1". Address in host byte order.
std::string dotted(std::uint32_t address);

struct HostSetting {
    const char* file;  ///< under /proc/sys/net
    const char* value;
};

/// How the hosts' TCP is set, by name.
struct TcpProfile {
    const char* name;
    std::vector<HostSetting> settings;
    const char* congestion_control;
    std::uint32_t first_window_segments;  ///< 0: the system's
};

/// nullptr if there is none of this name.
const TcpProfile* find_tcp_profile(const std::string& name);

/// The namespaces that the router moves into, and from which hosts are made.
class RouterNamespaces {
  public:
    /// Throws SetupError with what is missing where neither root nor a user namespace will do.
    RouterNamespaces();

    bool rootless() const { return static_cast<bool>(user_); }
    /// The user namespace of the lab; -1 as root.
    int user() const { return user_.get(); }

    /// Makes the hosts and wires them to here.
    std::vector<Host> make_hosts(const std::vector<std::string>& names, const TcpProfile& profile);
    /// Empty where the kernel lacks the profile's: then the system's own is in use.
    const std::string& congestion_control() const { return congestion_control_; }

  private:
    void furnish(Host& host, const TcpProfile& profile, const std::string& hosts_file);
    void wire(Host& host, Netlink& netlink, const TcpProfile& profile);
    void enter_own() const;

    UniqueFd user_;
    Namespaces own_;
    std::string congestion_control_;
};

}  // namespace mutirao::lab
