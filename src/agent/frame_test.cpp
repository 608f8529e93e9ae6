// What both decoders take, and a fuzzer over them. How each kind of bad frame is counted: bad_frames_test.cpp.
#include "agent/frame.h"

#include <gtest/gtest.h>

#include <chrono>

#include "simulate/random.h"

namespace mutirao::agent {
namespace {

using Bytes = std::vector<std::byte>;
using simulate::Random;

constexpr int self = 4;
constexpr int peer = 2;
constexpr int hosts_in_all = 6;

Session session() { return agree_sessions({}, 77, peer, self, 1, 2).channel; }

Bytes payload_of(std::size_t size) {
    Bytes payload(size);
    for (std::size_t i = 0; i < size; ++i) payload[i] = static_cast<std::byte>(i * 7);
    return payload;
}

Bytes frame_of(const Head& head, std::size_t payload_bytes = 5) {
    Bytes bytes;
    append_frame(bytes, head, payload_of(payload_bytes), session().key);
    return bytes;
}

Head head(std::uint32_t counter, Kind kind = Kind::rounds) {
    return {kind, peer, self, session().number, counter};
}

FrameDecoder decoder() { return FrameDecoder({self, hosts_in_all, peer, session()}); }

std::vector<DatagramPeer> datagram_peers() {
    std::vector<DatagramPeer> peers(hosts_in_all);
    peers[peer].session = session();
    return peers;
}

TEST(Frame, AStreamMayBeCutAnywhere) {
    constexpr std::size_t sizes[] = {0, 5, most_payload_bytes};
    Bytes bytes;
    for (std::uint32_t counter = 1; const std::size_t size : sizes) {
        const Bytes frame = frame_of(head(counter++), size);
        bytes.insert(bytes.end(), frame.begin(), frame.end());
    }
    for (const std::size_t piece : {std::size_t{1}, std::size_t{7}, bytes.size()}) {
        FrameDecoder stream = decoder();
        std::uint32_t seen = 0;
        for (std::size_t at = 0; at < bytes.size(); at += piece) {
            stream.feed(std::span(bytes).subspan(at, std::min(piece, bytes.size() - at)));
            while (true) {
                const auto next = stream.next();
                ASSERT_FALSE(std::holds_alternative<Reject>(next));
                if (std::holds_alternative<std::monostate>(next)) break;
                const Frame& frame = std::get<Frame>(next);
                EXPECT_EQ(frame.head, head(seen + 1));
                EXPECT_EQ(Bytes(frame.payload.begin(), frame.payload.end()), payload_of(sizes[seen++]));
            }
        }
        EXPECT_EQ(seen, 3U);
        EXPECT_EQ(stream.unfinished_bytes(), 0U);
    }
}

TEST(Frame, CutShort) {
    const Bytes good = frame_of(head(1));
    for (std::size_t size = 0; size < good.size(); ++size) {
        const Bytes cut(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(size));
        auto peers = datagram_peers();
        EXPECT_EQ(std::get<Reject>(open_datagram(cut, self, peers)), Count::rejected_truncated);
        FrameDecoder stream = decoder();
        stream.feed(cut);
        EXPECT_TRUE(std::holds_alternative<std::monostate>(stream.next()));
        EXPECT_EQ(stream.unfinished_bytes(), size);
    }
    Bytes longer = good;
    longer.push_back(std::byte{0});
    auto peers = datagram_peers();
    EXPECT_EQ(std::get<Reject>(open_datagram(longer, self, peers)), Count::rejected_oversized);
}

TEST(Frame, RepeatedDatagramsWhereOrderIsNotKept) {
    auto peers = datagram_peers();
    const auto taken = [&](std::uint32_t counter) {
        return std::holds_alternative<Frame>(open_datagram(frame_of(head(counter)), self, peers));
    };
    // A 6 that comes so long after 70 cannot be told from one that came before.
    for (const auto& [counter, is_new] :
         {std::pair{0U, false}, {10U, true}, {7U, true}, {7U, false}, {10U, false}, {70U, true}, {8U, true},
          {70U, false}, {6U, false}, {UINT32_MAX, true}, {70U, false}})
        EXPECT_EQ(taken(counter), is_new) << counter;
}

TEST(Frame, SessionsDifferInEveryPartOfWhatTheyAreMadeFrom) {
    Key other_key;
    other_key.bytes[31] = std::byte{1};
    const Sessions first = agree_sessions({}, 1, 2, 3, 4, 5);
    for (const Sessions& other :
         {agree_sessions(other_key, 1, 2, 3, 4, 5), agree_sessions({}, 9, 2, 3, 4, 5),
          agree_sessions({}, 1, 9, 3, 4, 5), agree_sessions({}, 1, 2, 9, 4, 5),
          agree_sessions({}, 1, 2, 3, 9, 5), agree_sessions({}, 1, 2, 3, 4, 9)}) {
        EXPECT_NE(other.channel.key, first.channel.key);
        EXPECT_NE(other.datagrams.key, first.datagrams.key);
    }
    EXPECT_NE(first.channel.key, first.datagrams.key);
}

/// Changes a few bytes, cuts, repeats or joins: whatever a broken or hostile sender could make.
Bytes mutated(Random& random, Bytes bytes) {
    for (std::size_t changes = random.below(4) + 1; changes > 0; --changes) {
        if (bytes.empty()) bytes.push_back(std::byte{0});
        const std::size_t at = random.below(bytes.size());
        const auto place = bytes.begin() + static_cast<std::ptrdiff_t>(at);
        switch (random.below(5)) {
            case 0: *place = static_cast<std::byte>(random.below(256)); break;
            case 1: bytes.erase(place, bytes.end()); break;
            case 2: bytes.insert(place, 1 + random.below(40), static_cast<std::byte>(at)); break;
            case 3: *place ^= static_cast<std::byte>(1U << random.below(8)); break;
            default: {
                const Bytes copy(place, bytes.end());
                bytes.insert(bytes.end(), copy.begin(), copy.end());
            }
        }
    }
    return bytes;
}

/// Only bytes that were signed may come out: anything else fails the test. Counts what came out.
void feed_both(Random& random, const Bytes& bytes, int& accepted) {
    FrameDecoder stream = decoder();
    std::size_t at = 0;
    bool open = true;
    while (at < bytes.size() && open) {
        const std::size_t piece = std::min(bytes.size() - at, 1 + random.below(64));
        stream.feed(std::span(bytes).subspan(at, piece));
        at += piece;
        while (open) {
            const auto next = stream.next();
            open = !std::holds_alternative<Reject>(next);
            const Frame* frame = std::get_if<Frame>(&next);
            if (frame == nullptr) break;
            ++accepted;
            ASSERT_EQ(frame_of(frame->head, frame->payload.size()).size(),
                      frame->payload.size() + frame_overhead_bytes);
            ASSERT_EQ(Bytes(frame->payload.begin(), frame->payload.end()),
                      payload_of(frame->payload.size()));
        }
    }
    ASSERT_LE(stream.unfinished_bytes(), bytes.size());
    auto peers = datagram_peers();
    const auto opened = open_datagram(bytes, self, peers);
    if (const Frame* frame = std::get_if<Frame>(&opened)) {
        ASSERT_EQ(bytes, frame_of(frame->head, frame->payload.size()));
    }
}

TEST(Frame, Fuzzed) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(3);
    int accepted = 0;
    std::uint64_t seed = 0;
    for (; std::chrono::steady_clock::now() < end; ++seed) {
        SCOPED_TRACE(seed);
        Random random(seed);
        Bytes bytes;
        for (std::uint32_t counter = 1; counter <= 1 + random.below(3); ++counter) {
            const Bytes frame = frame_of(head(counter, static_cast<Kind>(random.below(kind_count))),
                                         random.below(200));
            bytes.insert(bytes.end(), frame.begin(), frame.end());
        }
        feed_both(random, mutated(random, bytes), accepted);
        if (HasFatalFailure()) return;
    }
    // Undamaged frames stand beside damaged ones: some must have come through.
    EXPECT_GT(accepted, static_cast<int>(seed / 20));
}

}  // namespace
}  // namespace mutirao::agent
