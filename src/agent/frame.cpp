#include "agent/frame.h"

#include <algorithm>

#include "core/text/bytes.h"
#include "core/text/invariant.h"

namespace mutirao::agent {
namespace {

constexpr std::uint8_t magic = 0x6d;
constexpr std::uint8_t version = 4;

struct Cut {
    Head head;
    std::size_t payload_bytes = 0;

    std::size_t frame_bytes() const { return payload_bytes + frame_overhead_bytes; }
};

template <class Codec>
void fields(Codec& codec, Coded<Codec, Cut>& cut) {
    codec.constant(magic, 1);
    codec.constant(version, 1);
    codec.choice(cut.head.kind, Kind::farewell);
    codec.number(cut.payload_bytes, 2);
    codec.number(cut.head.sender, 2);
    codec.number(cut.head.receiver, 2);
    codec.number(cut.head.session, 4);
    codec.number(cut.head.counter, 4);
}

/// What the head says, as far as it makes sense to this receiver. At least head_bytes.
std::variant<Cut, Reject> read_head(std::span<const std::byte> bytes, int self, int host_count) {
    const auto cut = from_bytes<Cut>(bytes.first(head_bytes));
    if (!cut) return Reject::rejected_junk;
    if (cut->payload_bytes > most_payload_bytes) return Reject::rejected_oversized;
    if (cut->head.sender == self) return Reject::rejected_from_self;
    if (cut->head.receiver != self) return Reject::rejected_wrong_receiver;
    if (cut->head.sender >= host_count) return Reject::rejected_unknown_sender;
    return *cut;
}

/// Whether who made these bytes holds the key. `frame`: exactly one.
bool authentic(std::span<const std::byte> frame, const Key& key) {
    const std::size_t signed_bytes = frame.size() - mac_bytes;
    return equal(mac_of(key, frame.first(signed_bytes)), frame.subspan(signed_bytes));
}

}  // namespace

void append_frame(std::vector<std::byte>& out, const Head& head,
                  std::span<const std::byte> payload, const Key& key) {
    if (payload.size() > most_payload_bytes)
        broken_invariant("bytes of a payload, most", static_cast<long long>(payload.size()),
                         static_cast<long long>(most_payload_bytes));
    const std::size_t begin = out.size();
    const std::vector<std::byte> head_part = to_bytes(Cut{head, payload.size()});
    out.reserve(begin + payload.size() + frame_overhead_bytes);
    out.insert(out.end(), head_part.begin(), head_part.end());
    out.insert(out.end(), payload.begin(), payload.end());
    const Mac mac = mac_of(key, std::span(out).subspan(begin));
    out.insert(out.end(), mac.begin(), mac.end());
}

Sessions agree_sessions(const Key& job_key, std::uint64_t job, int low, int high,
                        std::uint64_t low_number, std::uint64_t high_number) {
    const auto session_for = [&](std::uint64_t way) {
        ByteWriter about;
        about.put(job, 8);
        about.put(static_cast<std::uint64_t>(low), 4);
        about.put(static_cast<std::uint64_t>(high), 4);
        about.put(low_number, 8);
        about.put(high_number, 8);
        about.put(way, 1);
        Session session{derived_key(job_key, std::move(about).take()), 0};
        const Mac name = mac_of(session.key, {});
        session.number = static_cast<std::uint32_t>(ByteReader(name).take(4));
        session.number = std::max<std::uint32_t>(session.number, 1);
        return session;
    };
    return {session_for(0), session_for(1)};
}

void FrameDecoder::expect(Expectation expectation) {
    expectation_ = std::move(expectation);
    last_counter_ = 0;
}

void FrameDecoder::feed(std::span<const std::byte> bytes) {
    buffer_.erase(buffer_.begin(), buffer_.begin() + static_cast<std::ptrdiff_t>(taken_));
    taken_ = 0;
    buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
}

std::variant<std::monostate, Frame, Reject> FrameDecoder::next() {
    const std::span<const std::byte> rest = std::span(buffer_).subspan(taken_);
    if (rest.size() < head_bytes) return std::monostate{};
    const auto read = read_head(rest, expectation_.self, expectation_.host_count);
    if (const Reject* reject = std::get_if<Reject>(&read)) return *reject;
    const Cut& cut = std::get<Cut>(read);
    if (cut.head.sender != expectation_.sender.value_or(cut.head.sender))
        return Reject::rejected_unknown_sender;
    if (cut.head.session != expectation_.session.number) return Reject::rejected_wrong_session;
    if (rest.size() < cut.frame_bytes()) return std::monostate{};
    const auto frame = rest.first(cut.frame_bytes());
    if (!authentic(frame, expectation_.session.key)) return Reject::rejected_forged;
    if (cut.head.counter <= last_counter_) return Reject::rejected_replayed;
    last_counter_ = cut.head.counter;
    taken_ += cut.frame_bytes();
    return Frame{cut.head, frame.subspan(head_bytes, cut.payload_bytes)};
}

std::variant<Frame, Reject> open_datagram(std::span<const std::byte> datagram, int self,
                                          std::span<DatagramPeer> peers) {
    if (datagram.size() < frame_overhead_bytes) return Reject::rejected_truncated;
    const auto read = read_head(datagram, self, static_cast<int>(peers.size()));
    if (const Reject* reject = std::get_if<Reject>(&read)) return *reject;
    const Cut& cut = std::get<Cut>(read);
    if (datagram.size() < cut.frame_bytes()) return Reject::rejected_truncated;
    if (datagram.size() > cut.frame_bytes()) return Reject::rejected_oversized;
    DatagramPeer& peer = peers[static_cast<std::size_t>(cut.head.sender)];
    if (peer.session.number == 0 || cut.head.session != peer.session.number)
        return Reject::rejected_wrong_session;
    if (!authentic(datagram, peer.session.key)) return Reject::rejected_forged;
    if (!peer.window.take(cut.head.counter)) return Reject::rejected_replayed;
    return Frame{cut.head, datagram.subspan(head_bytes, cut.payload_bytes)};
}

}  // namespace mutirao::agent
