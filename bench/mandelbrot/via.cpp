// VIA: libfabric stands for paper 002's libVIP, since it took over the model of the Virtual Interface Architecture
// (Compaq, Intel, Microsoft: Virtual Interface Architecture Specification 1.0, 1997): connected queues of descriptors on
// registered memory, any network below; here its tcp provider. As in the paper, the master has a thread for each worker,
// which waits on that worker's queue. Messages are copied to and from registered memory.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "inbox.h"
#include "launching.h"
#include "transport.h"

namespace mandelbrot {
namespace {

constexpr auto version = FI_VERSION(1, 17);
constexpr int look_for_end_ms = 200;

struct Close {
    template <class Object>
    void operator()(Object* object) const {
        fi_close(&object->fid);
    }
    void operator()(fi_info* info) const { fi_freeinfo(info); }
};
template <class Object>
using Owned = std::unique_ptr<Object, Close>;

template <class Number>
void check(Number result, const char* what) {
    if (result < 0) {
        throw Failure(std::string("libfabric: ") + what + ": " + fi_strerror(static_cast<int>(-result)));
    }
}

/// What one of libfabric's functions makes of these; `what` has failed otherwise.
template <class Object, class Open, class... Arguments>
Owned<Object> opened(const char* what, Open open, Arguments... arguments) {
    Object* object = nullptr;
    check(open(arguments..., &object, nullptr), what);
    return Owned<Object>(object);
}

Owned<fi_info> find_provider(const std::string& address, bool listens) {
    const Owned<fi_info> hints(fi_allocinfo());
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
    return Owned<fi_info>(found);
}

/// What has become of a connection, or who asks for one.
struct Event {
    std::uint32_t kind = 0;
    Owned<fi_info> request;
};

Event next_event(fid_eq* events) {
    std::uint32_t kind = 0;
    fi_eq_cm_entry entry{};
    ssize_t length = -FI_EAGAIN;
    while (length == -FI_EAGAIN || length == -FI_EINTR) {
        length = fi_eq_sread(events, &kind, &entry, sizeof entry, look_for_end_ms, 0);
    }
    if (length == -FI_EAVAIL) {
        fi_eq_err_entry error{};
        fi_eq_readerr(events, &error, 0);
        throw Failure(std::string("libfabric: ") + fi_strerror(error.err));
    }
    check(length, "no event");
    return {kind, Owned<fi_info>(kind == FI_CONNREQ ? entry.info : nullptr)};
}

/// To be connected to at an IPv4 address, or to connect to "IPV4:PORT".
class Network {
  public:
    explicit Network(const std::string& address)
        : listens_(address.find(':') == std::string::npos), info_(find_provider(address, listens_)),
          fabric_(opened<fid_fabric>("no fabric", fi_fabric, info_->fabric_attr)),
          domain_(opened<fid_domain>("no domain", fi_domain, fabric_.get(), info_.get())), requests_(open_events()) {
        if (!listens_) return;
        listening_ = opened<fid_pep>("cannot listen", fi_passive_ep, fabric_.get(), info_.get());
        check(fi_pep_bind(listening_.get(), &requests_->fid, 0), "cannot listen");
        check(fi_listen(listening_.get()), "cannot listen");
        sockaddr_in bound{};
        std::size_t length = sizeof bound;
        check(fi_getname(&listening_->fid, &bound, &length), "no address");
        address_ = address + ":" + std::to_string(ntohs(bound.sin_port));
    }

    const std::string& address() const { return address_; }
    fi_info* info() const { return info_.get(); }
    fid_domain* domain() const { return domain_.get(); }

    /// Of somebody who wants to connect.
    Owned<fi_info> next_request() { return next_event(requests_.get()).request; }

    Owned<fid_eq> open_events() const {
        fi_eq_attr attributes{};
        attributes.wait_obj = FI_WAIT_UNSPEC;
        return opened<fid_eq>("no event queue", fi_eq_open, fabric_.get(), &attributes);
    }
    Owned<fid_cq> open_completions() const {
        fi_cq_attr attributes{};
        attributes.format = FI_CQ_FORMAT_CONTEXT;
        attributes.wait_obj = FI_WAIT_UNSPEC;
        return opened<fid_cq>("no completion queue", fi_cq_open, domain_.get(), &attributes);
    }

  private:
    bool listens_;
    Owned<fi_info> info_;
    Owned<fid_fabric> fabric_;
    Owned<fid_domain> domain_;
    Owned<fid_eq> requests_;
    Owned<fid_pep> listening_;
    std::string address_;
};

/// Memory that a message is sent from or received into, and the queue that tells when that is done.
struct Direction {
    Direction(const Network& network, std::size_t length)
        : bytes(length), done(network.open_completions()),
          region(opened<fid_mr>("cannot register memory", fi_mr_reg, network.domain(), bytes.data(), length,
                                FI_SEND | FI_RECV, 0, reinterpret_cast<std::uintptr_t>(bytes.data()), 0)) {}

    /// What is posted completes with an error when the other end goes: false.
    bool wait() const {
        fi_cq_entry entry{};
        ssize_t count = -FI_EAGAIN;
        while (count == -FI_EAGAIN || count == -FI_EINTR) {
            count = fi_cq_sread(done.get(), &entry, 1, nullptr, look_for_end_ms);
        }
        return count == 1;
    }

    std::vector<std::uint8_t> bytes;
    Owned<fid_cq> done;
    Owned<fid_mr> region;
};

/// One message each way may be on its way.
class Connection {
  public:
    /// Accepts the request; without one it connects.
    Connection(const Network& network, std::size_t length, const Owned<fi_info>& request)
        : in_(network, length), out_(network, length), events_(network.open_events()),
          endpoint_(opened<fid_ep>("no endpoint", fi_endpoint, network.domain(),
                                   request ? request.get() : network.info())) {
        check(fi_ep_bind(endpoint_.get(), &events_->fid, 0), "no endpoint");
        check(fi_ep_bind(endpoint_.get(), &out_.done->fid, FI_TRANSMIT), "no endpoint");
        check(fi_ep_bind(endpoint_.get(), &in_.done->fid, FI_RECV), "no endpoint");
        check(fi_enable(endpoint_.get()), "no endpoint");
        post_receive();  // before anybody can send
        if (request) {
            check(fi_accept(endpoint_.get(), nullptr, 0), "cannot accept");
        } else {
            check(fi_connect(endpoint_.get(), network.info()->dest_addr, nullptr, 0), "cannot connect");
        }
        if (next_event(events_.get()).kind != FI_CONNECTED) throw Failure("libfabric: the other end has hung up");
    }

    /// For a message; false: the other end is gone.
    bool wait() const { return in_.wait(); }

    /// What wait() has waited for; then the next may come.
    void take(Message& message) {
        std::ranges::copy(in_.bytes, message.bytes().begin());
        post_receive();
    }

    void send(const Message& message) {
        std::ranges::copy(message.bytes(), out_.bytes.begin());
        if (fi_send(endpoint_.get(), out_.bytes.data(), out_.bytes.size(), fi_mr_desc(out_.region.get()), 0,
                    nullptr) == 0) {
            out_.wait();
        }
    }

    void disconnect() { fi_shutdown(endpoint_.get(), 0); }

  private:
    void post_receive() {
        fi_recv(endpoint_.get(), in_.bytes.data(), in_.bytes.size(), fi_mr_desc(in_.region.get()), 0, nullptr);
    }

    Direction in_;
    Direction out_;
    Owned<fid_eq> events_;
    Owned<fid_ep> endpoint_;
};

class ViaMaster final : public MasterSide {
  public:
    explicit ViaMaster(const Crew& crew) : network_(crew.address), launched_(crew, network_.address()) {
        const std::size_t length = Message(crew.side).bytes().size();
        for (int number = 0; number < crew.workers; ++number) {
            connections_.push_back(std::make_unique<Connection>(network_, length, network_.next_request()));
        }
        for (int number = 0; number < crew.workers; ++number) {
            threads_.emplace_back(&ViaMaster::listen_to, this, number);
        }
    }

    /// Each thread ends with its connection.
    ~ViaMaster() override {
        for (const auto& connection : connections_) connection->disconnect();
        for (std::thread& thread : threads_) thread.join();
    }

    Heard receive(Message& message) override {
        const Heard heard = inbox_.pop();
        if (!heard.gone) connections_[static_cast<std::size_t>(heard.worker)]->take(message);
        return heard;
    }

    void send(int worker, const Message& message) override {
        connections_[static_cast<std::size_t>(worker)]->send(message);
    }

  private:
    void listen_to(int number) {
        const Connection& connection = *connections_[static_cast<std::size_t>(number)];
        while (connection.wait()) inbox_.push({number, false});
        inbox_.push({number, true});
    }

    Network network_;
    LaunchedWorkers launched_;
    Inbox<Heard> inbox_;
    std::vector<std::unique_ptr<Connection>> connections_;
    std::vector<std::thread> threads_;
};

class ViaWorker final : public WorkerSide {
  public:
    explicit ViaWorker(const Crew& crew)
        : network_(crew.master), connection_(network_, Message(crew.side).bytes().size(), nullptr) {}
    ~ViaWorker() override { connection_.disconnect(); }

    bool receive(Message& message) override {
        if (!connection_.wait()) return false;
        connection_.take(message);
        return true;
    }
    void send(const Message& message) override { connection_.send(message); }

  private:
    Network network_;
    Connection connection_;
};

}  // namespace

void play(const Crew& crew, const MasterWork& master, const WorkerWork& worker) {
    play_launched<ViaMaster, ViaWorker>(crew, master, worker);
}

}  // namespace mandelbrot
