// One TCP connection of an agent: bytes in as frames, frames out as bytes, nothing that blocks. What
// waits to be sent is bounded; more than that, and the connection counts as broken.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "agent/counters.h"
#include "agent/frame.h"
#include "agent/system.h"

namespace mutirao::agent {

class Connection {
  public:
    static constexpr std::size_t most_waiting_bytes = 4 << 20;

    enum class Stage : std::uint8_t {
        connecting,        ///< the lower host
        awaiting_welcome,  ///< the lower host
        awaiting_hello,    ///< the higher host, which does not know yet who connects
        awaiting_confirm,  ///< the higher host
        up
    };

    Connection(File socket, Stage first_stage, FrameDecoder frames, std::int64_t now_ns)
        : socket_(std::move(socket)),
          decoder(std::move(frames)),
          stage(first_stage),
          started_ns(now_ns) {}

    int socket() const { return socket_.number(); }

    /// Returns the frame's counter; nothing if the connection is broken, by this or before.
    std::optional<std::uint32_t> send(int self, Kind kind, std::span<const std::byte> payload,
                                      Counters& counters);
    void flush(Counters& counters);
    /// Takes in what has arrived, a bounded amount; an end or a failure breaks the connection.
    void receive(Counters& counters);
    bool wants_to_write() const { return sent_ < waiting_.size(); }
    /// Forget what was agreed; frames are signed anew from here on.
    void use(const Session& session);

  private:
    File socket_;
    std::vector<std::byte> waiting_;
    std::size_t sent_ = 0;
    Session session_;
    std::uint32_t counter_ = 0;

  public:
    FrameDecoder decoder;
    Stage stage;
    bool broken = false;
    std::int64_t started_ns;
    std::int64_t greeted_ns = 0;  ///< when hello was sent
    double connect_us = 0;
    std::uint64_t name = 0;  ///< at the poller
    int peer = -1;           ///< -1: not known yet
    bool familiar = false;   ///< accepted from an address of one of the contacts
    std::uint64_t own_number = 0;
    std::uint64_t peer_number = 0;
    Session datagrams;       ///< agreed on this connection
    bool polled_for_writing = false;
};

}  // namespace mutirao::agent
