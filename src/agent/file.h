// A file descriptor that closes itself, also in children that the process forks: those that never call
// exec would otherwise hold an agent's lock, ports and connections when the agent has long ended, and
// an agent would go on to be woken for sockets that it has closed.
#pragma once

#include <unistd.h>

#include <utility>

namespace mutirao::agent {

class File {
  public:
    explicit File(int number = -1);
    File(File&& other) noexcept
        : number_(std::exchange(other.number_, -1)), process_(other.process_) {}
    File& operator=(File&& other) noexcept {
        std::swap(number_, other.number_);
        std::swap(process_, other.process_);
        return *this;
    }
    ~File();

    int number() const { return number_; }
    explicit operator bool() const { return number_ >= 0; }

  private:
    int number_;
    unsigned process_;  ///< in a child, the number may have come to mean another file
};

}  // namespace mutirao::agent
