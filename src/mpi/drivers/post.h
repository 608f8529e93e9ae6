// Small messages between ranks of the twin, under a tag of their own, while calls go on: nothing here
// blocks but finish().
#pragma once

#include <mpi.h>

#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <set>
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
    /// Sends to this rank may never complete: do not wait for them.
    void give_up(int rank) { given_up_.insert(rank); }
    /// No sends are under way.
    bool idle() {
        reap();
        return sending_.empty();
    }
    /// Waits for the sends under way, but for those to ranks given up.
    void finish();

  private:
    struct Sending {
        int to;
        MPI_Request request;
        std::shared_ptr<const Bytes> bytes;
    };

    void reap();

    MPI_Comm comm_;
    int tag_;
    std::deque<Sending> sending_;
    std::set<int> given_up_;
};

}  // namespace mutirao::mpi
