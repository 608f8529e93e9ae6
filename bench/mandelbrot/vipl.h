// The twelve calls of the Virtual Interface Architecture that stand for those of paper 002's libVIP, over
// libfabric, which took over VIA's model: connected queues of descriptors on registered memory, any
// network below; here its tcp provider. The paper names four of its twelve; the others are chosen as
// what a connection needs. Names are those of the specification (Compaq, Intel, Microsoft: Virtual
// Interface Architecture Specification 1.0, 1997); arguments are fewer, and what an object holds it
// gives back when it ends. One difference is libfabric's: a VI that accepts is created for the request
// that it accepts.
#pragma once

#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

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

/// To be connected to at this IPv4 address, or to connect to "IPV4:PORT".
Nic VipOpenNic(const std::string& address);
Memory VipRegisterMem(const Nic& nic, std::span<std::uint8_t> bytes);
/// With a request: for its acceptance.
Vi VipCreateVi(const Nic& nic, const Request& request = {});

void VipConnectRequest(const Nic& nic, const Vi& vi);
/// Nothing: none came in time.
std::optional<Request> VipConnectWait(const Nic& nic, std::chrono::milliseconds at_most);
void VipConnectAccept(const Vi& vi);
void VipDisconnect(const Vi& vi);

/// A descriptor: the memory, whole. False: the other end is gone.
bool VipPostSend(const Vi& vi, const Memory& memory);
bool VipPostRecv(const Vi& vi, const Memory& memory);
/// The oldest descriptor of a queue. False: the other end is gone.
bool VipSendWait(const Vi& vi);
bool VipRecvWait(const Vi& vi);
/// Whether it is done; does not wait.
bool VipSendDone(const Vi& vi);

}  // namespace vipl
