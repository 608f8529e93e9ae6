// TCP sockets: the master holds one to each worker and waits for all of them at once; read() and
// write() do the rest. Workers are launched by launching.h. Most exchanges take a few microseconds, so
// that waiting costs a measurable part of them: who has waited longest has often answered already, and
// is looked at first.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "launching.h"
#include "transport.h"

namespace mandelbrot {
namespace {

/// A descriptor, which lasts as long as the process.
int checked(int descriptor, const std::string& what) {
    if (descriptor < 0) throw Failure(what + ": " + std::strerror(errno));
    return descriptor;
}

sockaddr_in socket_address(const std::string& ipv4, int port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    if (inet_pton(AF_INET, ipv4.c_str(), &address.sin_addr) != 1) throw Failure("'" + ipv4 + "' is no IPv4 address");
    return address;
}

int new_socket() {
    signal(SIGPIPE, SIG_IGN);  // who writes to one that is gone is told so by write()
    return checked(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), "cannot open a socket");
}

/// Messages leave at once. What is asked here cannot fail on a socket that is open.
int sending_at_once(int connected) {
    const int on = 1;
    setsockopt(connected, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    return connected;
}

/// At a port that the system picks, so that none can be in use.
int listen_at(const std::string& ipv4) {
    const int listening = new_socket();
    const sockaddr_in address = socket_address(ipv4, 0);
    checked(bind(listening, reinterpret_cast<const sockaddr*>(&address), sizeof address), "cannot listen at " + ipv4);
    checked(listen(listening, SOMAXCONN), "cannot listen at " + ipv4);
    return listening;
}

int port_of(int listening) {
    sockaddr_in address{};
    socklen_t length = sizeof address;
    getsockname(listening, reinterpret_cast<sockaddr*>(&address), &length);
    return ntohs(address.sin_port);
}

/// "IPV4:PORT"
int connect_to(const std::string& address) {
    const int connected = new_socket();
    const std::size_t colon = address.find(':');
    const sockaddr_in master = socket_address(address.substr(0, colon), std::stoi(address.substr(colon + 1)));
    checked(connect(connected, reinterpret_cast<const sockaddr*>(&master), sizeof master), "no master at " + address);
    return sending_at_once(connected);
}

/// Of all bytes; false: the other end is gone.
template <class Byte, class Transfer>
bool transfer_whole(int socket, std::span<Byte> bytes, Transfer transfer) {
    while (!bytes.empty()) {
        const ssize_t count = transfer(socket, bytes.data(), bytes.size());
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return false;
        bytes = bytes.subspan(static_cast<std::size_t>(count));
    }
    return true;
}

class SocketsMaster final : public MasterSide {
  public:
    explicit SocketsMaster(const Crew& crew)
        : listening_(listen_at(crew.address)),
          waiting_(checked(epoll_create1(EPOLL_CLOEXEC), "cannot wait for sockets")),
          launched_(crew, crew.address + ":" + std::to_string(port_of(listening_))),
          open_(crew.workers) {
        for (int number = 0; number < crew.workers; ++number) {
            epoll_event event{};
            event.events = EPOLLIN;
            event.data.fd = number;
            sockets_.push_back(sending_at_once(
                checked(accept4(listening_, nullptr, nullptr, SOCK_CLOEXEC), "cannot accept a worker")));
            epoll_ctl(waiting_, EPOLL_CTL_ADD, sockets_.back(), &event);
        }
    }

    Heard receive(Message& message) override {
        std::span<std::uint8_t> bytes = message.bytes();
        if (next_ == ready_count_ && !sent_to_.empty()) {
            const int longest = sent_to_.front();
            const ssize_t count =
                recv(socket_of(longest), bytes.data(), bytes.size(), open_ == 1 ? 0 : MSG_DONTWAIT);
            if (count > 0) return hear(longest, bytes.subspan(static_cast<std::size_t>(count)));
        }
        return hear(next_ready(), bytes);
    }

    void send(int worker, const Message& message) override {
        transfer_whole(socket_of(worker), message.bytes(), write);
        sent_to_.push_back(worker);
    }

  private:
    int socket_of(int worker) const { return sockets_[static_cast<std::size_t>(worker)]; }

    int next_ready() {
        while (next_ == ready_count_) {
            next_ = 0;
            ready_count_ =
                std::max(0, epoll_wait(waiting_, ready_.data(), static_cast<int>(ready_.size()), -1));
        }
        return ready_[static_cast<std::size_t>(next_++)].data.fd;
    }

    /// A message is written in one piece, so what is missing of it is on its way.
    Heard hear(int worker, std::span<std::uint8_t> missing) {
        std::erase(sent_to_, worker);
        if (transfer_whole(socket_of(worker), missing, read)) return {worker, false};
        close(socket_of(worker));
        --open_;
        return {worker, true};
    }

    int listening_;
    int waiting_;
    LaunchedWorkers launched_;
    std::vector<int> sockets_;
    int open_;
    std::vector<int> sent_to_;  ///< workers that have not answered, the longest first
    std::array<epoll_event, 64> ready_{};
    int ready_count_ = 0;
    int next_ = 0;
};

class SocketsWorker final : public WorkerSide {
  public:
    explicit SocketsWorker(const Crew& crew) : socket_(connect_to(crew.master)) {}

    bool receive(Message& message) override { return transfer_whole(socket_, message.bytes(), read); }
    void send(const Message& message) override { transfer_whole(socket_, message.bytes(), write); }

  private:
    int socket_;
};

}  // namespace

void play(const Crew& crew, const MasterWork& master, const WorkerWork& worker) {
    play_launched<SocketsMaster, SocketsWorker>(crew, master, worker);
}

}  // namespace mandelbrot
