// The channels between an agent and all the others: one TCP connection for each pair of hosts, made by
// the lower one and made again when it breaks, and the key agreed on it, under which the two also
// exchange datagrams. Frames of a channel arrive in the order in which they were sent, or the channel
// breaks: what core/spanning_tree demands of who carries its messages. Datagrams come with the moment at
// which the kernel got them, so that a probe does not seem slow because its host was busy.
#pragma once

#include <netinet/in.h>
#include <poll.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <unordered_set>
#include <vector>

#include "agent/agent.h"
#include "agent/counters.h"
#include "agent/endpoint.h"
#include "agent/frame.h"
#include "agent/system.h"

namespace mutirao::agent {

// One TCP connection of an agent: bytes in as frames, frames out as bytes, nothing that blocks. What
// waits to be sent is bounded; more than that, and the connection counts as broken.

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
    int peer = -1;           ///< -1: not known yet
    bool familiar = false;   ///< accepted from an address of one of the contacts
    std::uint64_t own_number = 0;
    std::uint64_t peer_number = 0;
    Session datagrams;       ///< agreed on this connection
};

/// What it took to come together, at the end that made the connection.
struct Greeting {
    double connect_us = 0;
    double round_trip_us = 0;  ///< an upper bound
};

/// Who is told what the mesh sees.
class MeshListener {
  public:
    virtual void joined(int peer, const std::optional<Greeting>& greeting) = 0;
    virtual void lost(int peer) = 0;
    /// Of a peer whose channel is up; not the frames with which it came up.
    virtual void received(int peer, const Frame& frame) = 0;

  protected:
    ~MeshListener() = default;
};

/// For a greeting to be answered.
inline std::int64_t patience_to_greet_ns(const Options& options) { return 2 * options.dead_after_ms * ns_per_ms; }

struct Datagram {
    Frame frame;
    sockaddr_in from{};
    std::int64_t arrived_ns = 0;  ///< by the clock of now_ns()
};

class Mesh {
  public:
    /// Job and endpoint must outlive this.
    Mesh(const Job& job, const Endpoint& endpoint, Counters& counters, MeshListener& listener);

    bool up(int peer) const { return peers_[index(peer)].channel != nullptr; }
    /// At some time.
    bool was_up(int peer) const { return datagram_peers_[index(peer)].session.number != 0; }
    /// Returns the counter that names the frame; nothing, and it is dropped, unless the channel is
    /// up. A failure shows as lost() at the next tick().
    std::optional<std::uint32_t> send(int peer, Kind kind, std::span<const std::byte> payload);

    /// Likewise as a datagram, to the address at which the channel was made; nothing unless it was sent.
    std::optional<std::uint32_t> send_datagram(int peer, Kind kind, std::span<const std::byte> payload) {
        return send_datagram(peers_[index(peer)].datagram_address, peer, kind, payload);
    }
    /// Several, in one call of the system, so that as little as can be comes between them.
    void send_datagrams(int peer, Kind kind, std::span<const std::span<const std::byte>> payloads);
    void answer(const Datagram& datagram, Kind kind, std::span<const std::byte> payload) {
        send_datagram(datagram.from, datagram.frame.head.sender, kind, payload);
    }
    /// The next good datagram; nothing when no more have come. Valid until the next call.
    std::optional<Datagram> receive_datagram();

    /// What to wait for, and what came of that.
    void add_sockets(std::vector<pollfd>& sockets) const;
    void on_ready(std::span<const pollfd> sockets, std::int64_t now_ns);
    /// Connects what is not connected, and clears away what broke. To be called after events.
    void tick(std::int64_t now_ns);
    std::int64_t next_ns() const;
    int host_count() const { return static_cast<int>(peers_.size()); }

  private:
    struct Peer {
        Connection* channel = nullptr;
        Connection* attempt = nullptr;
        std::int64_t next_attempt_ns = 0;
        int attempts = 0;
        sockaddr_in datagram_address{};
        std::uint32_t datagram_counter = 0;
    };

    static std::size_t index(int peer) { return static_cast<std::size_t>(peer); }

    void accept_all(std::int64_t now_ns);
    void make_room(bool familiar);
    void connect_to(int peer, std::int64_t now_ns);
    Connection* keep(Connection connection);
    void on_connected(Connection& connection, std::int64_t now_ns);
    void read(Connection& connection);
    void handle(Connection& connection, const Frame& frame);
    void on_hello(Connection& connection, const Frame& frame);
    void on_welcome(Connection& connection, const Frame& frame);
    void bring_up(Connection& connection, const std::optional<Greeting>& greeting);
    void agree(Connection& connection);
    void reject(Connection& connection, Reject why);
    void drop_channel(int peer);
    void clear_broken(std::int64_t now_ns);
    std::optional<std::uint32_t> send_datagram(const sockaddr_in& to, int peer, Kind kind,
                                               std::span<const std::byte> payload);
    Expectation expectation_of(std::optional<int> sender, const Session& session) const;

    const Job& job_;
    const Endpoint& endpoint_;
    Counters& counters_;
    MeshListener& listener_;
    std::unordered_set<std::uint32_t> contact_addresses_;
    std::int64_t accept_again_ns_ = 0;  ///< 0: accepting
    std::vector<Peer> peers_;
    std::vector<DatagramPeer> datagram_peers_;
    std::vector<std::unique_ptr<Connection>> connections_;  ///< the oldest first
    std::array<std::byte, 2048> received_{};
    std::vector<std::byte> sending_;
};

}  // namespace mutirao::agent
