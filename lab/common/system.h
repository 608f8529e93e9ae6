// What the lab asks of the system.
#pragma once

#include <unistd.h>

#include <cerrno>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>

namespace mutirao::lab {

/// A file descriptor with an owner. The lab holds its namespaces by nothing else, so that the
/// kernel clears them away whatever ends the process.
class UniqueFd {
  public:
    UniqueFd() = default;
    explicit UniqueFd(int fd) : fd_(fd) {}
    UniqueFd(UniqueFd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
    UniqueFd& operator=(UniqueFd&& other) noexcept {
        std::swap(fd_, other.fd_);
        return *this;
    }
    ~UniqueFd() {
        if (fd_ >= 0) close(fd_);
    }

    int get() const { return fd_; }
    explicit operator bool() const { return fd_ >= 0; }

  private:
    int fd_ = -1;
};

/// What keeps a lab from coming up: one line for the person who asked for it.
class SetupError : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

/// Says which step failed, and why according to errno.
inline void require(bool worked, const std::string& step) {
    if (!worked) throw SetupError(step + ": " + std::generic_category().message(errno));
}

}  // namespace mutirao::lab
