// Sends that a rank has left behind in finished collectives: their data is a copy, and the MPI library
// completes them while later calls go on. A receiver may depend on their arrival although this rank
// makes no further MPI call, so no more is left behind to a peer, over all calls and communicators,
// than the kernel takes from this process at once.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

namespace mutirao::mpi {

class LeftBehind {
  public:
    explicit LeftBehind(std::size_t most_bytes_per_peer) : most_bytes_(most_bytes_per_peer) {}
    LeftBehind(const LeftBehind&) = delete;
    LeftBehind& operator=(const LeftBehind&) = delete;

    struct Send {
        MPI_Request request;
        int peer;  ///< its rank in the twin
        std::size_t length_bytes;
    };

    /// Takes over sends and the copy that they read; waits for older ones to the same peers where
    /// more than the kernel takes would be under way.
    void add(std::vector<Send> sends, std::unique_ptr<std::byte[]> copy);
    /// Sends of which nobody knows whether they will ever be complete, after an error, and the memory that they read.
    void abandon(std::vector<MPI_Request> sends, std::shared_ptr<const void> memory);
    /// Forgets what is complete; cheap where nothing was left behind.
    void reap();
    /// Waits for everything but what was abandoned; before MPI ends.
    void wait();

  private:
    struct Departed {
        std::vector<Send> sends;  ///< that are not complete
        std::unique_ptr<std::byte[]> copy;
    };

    struct Abandoned {
        std::vector<MPI_Request> sends;  ///< that are not complete
        std::shared_ptr<const void> memory;
    };
    /// That are looked after: a program seldom goes on after many errors.
    static constexpr std::size_t most_abandoned = 16;

    bool test(Departed& departed);
    void test_abandoned();
    static void leave_to_mpi(Abandoned& abandoned);
    void forget(const Send& send);
    bool too_much() const;

    const std::size_t most_bytes_;
    std::mutex mutex_;  ///< threads may run calls on different communicators
    std::deque<Departed> departed_;
    std::deque<Abandoned> abandoned_;
    std::unordered_map<int, std::size_t> bytes_to_peer_;
};

}  // namespace mutirao::mpi
