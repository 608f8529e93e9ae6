#include "router/host_namespaces.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

namespace mutirao::lab {
namespace {

/// Hands the lines to `ip` (package iproute2), in the network namespace that the caller is in; false if it refuses one,
/// which it says on stderr. One process for a host: one for each line would be thousands.
bool ip(const std::string& lines) {
    FILE* const batch = popen("ip -batch -", "w");
    require(batch != nullptr, "starting ip");
    std::fputs(lines.c_str(), batch);
    const int status = pclose(batch);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 127) throw SetupError("the lab needs ip: install iproute2");
    return status == 0;
}

constexpr int kinds = CLONE_NEWNET | CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWIPC;

constexpr std::uint32_t network = 10U << 24 | 77U << 16;

// 10.77.0.1 for the first host; the last (the control host) stands apart.
std::uint32_t address_of(std::size_t index, std::size_t count) {
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

/// A file under /proc/sys/net, and what is written there.
using HostSetting = std::pair<std::string, std::string>;

/// How the hosts' TCP is set.
struct TcpProfile {
    std::string name;
    std::vector<HostSetting> settings;
    const char* congestion_control;
    std::uint32_t first_window_segments;  ///< 0: the system's
};

namespace {

const TcpProfile& tcp_profile(const std::string& name) {
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
    const auto found = std::ranges::find(profiles, name, &TcpProfile::name);
    if (found == profiles.end()) throw SetupError("unknown TCP profile '" + name + "'");
    return *found;
}

}  // namespace

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

std::vector<Host> RouterNamespaces::make_hosts(const std::vector<std::string>& names, const std::string& tcp) {
    const TcpProfile& profile = tcp_profile(tcp);
    std::vector<Host> hosts(names.size());
    for (std::size_t index = 0; index < names.size(); ++index) {
        hosts[index].name = names[index];
        hosts[index].address = address_of(index, names.size());
        hosts[index].router_interface = "r" + std::to_string(index);
    }
    const std::string hosts_file = text_of_hosts_file(hosts);
    congestion_control_ = profile.congestion_control;
    for (Host& host : hosts) furnish(host, profile, hosts_file);
    std::string lines;
    for (const Host& host : hosts) lines += "link set " + host.router_interface + " arp off up\n";
    if (!ip(lines)) throw SetupError("the router's interfaces cannot be brought up");
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
    for (const auto& [file, value] : profile.settings)
        require(write_file("/proc/sys/net/" + file, value), "setting " + file + " of " + host.name);
    wire(host, profile);
    enter_own();
}

// All hosts' ends have one address: with ARP off, each sends to its own and so reaches any.
void RouterNamespaces::wire(const Host& host, const TcpProfile& profile) {
    const std::string router = "/proc/" + std::to_string(getpid()) + "/fd/" + std::to_string(own_.network.get());
    const std::string link = "link set lo up\n"
                             "link add wan0 address 02:6d:75:74:69:72 type veth peer name " +
                             host.router_interface + " netns " + router +
                             "\n"
                             "link set wan0 arp off up\n"
                             "address add " +
                             dotted(host.address) + "/16 dev wan0\n";
    std::string route = "route replace " + dotted(network) + "/16 dev wan0 proto kernel scope link src " +
                        dotted(host.address);
    if (const std::string window = std::to_string(profile.first_window_segments); window != "0")
        route += " initcwnd " + window + " initrwnd " + window;
    const std::string control = congestion_control_.empty() ? "" : " congctl " + congestion_control_;
    if (ip(link + route + control + "\n")) return;
    congestion_control_.clear();
    if (control.empty() || !ip(route + "\n")) throw SetupError(host.name + " cannot be wired (kernel module veth?)");
}

}  // namespace mutirao::lab
