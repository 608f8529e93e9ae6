#include "router/netlink.h"

#include <arpa/inet.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <linux/veth.h>
#include <net/if.h>
#include <sys/socket.h>

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

}  // namespace

/// A request under construction: a header, the family's own struct, and nested attributes.
class Netlink::Message {
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

Netlink::Netlink() : socket_(socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE)) {
    require(static_cast<bool>(socket_), "opening a netlink socket");
}

int Netlink::exchange(Message& message) {
    const auto& request = message.finish(++sequence_);
    require(send(socket_.get(), request.data(), request.size(), 0) >= 0, "asking the kernel");
    alignas(nlmsghdr) unsigned char answer[4096];
    const ssize_t size = recv(socket_.get(), answer, sizeof answer, 0);
    require(size >= static_cast<ssize_t>(NLMSG_LENGTH(sizeof(nlmsgerr))), "the kernel's answer");
    nlmsgerr error{};
    std::memcpy(&error, answer + NLMSG_HDRLEN, sizeof error);
    return -error.error;
}

void Netlink::create_veth(const std::string& name, const std::string& peer, int peer_namespace) {
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

void Netlink::bring_up(const std::string& name, bool without_arp) {
    ifinfomsg family{};
    family.ifi_index = index_of(name);
    family.ifi_flags = IFF_UP | (without_arp ? static_cast<unsigned>(IFF_NOARP) : 0U);
    family.ifi_change = family.ifi_flags;
    Message message(RTM_NEWLINK, 0, family);
    errno = exchange(message);
    require(errno == 0, "bringing up the interface " + name);
}

void Netlink::add_address(const std::string& name, std::uint32_t address, int prefix_length) {
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

bool Netlink::set_route_metrics(const std::string& name, std::uint32_t address, int prefix_length,
                                const RouteMetrics& metrics) {
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
    if (metrics.first_window_segments != 0) {
        message.attribute(RTAX_INITCWND, metrics.first_window_segments);
        message.attribute(RTAX_INITRWND, metrics.first_window_segments);
    }
    if (!metrics.congestion_control.empty()) {
        message.attribute(RTAX_CC_ALGO, metrics.congestion_control);
    }
    message.close(nested);
    errno = exchange(message);
    if (errno == EINVAL && !metrics.congestion_control.empty()) return false;
    require(errno == 0, "setting the route of " + name);
    return true;
}

}  // namespace mutirao::lab
