// TCP sockets: the master holds one to each worker and waits for all of them at once; read() and
// write() do the rest. Workers are launched by launching.h. Most exchanges take a few microseconds, so
// that waiting costs a measurable part of them: who has waited longest has often answered already, and
// is looked at first.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
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
#include <utility>
#include <vector>

#include "launching.h"
#include "transport.h"

namespace mandelbrot {
namespace {

/// Closes itself.
class Descriptor {
  public:
    explicit Descriptor(int number = -1) : number_(number) {}
    ~Descriptor() {
        if (number_ >= 0) close(number_);
    }
    Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
    Descriptor& operator=(Descriptor&& other) noexcept {
        std::swap(number_, other.number_);
        return *this;
    }

    int number() const { return number_; }
    explicit operator bool() const { return number_ >= 0; }

  private:
    int number_;
};

Descriptor checked(int number, const char* what) {
    if (number < 0) throw Failure(std::string(what) + ": " + std::strerror(errno));
    return Descriptor(number);
}

/// As the system orders it; what is asked here cannot fail on a socket that is open.
void send_at_once(const Descriptor& socket) {
    const int on = 1;
    setsockopt(socket.number(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

sockaddr_in socket_address(const std::string& ipv4, int port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    if (inet_pton(AF_INET, ipv4.c_str(), &address.sin_addr) != 1) {
        throw Failure("'" + ipv4 + "' is no IPv4 address");
    }
    return address;
}

Descriptor new_socket() {
    signal(SIGPIPE, SIG_IGN);  // who writes to one that is gone is told so by write()
    return checked(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), "cannot open a socket");
}

/// At a port that the system picks, so that none can be in use.
Descriptor listen_at(const std::string& ipv4) {
    Descriptor listening = new_socket();
    const sockaddr_in address = socket_address(ipv4, 0);
    if (bind(listening.number(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
        listen(listening.number(), SOMAXCONN) != 0) {
        throw Failure("cannot listen at " + ipv4 + ": " + std::strerror(errno));
    }
    return listening;
}

/// "IPV4:PORT"
std::string address_of(const Descriptor& listening) {
    sockaddr_in address{};
    socklen_t length = sizeof address;
    getsockname(listening.number(), reinterpret_cast<sockaddr*>(&address), &length);
    std::array<char, INET_ADDRSTRLEN> ipv4{};
    inet_ntop(AF_INET, &address.sin_addr, ipv4.data(), ipv4.size());
    return std::string(ipv4.data()) + ":" + std::to_string(ntohs(address.sin_port));
}

Descriptor connect_to(const std::string& address) {
    Descriptor connected = new_socket();
    const std::size_t colon = address.find(':');
    const sockaddr_in master = socket_address(address.substr(0, colon), std::stoi(address.substr(colon + 1)));
    if (connect(connected.number(), reinterpret_cast<const sockaddr*>(&master), sizeof master) != 0) {
        throw Failure("no master at " + address + ": " + std::strerror(errno));
    }
    send_at_once(connected);
    return connected;
}

/// Messages leave at once.
Descriptor accept_from(const Descriptor& listening) {
    Descriptor accepted = checked(accept4(listening.number(), nullptr, nullptr, SOCK_CLOEXEC),
                                  "cannot accept a worker");
    send_at_once(accepted);
    return accepted;
}

/// False: the other end is gone.
template <class Byte, class Transfer>
bool whole(int socket, std::span<Byte> bytes, Transfer transfer) {
    while (!bytes.empty()) {
        const ssize_t count = transfer(socket, bytes.data(), bytes.size());
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return false;
        bytes = bytes.subspan(static_cast<std::size_t>(count));
    }
    return true;
}

bool read_whole(int socket, std::span<std::uint8_t> bytes) { return whole(socket, bytes, read); }

bool write_whole(int socket, std::span<const std::uint8_t> bytes) { return whole(socket, bytes, write); }

constexpr int look_after_workers_ms = 100;

class SocketsMaster final : public MasterSide {
  public:
    explicit SocketsMaster(const Crew& crew)
        : listening_(listen_at(crew.address)),
          waiting_(epoll_create1(EPOLL_CLOEXEC)),
          launched_(crew, address_of(listening_)) {
        if (!waiting_) throw Failure("the system lets nobody wait for more sockets");
        for (int number = 0; number < crew.workers; ++number) add(accept_next());
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

    Descriptor accept_next() {
        pollfd entry{listening_.number(), POLLIN, 0};
        while (poll(&entry, 1, look_after_workers_ms) <= 0) launched_.check_all_run();
        return accept_from(listening_);
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
