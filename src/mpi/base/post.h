// Small messages between ranks of the twin, under a tag of their own, while calls go on: nothing here blocks.
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
    struct Received {
        int from = -1;  ///< rank
        Bytes bytes;
    };

    Post(MPI_Comm comm, int tag) : comm_(comm), tag_(tag) {}
    /// Leaves the sends under way to MPI.
    ~Post();
    Post(const Post&) = delete;
    Post& operator=(const Post&) = delete;

    /// Messages to one rank arrive in their order.
    void send(int rank, std::shared_ptr<const Bytes> bytes);
    /// Open MPI looks first and sees what has come afterwards, which matters to who looks once in a call: two
    /// looks see what one would leave to the next call.
    std::optional<Received> receive(int looks = 2);
    /// No sends are under way.
    bool idle() {
        reap();
        return sending_.empty();
    }

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
