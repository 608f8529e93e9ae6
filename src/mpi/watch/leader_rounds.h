// The rounds in which hosts adapt their spanning tree (core/spanning_tree/rounds.h), over MPI messages between the
// ranks that lead hosts. MPI keeps the order between two ranks, and its channels work from the start.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "agent/news_batches.h"
#include "core/spanning_tree/rounds.h"
#include "mpi/base/post.h"

namespace mutirao::mpi {

/// One rank of each host.
struct Leaders {
    int my_host = 0;
    std::vector<int> rank_of_host;

    int count() const { return static_cast<int>(rank_of_host.size()); }
};

class LeaderRounds {
  public:
    enum class Kind : std::uint8_t { ping, pong, rounds, mark };
    struct Letter {
        int from = -1;  ///< host
        Kind kind = Kind::ping;
        std::vector<std::byte> body;
    };

    /// For leaders only. Nothing is known yet.
    LeaderRounds(MPI_Comm comm, int tag, Leaders leaders);

    int me() const { return leaders_.my_host; }
    int host_count() const { return leaders_.count(); }
    const Rounds& rounds() const { return rounds_; }
    /// Of the link to a higher host, one way; nothing: it was never announced.
    std::optional<double> believed_us(int host) const;
    /// Of what is announced meanwhile all hosts make one round, if all hold until they have it.
    void hold() { rounds_.hold(); }
    void release() { carry(rounds_.release()); }
    void announce(int host, double latency_us) { carry(rounds_.announce(host, latency_us)); }

    void send(int host, Kind kind, std::span<const std::byte> body = {});
    /// The oldest that has come, but for those of the rounds, which go on. Nothing has come: then what there is to tell
    /// is told. Does not block.
    std::optional<Letter> receive();
    /// Messages by which the hosts have searched for trees, sent from here.
    std::uint64_t steps_sent() const { return steps_sent_; }

  private:
    void carry(const Rounds::Output& output);

    void tell_news(int host);
    void post(int host, Kind kind, std::span<const std::byte> body);

    const Leaders leaders_;
    Post post_;
    Rounds rounds_;
    agent::NewsBatches news_;  ///< until there is nothing more to be heard, or anything else is sent to that host
    std::uint64_t steps_sent_ = 0;
};

}  // namespace mutirao::mpi
