// TCP: a descriptor that closes itself, and whole messages by read() and write().
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <utility>

#include "transport.h"

namespace mandelbrot {

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

inline Descriptor checked(int number, const char* what) {
    if (number < 0) throw Failure(std::string(what) + ": " + std::strerror(errno));
    return Descriptor(number);
}

/// As the system orders it; what is asked here cannot fail on a socket that is open.
inline void send_at_once(const Descriptor& socket) {
    const int on = 1;
    setsockopt(socket.number(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

inline sockaddr_in socket_address(const std::string& ipv4, int port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    if (inet_pton(AF_INET, ipv4.c_str(), &address.sin_addr) != 1) {
        throw Failure("'" + ipv4 + "' is no IPv4 address");
    }
    return address;
}

inline Descriptor new_socket() {
    signal(SIGPIPE, SIG_IGN);  // who writes to one that is gone is told so by write()
    return checked(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), "cannot open a socket");
}

/// At a port that the system picks, so that none can be in use.
inline Descriptor listen_at(const std::string& ipv4) {
    Descriptor listening = new_socket();
    const sockaddr_in address = socket_address(ipv4, 0);
    if (bind(listening.number(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
        listen(listening.number(), SOMAXCONN) != 0) {
        throw Failure("cannot listen at " + ipv4 + ": " + std::strerror(errno));
    }
    return listening;
}

/// "IPV4:PORT"
inline std::string address_of(const Descriptor& listening) {
    sockaddr_in address{};
    socklen_t length = sizeof address;
    getsockname(listening.number(), reinterpret_cast<sockaddr*>(&address), &length);
    std::array<char, INET_ADDRSTRLEN> ipv4{};
    inet_ntop(AF_INET, &address.sin_addr, ipv4.data(), ipv4.size());
    return std::string(ipv4.data()) + ":" + std::to_string(ntohs(address.sin_port));
}

inline Descriptor connect_to(const std::string& address) {
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
inline Descriptor accept_from(const Descriptor& listening) {
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

inline bool read_whole(int socket, std::span<std::uint8_t> bytes) { return whole(socket, bytes, read); }

inline bool write_whole(int socket, std::span<const std::uint8_t> bytes) { return whole(socket, bytes, write); }

}  // namespace mandelbrot
