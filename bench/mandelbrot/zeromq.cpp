// ZeroMQ: the master is a router, workers are dealers. ZeroMQ itself keeps quiet about peers that are
// gone; its monitor tells the descriptor that was closed, and each message that which it came by.
#include <zmq.h>

#include <array>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "launching.h"
#include "transport.h"

namespace mandelbrot {
namespace {

constexpr char monitor_address[] = "inproc://monitor";
constexpr int linger_ms = 1000;

int checked(int result, const char* what) {
    if (result < 0) throw Failure(std::string("ZeroMQ: ") + what + ": " + zmq_strerror(zmq_errno()));
    return result;
}

struct EndContext {
    void operator()(void* context) const { zmq_ctx_term(context); }
};
struct CloseSocket {
    void operator()(void* socket) const { zmq_close(socket); }
};
using Context = std::unique_ptr<void, EndContext>;
using Socket = std::unique_ptr<void, CloseSocket>;

Socket open(const Context& context, int type) {
    Socket socket(zmq_socket(context.get(), type));
    if (!socket) throw Failure(std::string("ZeroMQ: no socket: ") + zmq_strerror(zmq_errno()));
    zmq_setsockopt(socket.get(), ZMQ_LINGER, &linger_ms, sizeof linger_ms);
    return socket;
}

/// One part of a message.
class Part {
  public:
    Part() { zmq_msg_init(&part_); }
    ~Part() { zmq_msg_close(&part_); }
    Part(const Part&) = delete;
    Part& operator=(const Part&) = delete;

    /// False: there is none at the moment.
    bool receive(const Socket& socket, int flags) {
        if (zmq_msg_recv(&part_, socket.get(), flags) >= 0) return true;
        if (zmq_errno() != EAGAIN) checked(-1, "receiving");
        return false;
    }
    std::string text() { return {static_cast<const char*>(zmq_msg_data(&part_)), zmq_msg_size(&part_)}; }
    void copy_to(std::span<std::uint8_t> bytes) {
        if (zmq_msg_size(&part_) != bytes.size()) throw Failure("ZeroMQ: a message of a wrong length");
        std::memcpy(bytes.data(), zmq_msg_data(&part_), bytes.size());
    }
    int descriptor() { return zmq_msg_get(&part_, ZMQ_SRCFD); }

  private:
    zmq_msg_t part_;
};

class ZeromqMaster final : public MasterSide {
  public:
    explicit ZeromqMaster(const Crew& crew)
        : context_(zmq_ctx_new()),
          router_(open(context_, ZMQ_ROUTER)),
          monitor_(open(context_, ZMQ_PAIR)),
          launched_(crew, bind(crew.address)),
          workers_(static_cast<std::size_t>(crew.workers)) {}

    Heard receive(Message& message) override {
        for (;;) {
            if (const auto number = receive_message(message)) return {*number, false};
            if (const auto number = receive_end()) return {*number, true};
            std::array<zmq_pollitem_t, 2> items{{{router_.get(), 0, ZMQ_POLLIN, 0},
                                                 {monitor_.get(), 0, ZMQ_POLLIN, 0}}};
            zmq_poll(items.data(), static_cast<int>(items.size()), -1);
        }
    }

    void send(int worker, const Message& message) override {
        const std::string& name = workers_[static_cast<std::size_t>(worker)].name;
        zmq_send(router_.get(), name.data(), name.size(), ZMQ_SNDMORE);
        zmq_send(router_.get(), message.bytes().data(), message.bytes().size(), 0);
    }

  private:
    struct Peer {
        std::string name;
        int descriptor = -1;
    };

    std::string bind(const std::string& ipv4) {
        checked(zmq_socket_monitor(router_.get(), monitor_address, ZMQ_EVENT_DISCONNECTED), "watching");
        checked(zmq_connect(monitor_.get(), monitor_address), "watching");
        checked(zmq_bind(router_.get(), ("tcp://" + ipv4 + ":*").c_str()), "listening");
        std::array<char, 256> address{};
        std::size_t length = address.size();
        checked(zmq_getsockopt(router_.get(), ZMQ_LAST_ENDPOINT, address.data(), &length), "listening");
        return address.data();
    }

    std::optional<int> receive_message(Message& message) {
        Part name, content;
        if (!name.receive(router_, ZMQ_DONTWAIT)) return std::nullopt;
        content.receive(router_, 0);
        content.copy_to(message.bytes());
        const auto [found, first] =
            number_of_.emplace(name.text(), static_cast<int>(number_of_.size()));
        if (first) {
            workers_.at(static_cast<std::size_t>(found->second)) = {found->first, content.descriptor()};
        }
        return found->second;
    }

    /// Events have two parts: what has happened, with the descriptor, and an address.
    std::optional<int> receive_end() {
        Part event, address;
        if (!event.receive(monitor_, ZMQ_DONTWAIT)) return std::nullopt;
        address.receive(monitor_, 0);
        const std::string bytes = event.text();
        std::int32_t descriptor = -1;
        std::memcpy(&descriptor, bytes.data() + sizeof(std::uint16_t), sizeof descriptor);
        for (std::size_t number = 0; number < workers_.size(); ++number) {
            if (workers_[number].descriptor == descriptor) return static_cast<int>(number);
        }
        return std::nullopt;
    }

    Context context_;
    Socket router_;
    Socket monitor_;
    LaunchedWorkers launched_;
    std::map<std::string, int> number_of_;
    std::vector<Peer> workers_;
};

/// That the master is gone it need not notice: a launched worker ends with it.
class ZeromqWorker final : public WorkerSide {
  public:
    explicit ZeromqWorker(const Crew& crew)
        : context_(zmq_ctx_new()), dealer_(open(context_, ZMQ_DEALER)) {
        checked(zmq_connect(dealer_.get(), crew.master.c_str()), "connecting");
    }

    bool receive(Message& message) override {
        checked(zmq_recv(dealer_.get(), message.bytes().data(), message.bytes().size(), 0), "receiving");
        return true;
    }
    void send(const Message& message) override {
        checked(zmq_send(dealer_.get(), message.bytes().data(), message.bytes().size(), 0), "sending");
    }

  private:
    Context context_;
    Socket dealer_;
};

}  // namespace

void play(const Crew& crew, const MasterWork& master, const WorkerWork& worker) {
    play_launched<ZeromqMaster, ZeromqWorker>(crew, master, worker);
}

}  // namespace mandelbrot
