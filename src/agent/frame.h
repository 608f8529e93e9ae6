// The frames in which agents talk, over TCP and UDP alike: a head of fixed size, a bounded payload,
// and a keyed hash over both. No sockets here, so that a fuzzer can reach all of it.
//
// Two agents greet each other under the job's key, each with a number never used before, and derive
// from both numbers the key and the session of everything that follows. What was recorded on an
// earlier connection is therefore worthless on this one; what is repeated on this one is known by its
// counter, which grows with each frame of a sender.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "agent/counters.h"
#include "agent/key.h"

namespace mutirao::agent {

/// Tells frames that were seen already from new ones where order is not kept: the highest counter so
/// far and which of the 63 below it were seen, as IPsec does (RFC 4303, 3.4.3).
class ReplayWindow {
  public:
    /// True once for each counter; counters too far below the highest count as seen.
    bool take(std::uint32_t counter) {
        if (counter > highest_) {
            const std::uint32_t step = counter - highest_;
            seen_ = step < bits ? (seen_ << step) | 1 : 1;
            highest_ = counter;
            return counter != 0;
        }
        const std::uint32_t age = highest_ - counter;
        if (counter == 0 || age >= bits || (seen_ >> age & 1) != 0) return false;
        seen_ |= std::uint64_t{1} << age;
        return true;
    }

  private:
    static constexpr std::uint32_t bits = 64;

    std::uint32_t highest_ = 0;  ///< counters begin with 1
    std::uint64_t seen_ = 0;
};

enum class Kind : std::uint8_t {
    hello,    ///< first on a connection, by who made it: job, number
    welcome,  ///< the answer: job, number, the number answered
    confirm,  ///< first under the new key, by who made the connection
    probe,    ///< UDP; over TCP where UDP does not pass
    echo,     ///< counter of the probe, nanoseconds held
    rounds,   ///< a message of core/spanning_tree/rounds.h
    bandwidth_data,    ///< UDP
    bandwidth_result,  ///< what came of a train
    facts,  ///< of facts.h
    farewell  ///< the last: this agent's job is over, and says nothing of its links
};
inline constexpr std::size_t kind_count = static_cast<std::size_t>(Kind::farewell) + 1;

inline constexpr std::size_t head_bytes = 17;
inline constexpr std::size_t frame_overhead_bytes = head_bytes + mac_bytes;
inline constexpr std::size_t most_payload_bytes = 60 * 1024;

struct Head {
    Kind kind = Kind::hello;
    int sender = 0;
    int receiver = 0;
    std::uint32_t session = 0;  ///< 0 before one is agreed
    std::uint32_t counter = 0;  ///< of the sender in this session, over TCP and over UDP; from 1

    bool operator==(const Head&) const = default;
};

struct Frame {
    Head head;
    std::span<const std::byte> payload;  ///< into the bytes that were decoded
};

/// Why a frame is dropped: one of Count::rejected_...
using Reject = Count;

/// Appends a frame. The payload must not be longer than most_payload_bytes.
void append_frame(std::vector<std::byte>& out, const Head& head,
                  std::span<const std::byte> payload, const Key& key);

/// What the frames of two agents are signed with and named by.
struct Session {
    Key key;
    std::uint32_t number = 0;
};
/// With a key for each way to send, so that no frame of one can be repeated in the other.
struct Sessions {
    Session channel;
    Session datagrams;
};
/// Of the hosts low < high, from the numbers that they greeted with.
Sessions agree_sessions(const Key& job_key, std::uint64_t job, int low, int high,
                      std::uint64_t low_number, std::uint64_t high_number);

/// Which frames a receiver takes.
struct Expectation {
    int self = 0;
    int host_count = 0;
    std::optional<int> sender;  ///< nothing: any but self
    Session session;
};

/// Cuts a stream of bytes into frames. After a reject the stream is of no more use.
class FrameDecoder {
  public:
    explicit FrameDecoder(Expectation expectation) : expectation_(std::move(expectation)) {}

    /// From the next frame on; counters begin anew.
    void expect(Expectation expectation);
    void feed(std::span<const std::byte> bytes);
    /// The next frame, valid until the next call of feed(); nothing while it is not all there.
    std::variant<std::monostate, Frame, Reject> next();
    /// Bytes of a frame that is not all there.
    std::size_t unfinished_bytes() const { return buffer_.size() - taken_; }

  private:
    Expectation expectation_;
    std::vector<std::byte> buffer_;
    std::size_t taken_ = 0;
    std::uint32_t last_counter_ = 0;
};

/// For UDP: what is agreed with each host, session 0 where nothing is.
struct DatagramPeer {
    Session session;
    ReplayWindow window;
};
/// One datagram is one frame. `peers` by host.
std::variant<Frame, Reject> open_datagram(std::span<const std::byte> datagram, int self,
                                          std::span<DatagramPeer> peers);

}  // namespace mutirao::agent
