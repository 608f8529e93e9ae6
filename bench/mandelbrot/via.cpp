// VIA: as in the paper, the master has a thread for each worker, which waits on that worker's VI.
// Messages are copied to and from registered memory.
#include <algorithm>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "inbox.h"
#include "launching.h"
#include "transport.h"
#include "vipl.h"

namespace mandelbrot {
namespace {

constexpr auto look_after_workers = std::chrono::milliseconds(100);

/// A connected VI with a buffer for each direction. One message each way may be on its way.
class Connection {
  public:
    Connection(const vipl::Nic& nic, std::size_t length, const vipl::Request& request)
        : in_(length),
          out_(length),
          memory_in_(vipl::VipRegisterMem(nic, in_)),
          memory_out_(vipl::VipRegisterMem(nic, out_)),
          vi_(vipl::VipCreateVi(nic, request)) {
        vipl::VipPostRecv(vi_, memory_in_);  // before anybody can send
        if (request) {
            vipl::VipConnectAccept(vi_);
        } else {
            vipl::VipConnectRequest(nic, vi_);
        }
    }

    bool wait() const { return vipl::VipRecvWait(vi_); }

    /// What wait() has waited for; then the next may come.
    void take(Message& message) {
        std::ranges::copy(in_, message.bytes().begin());
        vipl::VipPostRecv(vi_, memory_in_);
    }

    void send(const Message& message) {
        std::ranges::copy(message.bytes(), out_.begin());
        if (vipl::VipPostSend(vi_, memory_out_) && !vipl::VipSendDone(vi_)) vipl::VipSendWait(vi_);
    }

    void disconnect() { vipl::VipDisconnect(vi_); }

  private:
    std::vector<std::uint8_t> in_;
    std::vector<std::uint8_t> out_;
    vipl::Memory memory_in_;
    vipl::Memory memory_out_;
    vipl::Vi vi_;
};

class ViaMaster final : public MasterSide {
  public:
    explicit ViaMaster(const Crew& crew) : nic_(vipl::VipOpenNic(crew.address)), launched_(crew, nic_.address) {
        const std::size_t length = Message(crew.side).bytes().size();
        for (int number = 0; number < crew.workers; ++number) {
            connections_.push_back(std::make_unique<Connection>(nic_, length, next_request()));
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
        std::optional<Heard> heard;
        while (!heard) heard = inbox_.pop(look_after_workers);
        if (!heard->gone) connections_[static_cast<std::size_t>(heard->worker)]->take(message);
        return *heard;
    }

    void send(int worker, const Message& message) override {
        connections_[static_cast<std::size_t>(worker)]->send(message);
    }

  private:
    vipl::Request next_request() {
        for (;;) {
            if (auto request = vipl::VipConnectWait(nic_, look_after_workers)) {
                return std::move(*request);
            }
            launched_.check_all_run();
        }
    }

    void listen_to(int number) {
        const Connection& connection = *connections_[static_cast<std::size_t>(number)];
        while (connection.wait()) inbox_.push({number, false});
        inbox_.push({number, true});
    }

    vipl::Nic nic_;
    LaunchedWorkers launched_;
    Inbox<Heard> inbox_;
    std::vector<std::unique_ptr<Connection>> connections_;
    std::vector<std::thread> threads_;
};

class ViaWorker final : public WorkerSide {
  public:
    explicit ViaWorker(const Crew& crew)
        : nic_(vipl::VipOpenNic(crew.master)),
          connection_(nic_, Message(crew.side).bytes().size(), {}) {}
    ~ViaWorker() override { connection_.disconnect(); }

    bool receive(Message& message) override {
        if (!connection_.wait()) return false;
        connection_.take(message);
        return true;
    }
    void send(const Message& message) override { connection_.send(message); }

  private:
    vipl::Nic nic_;
    Connection connection_;
};

}  // namespace

void play(const Crew& crew, const MasterWork& master, const WorkerWork& worker) {
    play_launched<ViaMaster, ViaWorker>(crew, master, worker);
}

}  // namespace mandelbrot
