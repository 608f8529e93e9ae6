// TCP sockets: the master holds one to each worker and waits for all of them at once; read() and
// write() do the rest. Workers are launched by launching.h. Most exchanges take a few microseconds, so
// that waiting costs a measurable part of them: who has waited longest has often answered already, and
// is looked at first.
#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <span>
#include <utility>
#include <vector>

#include "launching.h"
#include "tcp.h"
#include "transport.h"

namespace mandelbrot {
namespace {

class SocketsMaster final : public MasterSide {
  public:
    explicit SocketsMaster(const Crew& crew)
        : listening_(listen_at(crew.address)),
          waiting_(epoll_create1(EPOLL_CLOEXEC)),
          launched_(crew, address_of(listening_)) {
        if (!waiting_) throw Failure("the system lets nobody wait for more sockets");
        for (int number = 0; number < crew.workers; ++number) add(accept_from(listening_));
    }

    Heard receive(Message& message) override {
        std::span<std::uint8_t> bytes = message.bytes();
        if (next_ == ready_count_ && !sent_to_.empty()) {
            const int longest = sent_to_.front();
            const ssize_t count = recv(socket_of(longest).number(), bytes.data(), bytes.size(),
                                       open_ == 1 ? 0 : MSG_DONTWAIT);
            if (count > 0) return hear(longest, bytes.subspan(static_cast<std::size_t>(count)));
        }
        return hear(next_ready(), bytes);
    }

    void send(int worker, const Message& message) override {
        write_whole(socket_of(worker).number(), message.bytes());
        sent_to_.push_back(worker);
    }

  private:
    Descriptor& socket_of(int worker) { return sockets_[static_cast<std::size_t>(worker)]; }

    int next_ready() {
        while (next_ == ready_count_) {
            next_ = 0;
            ready_count_ = std::max(0, epoll_wait(waiting_.number(), ready_.data(),
                                                  static_cast<int>(ready_.size()), -1));
        }
        return ready_[static_cast<std::size_t>(next_++)].data.fd;
    }

    /// A message is written in one piece, so what is missing of it is on its way.
    Heard hear(int worker, std::span<std::uint8_t> missing) {
        std::erase(sent_to_, worker);
        if (read_whole(socket_of(worker).number(), missing)) return {worker, false};
        socket_of(worker) = Descriptor();
        --open_;
        return {worker, true};
    }

    void add(Descriptor socket) {
        epoll_event event{};
        event.events = EPOLLIN;
        event.data.fd = static_cast<int>(sockets_.size());
        epoll_ctl(waiting_.number(), EPOLL_CTL_ADD, socket.number(), &event);
        sockets_.push_back(std::move(socket));
        ++open_;
    }

    Descriptor listening_;
    Descriptor waiting_;
    LaunchedWorkers launched_;
    std::vector<Descriptor> sockets_;
    int open_ = 0;
    std::vector<int> sent_to_;  ///< workers that have not answered, the longest first
    std::array<epoll_event, 64> ready_{};
    int ready_count_ = 0;
    int next_ = 0;
};

class SocketsWorker final : public WorkerSide {
  public:
    explicit SocketsWorker(const Crew& crew) : socket_(connect_to(crew.master)) {}

    bool receive(Message& message) override {
        return read_whole(socket_.number(), message.bytes());
    }
    void send(const Message& message) override { write_whole(socket_.number(), message.bytes()); }

  private:
    Descriptor socket_;
};

}  // namespace

void play(const Crew& crew, const MasterWork& master, const WorkerWork& worker) {
    play_launched<SocketsMaster, SocketsWorker>(crew, master, worker);
}

}  // namespace mandelbrot
