// Small messages between the leaders of a communicator's hosts while its network is measured inside a
// call that waits for that. The phases follow each other at every host in its own time, so
// messages of a later phase wait here until this host gets there. MPI keeps the order between two
// ranks, as the spanning tree's algorithms require.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "mpi/drivers/post.h"

namespace mutirao::mpi {

/// One rank of each host.
struct Leaders {
    int my_host = 0;
    std::vector<int> twin_rank_of_host;

    int count() const { return static_cast<int>(twin_rank_of_host.size()); }
    int host_of(int twin_rank) const {
        const auto found = std::find(twin_rank_of_host.begin(), twin_rank_of_host.end(), twin_rank);
        return static_cast<int>(found - twin_rank_of_host.begin());
    }
};

enum class Phase : unsigned char { ping, pong, verdict, ghs, gather, maintenance };
constexpr int phase_count = 6;

struct Message {
    int from = -1;  ///< host
    Phase phase = Phase::ping;
    std::uint32_t round = 0;
    std::vector<std::byte> body;
};

class Mailbox {
  public:
    /// For leaders only.
    Mailbox(MPI_Comm twin, Leaders leaders, int tag) : leaders_(std::move(leaders)), post_(twin, tag) {}
    /// Waits for the sends under way to hosts that answered; gives up the others.
    ~Mailbox() { post_.finish(); }
    Mailbox(const Mailbox&) = delete;
    Mailbox& operator=(const Mailbox&) = delete;

    /// What is still under way of rounds before this one is dropped when it arrives; what others
    /// send already of the next round waits for it.
    void begin_round();
    void send(int to, Phase phase, std::span<const std::byte> body);
    /// The oldest waiting message of that phase, if any. Does not block, but yields the processor
    /// when nothing has come for a while.
    std::optional<Message> poll(Phase phase);
    /// Sends to this host may never complete: do not wait for them.
    void give_up(int host) { post_.give_up(leader_of(host)); }
    const Leaders& leaders() const { return leaders_; }

  private:
    int leader_of(int host) const {
        return leaders_.twin_rank_of_host[static_cast<std::size_t>(host)];
    }
    bool fetch();
    void rest();

    const Leaders leaders_;
    Post post_;
    std::uint32_t round_ = 0;
    std::deque<Message> waiting_[phase_count];
    int idle_polls_ = 0;
};

/// Bytes of a plain value, and back.
template <typename Plain>
std::span<const std::byte> bytes_of(const Plain& value) {
    return std::as_bytes(std::span(&value, 1));
}

}  // namespace mutirao::mpi
