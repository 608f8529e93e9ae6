// Small messages between the leaders of hosts while a communicator is being set up, or its network
// measured anew inside a call. The phases follow each other at every host in its own time, so
// messages of a later phase wait here until this host gets there. MPI keeps the order between two
// ranks, as the spanning tree's algorithms require.
#pragma once

#include <mpi.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <vector>

#include "mpi/communicator/hosts.h"
#include "mpi/drivers/post.h"

namespace mutirao::mpi {

enum class Phase : unsigned char { ping, pong, verdict, ghs, gather, maintenance };
constexpr int phase_count = 6;

struct Letter {
    int from = -1;  ///< host
    Phase phase = Phase::ping;
    std::uint32_t round = 0;
    std::vector<std::byte> body;
};

class Mailbox {
  public:
    /// `hosts` outlives the mailbox. Leaders only. Letters go to mailboxes of the same tag: while one
    /// may still be open at one host, a next one opened at another needs a tag of its own.
    Mailbox(MPI_Comm comm, const Hosts& hosts, int tag) : hosts_(hosts), post_(comm, tag) {}
    /// Waits for the sends under way to hosts that answered; gives up the others.
    ~Mailbox() { post_.finish(); }
    Mailbox(const Mailbox&) = delete;
    Mailbox& operator=(const Mailbox&) = delete;

    /// What is still under way of rounds before this one is dropped when it arrives; what others
    /// send already of the next round waits for it.
    void begin_round();
    void send(int to, Phase phase, std::span<const std::byte> body);
    /// The oldest waiting letter of that phase, if any. Does not block, but yields the processor
    /// when nothing has come for a while.
    std::optional<Letter> poll(Phase phase);
    /// Sends to this host may never complete: do not wait for them.
    void give_up(int host) { post_.give_up(leader_of(host)); }
    /// Letters may still come that nobody waits for any more.
    void leave_letters() { letters_left_ = true; }
    /// True if the communicator may hold messages that nobody will receive.
    bool letters_left() const { return letters_left_; }

  private:
    int leader_of(int host) const { return hosts_.leader_of_host[static_cast<std::size_t>(host)]; }
    bool fetch();
    void rest();

    const Hosts& hosts_;
    Post post_;
    std::uint32_t round_ = 0;
    std::deque<Letter> waiting_[phase_count];
    bool letters_left_ = false;
    int idle_polls_ = 0;
};

/// Bytes of a plain value, and back.
template <typename Plain>
std::span<const std::byte> bytes_of(const Plain& value) {
    return std::as_bytes(std::span(&value, 1));
}

}  // namespace mutirao::mpi
