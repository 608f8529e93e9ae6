// Says on stderr, once, when a wait inside an MPI function has lasted so long that something must be
// wrong. From a thread, since the wait is the MPI library's.
#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace mutirao::mpi {

/// So long may ranks differ in their start without anything being wrong.
constexpr int patience_s = 30;

class Watch {
  public:
    /// `line`: what to say if this still lives after patience_s.
    explicit Watch(std::string line);
    ~Watch();
    Watch(const Watch&) = delete;
    Watch& operator=(const Watch&) = delete;

  private:
    std::mutex mutex_;
    std::condition_variable over_;
    bool done_ = false;
    std::thread thread_;
};

/// The line for ranks that wait for others which may not run mutirao at all.
std::string missing_preload_line(int rank);

}  // namespace mutirao::mpi
