// The twelve calls of the Virtual Interface Architecture that stand for those of paper 002's libVIP, over
// libfabric, which took over VIA's model: connected queues of descriptors on registered memory, any
// network below; here its tcp provider. The paper names four of its twelve; the others are chosen as
// what a connection needs. Names are those of the specification (Compaq, Intel, Microsoft: Virtual
// Interface Architecture Specification 1.0, 1997); arguments are fewer, and what an object holds it
// gives back when it ends. One difference is libfabric's: a VI that accepts is created for the request
// that it accepts.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "transport.h"

namespace vipl {

struct CloseObject {
    void operator()(fid* object) const { fi_close(object); }
};
struct FreeInfo {
    void operator()(fi_info* info) const { fi_freeinfo(info); }
};

/// An object of libfabric's that closes itself.
template <class Object>
class Owned {
  public:
    explicit Owned(Object* object = nullptr) : object_(object), closer_(object ? &object->fid : nullptr) {}
    Object* get() const { return object_; }

  private:
    Object* object_;
    std::unique_ptr<fid, CloseObject> closer_;
};
using Info = std::unique_ptr<fi_info, FreeInfo>;

/// The network interface, and the port at which it can be reached.
struct Nic {
    Info info;
    Owned<fid_fabric> fabric;
    Owned<fid_domain> domain;
    Owned<fid_eq> requests;
    Owned<fid_pep> listening;  ///< of one that waits for connections
    std::string address;
};

/// Of somebody who wants to connect.
using Request = Info;

/// One end of a connection, with its two queues.
struct Vi {
    Owned<fid_eq> events;
    Owned<fid_cq> sent;
    Owned<fid_cq> received;
    Owned<fid_ep> endpoint;
};

struct Memory {
    std::span<std::uint8_t> bytes;
    Owned<fid_mr> region;
};

inline constexpr auto version = FI_VERSION(1, 17);
inline constexpr int look_for_end_ms = 200;

template <class Number>
void check(Number result, const char* what) {
    if (result < 0) {
        throw mandelbrot::Failure(std::string("libfabric: ") + what + ": " +
                                  fi_strerror(static_cast<int>(-result)));
    }
}

inline Info find_network(const std::string& address, bool listens) {
    const Info hints(fi_allocinfo());
    hints->ep_attr->type = FI_EP_MSG;
    hints->caps = FI_MSG;
    hints->mode = FI_CONTEXT;
    hints->domain_attr->mr_mode = FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY;
    hints->domain_attr->threading = FI_THREAD_SAFE;
    hints->addr_format = FI_SOCKADDR_IN;
    hints->fabric_attr->prov_name = strdup("tcp");
    fi_info* found = nullptr;
    const std::size_t colon = address.find(':');
    check(fi_getinfo(version, address.substr(0, colon).c_str(),
                     listens ? nullptr : address.substr(colon + 1).c_str(), listens ? FI_SOURCE : 0,
                     hints.get(), &found),
          "no tcp provider");
    return Info(found);
}

/// What one of libfabric's functions makes of these; `what` has failed otherwise.
template <class Object, class Open, class... Arguments>
Owned<Object> opened(const char* what, Open open, Arguments... arguments) {
    Object* object = nullptr;
    check(open(arguments..., &object, nullptr), what);
    return Owned<Object>(object);
}

inline Owned<fid_eq> open_events(const Nic& nic) {
    fi_eq_attr attributes{};
    attributes.wait_obj = FI_WAIT_UNSPEC;
    return opened<fid_eq>("no event queue", fi_eq_open, nic.fabric.get(), &attributes);
}

inline Owned<fid_cq> open_completions(const Nic& nic) {
    fi_cq_attr attributes{};
    attributes.format = FI_CQ_FORMAT_CONTEXT;
    attributes.wait_obj = FI_WAIT_UNSPEC;
    return opened<fid_cq>("no completion queue", fi_cq_open, nic.domain.get(), &attributes);
}

inline void listen(Nic& nic, const std::string& ipv4) {
    nic.listening = opened<fid_pep>("cannot listen", fi_passive_ep, nic.fabric.get(), nic.info.get());
    check(fi_pep_bind(nic.listening.get(), &nic.requests.get()->fid, 0), "cannot listen");
    check(fi_listen(nic.listening.get()), "cannot listen");
    sockaddr_in address{};
    std::size_t length = sizeof address;
    check(fi_getname(&nic.listening.get()->fid, &address, &length), "no address");
    nic.address = ipv4 + ":" + std::to_string(ntohs(address.sin_port));
}

struct Event {
    std::uint32_t kind = 0;
    Info request;
};

inline std::optional<Event> next_event(fid_eq* events, int at_most_ms) {
    std::uint32_t kind = 0;
    fi_eq_cm_entry entry{};
    const ssize_t length = fi_eq_sread(events, &kind, &entry, sizeof entry, at_most_ms, 0);
    if (length == -FI_EAGAIN || length == -FI_EINTR) return std::nullopt;
    if (length == -FI_EAVAIL) {
        fi_eq_err_entry error{};
        fi_eq_readerr(events, &error, 0);
        throw mandelbrot::Failure(std::string("libfabric: ") + fi_strerror(error.err));
    }
    check(length, "no event");
    return Event{kind, Info(kind == FI_CONNREQ ? entry.info : nullptr)};
}

inline void wait_until_connected(const Vi& vi) {
    for (;;) {
        const auto event = next_event(vi.events.get(), look_for_end_ms);
        if (event && event->kind == FI_CONNECTED) return;
        if (event) throw mandelbrot::Failure("libfabric: the other end has hung up");
    }
}

/// What is posted completes with an error when the other end goes.
inline bool wait_for(fid_cq* completions) {
    fi_cq_entry entry{};
    ssize_t count = -FI_EAGAIN;
    while (count == -FI_EAGAIN || count == -FI_EINTR) {
        count = fi_cq_sread(completions, &entry, 1, nullptr, look_for_end_ms);
    }
    return count == 1;
}

/// To be connected to at this IPv4 address, or to connect to "IPV4:PORT".
inline Nic VipOpenNic(const std::string& address) {
    const bool listens = address.find(':') == std::string::npos;
    Nic nic;
    nic.info = find_network(address, listens);
    nic.fabric = opened<fid_fabric>("no fabric", fi_fabric, nic.info->fabric_attr);
    nic.domain = opened<fid_domain>("no domain", fi_domain, nic.fabric.get(), nic.info.get());
    nic.requests = open_events(nic);
    if (listens) listen(nic, address);
    return nic;
}

inline Memory VipRegisterMem(const Nic& nic, std::span<std::uint8_t> bytes) {
    const auto key = reinterpret_cast<std::uintptr_t>(bytes.data());  // any that no other has
    return {bytes, opened<fid_mr>("cannot register memory", fi_mr_reg, nic.domain.get(), bytes.data(), bytes.size(),
                                  FI_SEND | FI_RECV, 0, key, 0)};
}

/// With a request: for its acceptance.
inline Vi VipCreateVi(const Nic& nic, const Request& request = {}) {
    Vi vi;
    vi.events = open_events(nic);
    vi.sent = open_completions(nic);
    vi.received = open_completions(nic);
    fi_info* const info = request ? request.get() : nic.info.get();
    vi.endpoint = opened<fid_ep>("no endpoint", fi_endpoint, nic.domain.get(), info);
    fid_ep* const endpoint = vi.endpoint.get();
    check(fi_ep_bind(endpoint, &vi.events.get()->fid, 0), "no endpoint");
    check(fi_ep_bind(endpoint, &vi.sent.get()->fid, FI_TRANSMIT), "no endpoint");
    check(fi_ep_bind(endpoint, &vi.received.get()->fid, FI_RECV), "no endpoint");
    check(fi_enable(endpoint), "no endpoint");
    return vi;
}

inline void VipConnectRequest(const Nic& nic, const Vi& vi) {
    check(fi_connect(vi.endpoint.get(), nic.info->dest_addr, nullptr, 0), "cannot connect");
    wait_until_connected(vi);
}

/// Nothing: none came in time.
inline std::optional<Request> VipConnectWait(const Nic& nic, std::chrono::milliseconds at_most) {
    auto event = next_event(nic.requests.get(), static_cast<int>(at_most.count()));
    if (!event || event->kind != FI_CONNREQ) return std::nullopt;
    return std::move(event->request);
}

inline void VipConnectAccept(const Vi& vi) {
    check(fi_accept(vi.endpoint.get(), nullptr, 0), "cannot accept");
    wait_until_connected(vi);
}

inline void VipDisconnect(const Vi& vi) { fi_shutdown(vi.endpoint.get(), 0); }

/// A descriptor: the memory, whole. False: the other end is gone.
inline bool VipPostSend(const Vi& vi, const Memory& memory) {
    return fi_send(vi.endpoint.get(), memory.bytes.data(), memory.bytes.size(),
                   fi_mr_desc(memory.region.get()), 0, nullptr) == 0;
}

inline bool VipPostRecv(const Vi& vi, const Memory& memory) {
    return fi_recv(vi.endpoint.get(), memory.bytes.data(), memory.bytes.size(),
                   fi_mr_desc(memory.region.get()), 0, nullptr) == 0;
}

/// The oldest descriptor of a queue. False: the other end is gone.
inline bool VipSendWait(const Vi& vi) { return wait_for(vi.sent.get()); }

inline bool VipRecvWait(const Vi& vi) { return wait_for(vi.received.get()); }

/// Whether it is done; does not wait.
inline bool VipSendDone(const Vi& vi) {
    fi_cq_entry entry{};
    return fi_cq_read(vi.sent.get(), &entry, 1) == 1;
}

}  // namespace vipl
