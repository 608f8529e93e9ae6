#include "router/host_namespaces.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <linux/veth.h>
#include <net/if.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>
#include <vector>

#include "common/system.h"

namespace mutirao::lab {
namespace {

// One address for all hosts' ends: with ARP off, each sends to its own address and so reaches any.
constexpr unsigned char shared_mac[6] = {0x02, 0x6d, 0x75, 0x74, 0x69, 0x72};

int index_of(const std::string& name) {
    const unsigned index = if_nametoindex(name.c_str());
    require(index != 0, "looking up the interface " + name);
    return static_cast<int>(index);
}

/// A request under construction: a header, the family's own struct, and nested attributes.
class Message {
  public:
    template <typename Family>
    Message(std::uint16_t type, int flags, const Family& family) {
        bytes_.resize(NLMSG_HDRLEN);
        header().nlmsg_type = type;
        header().nlmsg_flags =
            static_cast<std::uint16_t>(flags | NLM_F_REQUEST | NLM_F_ACK);
        append(&family, sizeof family);
    }

    void append(const void* data, std::size_t size) {
        const std::size_t at = bytes_.size();
        bytes_.resize(at + NLMSG_ALIGN(size));
        if (size != 0) std::memcpy(bytes_.data() + at, data, size);
    }

    void attribute(int type, const void* data, std::size_t size) {
        rtattr head{};
        head.rta_len = static_cast<unsigned short>(RTA_LENGTH(size));
        head.rta_type = static_cast<unsigned short>(type);
        append(&head, sizeof head);
        append(data, size);
    }

    void attribute(int type, const std::string& text) {
        attribute(type, text.c_str(), text.size() + 1);
    }

    void attribute(int type, std::uint32_t value) { attribute(type, &value, sizeof value); }

    std::size_t open(int type) {
        const std::size_t at = bytes_.size();
        attribute(type, nullptr, 0);
        return at;
    }

    void close(std::size_t at) {
        const auto size = static_cast<unsigned short>(bytes_.size() - at);
        std::memcpy(bytes_.data() + at + offsetof(rtattr, rta_len), &size, sizeof size);
    }

    nlmsghdr& header() { return *reinterpret_cast<nlmsghdr*>(bytes_.data()); }

    const std::vector<unsigned char>& finish(std::uint32_t sequence) {
        header().nlmsg_len = static_cast<std::uint32_t>(bytes_.size());
        header().nlmsg_seq = sequence;
        return bytes_;
    }

  private:
    std::vector<unsigned char> bytes_;
};

/// Makes and configures network interfaces over rtnetlink, in the network namespace that the caller is in when the
/// socket is made. Done here and not by `ip`, since 240 hosts would start 1,500 processes. Every function throws
/// SetupError if the kernel refuses.
class Netlink {
  public:
    Netlink() : socket_(socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE)) {
        require(static_cast<bool>(socket_), "opening a netlink socket");
    }

    /// A pair of interfaces: `name` here, `peer` in the namespace that `peer_namespace` refers to.
    void create_veth(const std::string& name, const std::string& peer, int peer_namespace) {
        Message message(RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL, ifinfomsg{});
        message.attribute(IFLA_IFNAME, name);
        message.attribute(IFLA_ADDRESS, shared_mac, sizeof shared_mac);
        const auto info = message.open(IFLA_LINKINFO);
        message.attribute(IFLA_INFO_KIND, std::string("veth"));
        const auto data = message.open(IFLA_INFO_DATA);
        const auto other = message.open(VETH_INFO_PEER);
        const ifinfomsg family{};
        message.append(&family, sizeof family);
        message.attribute(IFLA_IFNAME, peer);
        message.attribute(IFLA_NET_NS_FD, static_cast<std::uint32_t>(peer_namespace));
        message.close(other);
        message.close(data);
        message.close(info);
        errno = exchange(message);
        require(errno == 0, "making a pair of virtual interfaces (kernel module veth)");
    }

    void bring_up(const std::string& name, bool without_arp) {
        ifinfomsg family{};
        family.ifi_index = index_of(name);
        family.ifi_flags = IFF_UP | (without_arp ? static_cast<unsigned>(IFF_NOARP) : 0U);
        family.ifi_change = family.ifi_flags;
        Message message(RTM_NEWLINK, 0, family);
        errno = exchange(message);
        require(errno == 0, "bringing up the interface " + name);
    }

    /// Address in host byte order.
    void add_address(const std::string& name, std::uint32_t address, int prefix_length) {
        ifaddrmsg family{};
        family.ifa_family = AF_INET;
        family.ifa_prefixlen = static_cast<unsigned char>(prefix_length);
        family.ifa_index = static_cast<unsigned>(index_of(name));
        Message message(RTM_NEWADDR, NLM_F_CREATE | NLM_F_EXCL, family);
        message.attribute(IFA_LOCAL, htonl(address));
        message.attribute(IFA_ADDRESS, htonl(address));
        errno = exchange(message);
        require(errno == 0, "giving the interface " + name + " its address");
    }

    /// Of the route to the address's own network: the congestion control (empty: the system's), and the first window in
    /// both directions (0: the system's). False if the kernel does not have the congestion control.
    bool set_route_metrics(const std::string& name, std::uint32_t address, int prefix_length,
                           const std::string& congestion_control, std::uint32_t first_window_segments) {
        rtmsg family{};
        family.rtm_family = AF_INET;
        family.rtm_dst_len = static_cast<unsigned char>(prefix_length);
        family.rtm_table = RT_TABLE_MAIN;
        family.rtm_protocol = RTPROT_KERNEL;
        family.rtm_scope = RT_SCOPE_LINK;
        family.rtm_type = RTN_UNICAST;
        Message message(RTM_NEWROUTE, NLM_F_REPLACE, family);
        const std::uint32_t network = address & ~((1U << (32 - prefix_length)) - 1);
        message.attribute(RTA_DST, htonl(network));
        message.attribute(RTA_PREFSRC, htonl(address));
        message.attribute(RTA_OIF, static_cast<std::uint32_t>(index_of(name)));
        const auto nested = message.open(RTA_METRICS);
        if (first_window_segments != 0) {
            message.attribute(RTAX_INITCWND, first_window_segments);
            message.attribute(RTAX_INITRWND, first_window_segments);
        }
        if (!congestion_control.empty()) {
            message.attribute(RTAX_CC_ALGO, congestion_control);
        }
        message.close(nested);
        errno = exchange(message);
        if (errno == EINVAL && !congestion_control.empty()) return false;
        require(errno == 0, "setting the route of " + name);
        return true;
    }

  private:
    /// 0 or errno.
    int exchange(Message& message) {
        const auto& request = message.finish(++sequence_);
        require(send(socket_.get(), request.data(), request.size(), 0) >= 0, "asking the kernel");
        alignas(nlmsghdr) unsigned char answer[4096];
        const ssize_t size = recv(socket_.get(), answer, sizeof answer, 0);
        require(size >= static_cast<ssize_t>(NLMSG_LENGTH(sizeof(nlmsgerr))), "the kernel's answer");
        nlmsgerr error{};
        std::memcpy(&error, answer + NLMSG_HDRLEN, sizeof error);
        return -error.error;
    }

    UniqueFd socket_;
    std::uint32_t sequence_ = 0;
};

constexpr int kinds = CLONE_NEWNET | CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWIPC;
constexpr const char* host_interface = "wan0";
constexpr int prefix_length = 16;

// 10.77.0.1 for the first host; the last (the control host) stands apart.
std::uint32_t address_of(std::size_t index, std::size_t count) {
    constexpr std::uint32_t network = 10U << 24 | 77U << 16;
    if (index + 1 == count) return network | 255U << 8 | 254U;
    const auto number = static_cast<std::uint32_t>(index);
    return network | (number / 250) << 8 | (number % 250 + 1);
}

bool write_file(const std::string& path, const std::string& text) {
    const UniqueFd file(open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
    return file && write(file.get(), text.data(), text.size()) ==
                       static_cast<ssize_t>(text.size());
}

UniqueFd open_namespace(const char* kind) {
    UniqueFd fd(open((std::string("/proc/self/ns/") + kind).c_str(), O_RDONLY | O_CLOEXEC));
    require(static_cast<bool>(fd), "opening a namespace (is /proc mounted?)");
    return fd;
}

Namespaces open_all() {
    return {open_namespace("mnt"), open_namespace("net"), open_namespace("uts"),
            open_namespace("ipc")};
}

[[noreturn]] void explain_what_is_missing() {
    throw SetupError(
        std::string("the lab cannot make network namespaces here (") +
        std::generic_category().message(errno) +
        "): run as root (in a container: --privileged), or allow user namespaces "
        "(sysctl user.max_user_namespaces=10000 kernel.unprivileged_userns_clone=1 "
        "kernel.apparmor_restrict_unprivileged_userns=0, as far as they exist)");
}

void become_root_of_a_user_namespace() {
    const auto uid = std::to_string(geteuid());
    const auto gid = std::to_string(getegid());
    if (unshare(CLONE_NEWUSER) != 0) explain_what_is_missing();
    const bool mapped = write_file("/proc/self/setgroups", "deny") &&
                        write_file("/proc/self/uid_map", "0 " + uid + " 1") &&
                        write_file("/proc/self/gid_map", "0 " + gid + " 1");
    if (!mapped) explain_what_is_missing();
}

std::string text_of_hosts_file(const std::vector<Host>& hosts) {
    std::string text = "127.0.0.1 localhost\n::1 localhost\n";
    for (const Host& host : hosts) text += dotted(host.address) + " " + host.name + "\n";
    return text;
}

// A fresh /sys shows this host's interfaces (UCX and hwloc look there), a fresh /dev/shm keeps MPI
// from finding the neighbours' shared memory, and the hosts' names resolve. Only the second is
// needed by all; kernels refuse the first in some containers.
void furnish_mounts(const std::string& hosts_file) {
    require(mount("shm", "/dev/shm", "tmpfs", MS_NOSUID | MS_NODEV, "mode=1777") == 0,
            "giving a host its own /dev/shm");
    const char* names = "/dev/shm/hosts";
    if (write_file(names, hosts_file)) mount(names, "/etc/hosts", nullptr, MS_BIND, nullptr);
    unlink(names);

    const char* groups = "/dev/shm/cgroup";
    const bool kept = mkdir(groups, 0700) == 0 &&
                      mount("/sys/fs/cgroup", groups, nullptr, MS_BIND | MS_REC, nullptr) == 0;
    const bool fresh =
        mount("sysfs", "/sys", "sysfs", MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr) == 0;
    if (kept && (!fresh || mount(groups, "/sys/fs/cgroup", nullptr, MS_MOVE, nullptr) != 0)) {
        umount2(groups, MNT_DETACH);
    }
    rmdir(groups);
}

}  // namespace

std::string dotted(std::uint32_t address) {
    const in_addr value{htonl(address)};
    char text[INET_ADDRSTRLEN];
    return inet_ntop(AF_INET, &value, text, sizeof text);
}

const TcpProfile* find_tcp_profile(const std::string& name) {
    // The first is what a kernel has when nobody touched it; the second what an administrator
    // sets for long fat networks; the third the first with another control, which does not begin anew after idling.
    static const std::vector<HostSetting> untouched{{"ipv4/tcp_rmem", "4096 131072 6291456"},
                                                    {"ipv4/tcp_wmem", "4096 16384 4194304"},
                                                    {"ipv4/tcp_slow_start_after_idle", "1"},
                                                    {"ipv4/tcp_no_metrics_save", "0"}};
    static const std::vector<TcpProfile> profiles{
        {"plain", untouched, "cubic", 0},
        {"tuned",
         {{"ipv4/tcp_rmem", "4096 33554432 33554432"},
          {"ipv4/tcp_wmem", "4096 33554432 33554432"},
          {"ipv4/tcp_slow_start_after_idle", "0"},
          {"ipv4/tcp_no_metrics_save", "1"}},
         "cubic", 4096},
        {"bbr", untouched, "bbr", 0},
    };
    for (const TcpProfile& profile : profiles) {
        if (name == profile.name) return &profile;
    }
    return nullptr;
}

RouterNamespaces::RouterNamespaces() {
    if (unshare(kinds) != 0) {
        become_root_of_a_user_namespace();
        user_ = open_namespace("user");
        if (unshare(kinds) != 0) explain_what_is_missing();
    }
    // What is mounted later still appears inside; nothing of ours appears outside.
    require(mount(nullptr, "/", nullptr, MS_SLAVE | MS_REC, nullptr) == 0,
            "parting the lab's mounts from the system's");
    own_ = open_all();
}

void RouterNamespaces::enter_own() const {
    for (const int fd : {own_.network.get(), own_.uts.get(), own_.ipc.get(), own_.mount.get()}) {
        require(setns(fd, 0) == 0, "returning from a host");
    }
}

std::vector<Host> RouterNamespaces::make_hosts(const std::vector<std::string>& names,
                                               const TcpProfile& profile) {
    std::vector<Host> hosts(names.size());
    for (std::size_t index = 0; index < names.size(); ++index) {
        hosts[index].name = names[index];
        hosts[index].address = address_of(index, names.size());
        hosts[index].router_interface = "r" + std::to_string(index);
    }
    const std::string hosts_file = text_of_hosts_file(hosts);
    congestion_control_ = profile.congestion_control;
    for (Host& host : hosts) furnish(host, profile, hosts_file);
    Netlink netlink;
    for (const Host& host : hosts) netlink.bring_up(host.router_interface, true);
    return hosts;
}

void RouterNamespaces::furnish(Host& host, const TcpProfile& profile,
                               const std::string& hosts_file) {
    require(unshare(kinds) == 0, "making the namespaces of " + host.name +
                                     " (sysctl user.max_net_namespaces?)");
    host.namespaces = open_all();
    require(sethostname(host.name.data(), host.name.size()) == 0, "naming " + host.name);
    furnish_mounts(hosts_file);
    write_file("/proc/sys/net/ipv6/conf/default/disable_ipv6", "1");  // absent without IPv6
    for (const HostSetting& setting : profile.settings) {
        require(write_file(std::string("/proc/sys/net/") + setting.file, setting.value),
                std::string("setting ") + setting.file + " of " + host.name);
    }
    wire(host, profile);
    enter_own();
}

void RouterNamespaces::wire(const Host& host, const TcpProfile& profile) {
    Netlink netlink;
    netlink.bring_up("lo", false);
    netlink.create_veth(host_interface, host.router_interface, own_.network.get());
    netlink.bring_up(host_interface, true);
    netlink.add_address(host_interface, host.address, prefix_length);
    const auto set_route = [&] {
        return netlink.set_route_metrics(host_interface, host.address, prefix_length, congestion_control_,
                                         profile.first_window_segments);
    };
    if (!set_route()) {
        congestion_control_.clear();
        set_route();
    }
}

}  // namespace mutirao::lab
