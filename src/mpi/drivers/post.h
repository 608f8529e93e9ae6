// Small messages between ranks of a private communicator, under a tag of their own, while calls go on:
// nothing here blocks but finish().
#pragma once

#include <mpi.h>

#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

namespace mutirao::mpi {

class Post {
  public:
    using Bytes = std::vector<std::byte>;
    struct Letter {
        int from = -1;  ///< rank
        Bytes bytes;
    };

    Post(MPI_Comm comm, int tag) : comm_(comm), tag_(tag) {}
    /// Leaves the sends under way to MPI.
    ~Post();
    Post(const Post&) = delete;
    Post& operator=(const Post&) = delete;

    /// Letters to one rank arrive in their order.
    void send(int rank, std::shared_ptr<const Bytes> bytes);
    std::optional<Letter> receive();
    /// Waits for the sends under way.
    void finish();

  private:
    struct Sending {
        MPI_Request request;
        std::shared_ptr<const Bytes> bytes;
    };

    void reap();

    MPI_Comm comm_;
    int tag_;
    std::deque<Sending> sending_;
};

}  // namespace mutirao::mpi
