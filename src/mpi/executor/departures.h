// Sends that a rank has left behind in a finished collective: their data is a copy, and the MPI
// library completes them while later calls go on.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <deque>
#include <memory>
#include <vector>

namespace mutirao::mpi {

class Departures {
  public:
    Departures() = default;
    Departures(const Departures&) = delete;
    Departures& operator=(const Departures&) = delete;

    /// Takes over requests and the copy that they send from; waits for the oldest ones where more
    /// than `most_bytes` would be kept.
    void add(std::vector<MPI_Request> requests, std::unique_ptr<std::byte[]> copy,
             std::size_t copy_bytes);
    /// Forgets what is complete; cheap where nothing was left behind.
    void reap();
    /// Waits for everything; before the communicator is freed.
    void wait();

  private:
    static constexpr std::size_t most_bytes = std::size_t{16} << 20;

    struct Departed {
        std::vector<MPI_Request> requests;
        std::unique_ptr<std::byte[]> copy;
        std::size_t copy_bytes;
    };

    void wait_for_oldest();

    std::deque<Departed> departed_;
    std::size_t kept_bytes_ = 0;
};

}  // namespace mutirao::mpi
