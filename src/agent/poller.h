// Waits for sockets. Each gets a name that is never used again, so that an event of a socket that
// was closed a moment ago is taken for no other's.
#pragma once

#include <sys/epoll.h>

#include <array>
#include <cstdint>
#include <span>

#include "agent/file.h"

namespace mutirao::agent {

struct Ready {
    std::uint64_t name = 0;
    bool readable = false;
    bool writable = false;
};

class Poller {
  public:
    Poller() : epoll_(epoll_create1(EPOLL_CLOEXEC)) {}

    bool usable() const { return static_cast<bool>(epoll_); }
    /// 0: could not be added.
    std::uint64_t add(int socket, bool writable = false);
    void change(int socket, std::uint64_t name, bool readable, bool writable);
    /// Closing the socket does the same.
    void remove(int socket);
    std::span<const Ready> wait(int timeout_ms);

  private:
    File epoll_;
    std::uint64_t last_name_ = 0;
    std::array<epoll_event, 64> events_{};
    std::array<Ready, 64> ready_{};
};

}  // namespace mutirao::agent
