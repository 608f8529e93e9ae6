// The UDP socket of an agent: frames with the moment at which the kernel got them, so that a probe does
// not seem slow because its host was busy.
#pragma once

#include <netinet/in.h>

#include <cstdint>
#include <span>
#include <variant>
#include <vector>

#include "agent/counters.h"
#include "agent/frame.h"
#include "agent/mesh.h"

namespace mutirao::agent {

struct Datagram {
    Frame frame;
    sockaddr_in from{};
    std::int64_t arrived_ns = 0;  ///< by the clock of now_ns()
};

class Datagrams {
  public:
    Datagrams(int socket, int self, Mesh& mesh, Counters& counters)
        : socket_(socket), self_(self), mesh_(mesh), counters_(counters) {}

    /// Returns the counter that names it; nothing if it was not sent.
    std::optional<std::uint32_t> send(int peer, Kind kind, std::span<const std::byte> payload);
    void answer(const Datagram& datagram, Kind kind, std::span<const std::byte> payload);

    /// The next good frame; nothing when no more have come. Valid until the next call.
    std::optional<Datagram> receive();

  private:
    std::optional<std::uint32_t> send_to(const sockaddr_in& to, int peer, Kind kind,
                                         std::span<const std::byte> payload);

    int socket_;
    int self_;
    Mesh& mesh_;
    Counters& counters_;
    std::array<std::byte, 2048> received_{};
    std::vector<std::byte> sending_;
};

}  // namespace mutirao::agent
