// The hosts: each a set of namespaces with its own network, name, shared memory and view of /sys.
// They exist as long as this process's descriptors (and the programs inside) do.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/system.h"

namespace mutirao::lab {

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

/// The namespaces that the router moves into, and from which hosts are made.
class RouterNamespaces {
  public:
    /// Throws SetupError with what is missing where neither root nor a user namespace will do.
    RouterNamespaces();

    bool rootless() const { return static_cast<bool>(user_); }
    /// The user namespace of the lab; -1 as root.
    int user() const { return user_.get(); }

    /// Makes the hosts, with their TCP set as a profile of that name says, and wires them to here.
    std::vector<Host> make_hosts(const std::vector<std::string>& names, const std::string& tcp);
    /// Empty where the kernel lacks the profile's: then the system's own is in use.
    const std::string& congestion_control() const { return congestion_control_; }

  private:
    void furnish(Host& host, const struct TcpProfile& profile, const std::string& hosts_file);
    void wire(const Host& host, const struct TcpProfile& profile);
    void enter_own() const;

    UniqueFd user_;
    Namespaces own_;
    std::string congestion_control_;
};

}  // namespace mutirao::lab
