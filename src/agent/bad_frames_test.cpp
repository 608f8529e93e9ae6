// Every kind of bad frame, over loopback sockets to a live agent: each is counted by its kind, none
// does harm. The sender plays host 0 by hand, with and without the key.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <map>

#include "agent/frame.h"
#include "agent/test_agents.h"
#include "core/text/bytes.h"

namespace mutirao::agent {
namespace {

using Bytes = std::vector<std::byte>;
using test::within_a_minute;

Bytes numbers(std::initializer_list<std::uint64_t> values) {
    ByteWriter writer;
    for (const std::uint64_t value : values) writer.put(value, 8);
    return std::move(writer).take();
}

/// Another address of this host, of which no contact tells.
constexpr std::uint32_t elsewhere = INADDR_LOOPBACK + 1;

/// A socket connected to the agent.
class Wire {
  public:
    Wire(int type, std::uint16_t port, std::uint32_t own = INADDR_LOOPBACK) : socket_(socket(AF_INET, type, 0)) {
        const sockaddr_in from = socket_address(own, 0), to = socket_address(INADDR_LOOPBACK, port);
        EXPECT_EQ(bind(socket_.number(), reinterpret_cast<const sockaddr*>(&from), sizeof from), 0);
        EXPECT_EQ(connect(socket_.number(), reinterpret_cast<const sockaddr*>(&to), sizeof to), 0);
    }
    explicit Wire(File socket) : socket_(std::move(socket)) {}
    void send(const Bytes& bytes) const {
        EXPECT_EQ(::send(socket_.number(), bytes.data(), bytes.size(), MSG_NOSIGNAL),
                  static_cast<ssize_t>(bytes.size()));
    }
    /// What comes next, at most `most`; empty at the end of the stream.
    Bytes receive(std::size_t most = 4096) const {
        pollfd waiting{socket_.number(), POLLIN, 0};
        Bytes bytes(most);
        if (poll(&waiting, 1, 60'000) != 1) return {};
        const ssize_t count = recv(socket_.number(), bytes.data(), bytes.size(), 0);
        bytes.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
        return bytes;
    }

  private:
    File socket_;
};

/// One agent, host 1 of 3, of which the others never come.
class BadFrames : public testing::Test {
  protected:
    BadFrames() : key(*random_key()) {
        Endpoint endpoint = *Endpoint::open();
        port = endpoint.contact().tcp_port;
        Contact nowhere, here;
        here.addresses[0] = INADDR_LOOPBACK;
        here.address_count = 1;
        Job job{1, {here, endpoint.contact(), nowhere}, key, job_id, test::fast_options()};
        agent = std::make_unique<Thread>(std::move(endpoint), std::move(job));
    }

    Bytes frame(const Head& head, const Bytes& payload, const Key& with) const {
        Bytes bytes;
        append_frame(bytes, head, payload, with);
        return bytes;
    }
    Bytes hello() const {
        return frame({Kind::hello, 0, 1, 0, 1}, numbers({job_id, my_number}), key);
    }
    /// Greets; returns what is agreed.
    Sessions greet(const Wire& wire) const {
        wire.send(hello());
        const Bytes welcome = wire.receive();
        if (welcome.size() != frame_overhead_bytes + 24) {
            ADD_FAILURE() << "no welcome";
            return {};
        }
        const std::span<const std::byte> payload = std::span(welcome).subspan(head_bytes);
        ByteReader reader(payload.subspan(8));
        return agree_sessions(key, job_id, 0, 1, my_number, reader.take(8));
    }
    Bytes confirm(const Session& session) const {
        return frame({Kind::confirm, 0, 1, session.number, 1}, {}, session.key);
    }
    bool channel_is_up() const { return test::tells(*agent, R"({"host":0,"channel_up":true)"); }
    bool channel_comes_up() const {
        return within_a_minute([&] { return channel_is_up(); });
    }
    /// A stranger sends this and is turned away.
    void turned_away(const Bytes& bytes, Count why) {
        const Wire wire(SOCK_STREAM, port);
        wire.send(bytes);
        EXPECT_TRUE(wire.receive().empty());
        ++expected[why];
    }
    /// The kinds that were sent were counted exactly so often, the others not at all.
    void expect_counts() const {
        ASSERT_TRUE(within_a_minute([&] {
            return std::ranges::all_of(expected, [&](const auto& each) {
                return test::counted(*agent, each.first) >= each.second;
            });
        }));
        for (auto count = Count::rejected_junk; count <= Count::rejected_unexpected;
             count = static_cast<Count>(static_cast<int>(count) + 1)) {
            const auto found = expected.find(count);
            EXPECT_EQ(test::counted(*agent, count), found == expected.end() ? 0 : found->second)
                << count_names[static_cast<std::size_t>(count)];
        }
    }

    /// Agents of the same job and host meet in shared memory, also those of two tests at a time.
    const std::uint64_t job_id = *random_number();
    static constexpr std::uint64_t my_number = 5;
    Key key;
    std::uint16_t port = 0;
    std::unique_ptr<Thread> agent;
    std::map<Count, std::uint64_t> expected;
};

TEST_F(BadFrames, OfStrangersOverTcp) {
    for (const std::size_t magic_version_or_kind : {0, 1, 2}) {
        Bytes bytes = hello();
        bytes[magic_version_or_kind] ^= std::byte{0x80};
        turned_away(bytes, Count::rejected_junk);
    }
    Bytes oversized = hello();
    oversized[4] = std::byte{0xff};  // of the payload's length
    turned_away(oversized, Count::rejected_oversized);
    turned_away(frame({Kind::hello, 0, 1, 0, 1}, numbers({job_id, 1}), Key{}), Count::rejected_forged);
    turned_away(frame({Kind::hello, 0, 1, 0, 1}, numbers({job_id}), key), Count::rejected_malformed);
    turned_away(frame({Kind::hello, 0, 1, 0, 1}, numbers({job_id + 1, 1}), key), Count::rejected_unexpected);
    const std::pair<Head, Count> heads[] = {
        {{Kind::hello, 1, 1, 0, 1}, Count::rejected_from_self},
        {{Kind::hello, 0, 2, 0, 1}, Count::rejected_wrong_receiver},
        {{Kind::hello, 3, 1, 0, 1}, Count::rejected_unknown_sender},
        {{Kind::hello, 0, 1, 9, 1}, Count::rejected_wrong_session},
        {{Kind::hello, 2, 1, 0, 1}, Count::rejected_unexpected},
        {{Kind::rounds, 0, 1, 0, 1}, Count::rejected_unexpected},
        {{Kind::hello, 0, 1, 0, 0}, Count::rejected_replayed},
    };
    for (const auto& [head, why] : heads) turned_away(frame(head, numbers({job_id, 1}), key), why);
    {
        const Wire wire(SOCK_STREAM, port);
        const Bytes whole = hello();
        wire.send(Bytes(whole.begin(), whole.end() - 1));
        ++expected[Count::rejected_truncated];
    }
    expect_counts();
    EXPECT_TRUE(agent->running());
}

// Who connects and says nothing is dropped when others come, the oldest first.
TEST_F(BadFrames, SilentStrangersKeepNobodyOut) {
    std::vector<Wire> silent;
    for (int i = 0; i < 200; ++i) silent.emplace_back(SOCK_STREAM, port);
    const Wire wire(SOCK_STREAM, port);
    wire.send(confirm(greet(wire).channel));
    EXPECT_TRUE(silent.front().receive().empty());
    EXPECT_TRUE(channel_comes_up());
}

// However many come from elsewhere before it says its first word.
TEST_F(BadFrames, StrangersTakeNoPlaceOfAContact) {
    const Wire wire(SOCK_STREAM, port);
    std::vector<Wire> silent;
    for (int i = 0; i < 200; ++i) silent.emplace_back(SOCK_STREAM, port, elsewhere);
    EXPECT_TRUE(silent.front().receive().empty());
    wire.send(confirm(greet(wire).channel));
    EXPECT_TRUE(channel_comes_up());
}

TEST_F(BadFrames, ARecordedGreetingDoesNotReplaceAChannelWhoseEndIsCounted) {
    std::optional<Wire> first(std::in_place, SOCK_STREAM, port);
    const Session session = greet(*first).channel;
    first->send(confirm(session));
    ASSERT_TRUE(channel_comes_up());
    {
        const Wire second(SOCK_STREAM, port);
        second.send(hello());
        EXPECT_FALSE(second.receive().empty());
        second.send(confirm(session));
        EXPECT_TRUE(second.receive().empty());
        ++expected[Count::rejected_wrong_session];
    }
    expect_counts();
    EXPECT_TRUE(channel_is_up());
    EXPECT_EQ(test::counted(*agent, Count::channels_lost), 0U);
    first.reset();
    EXPECT_TRUE(within_a_minute([&] { return test::counted(*agent, Count::channels_lost) == 1U; }));
}

TEST_F(BadFrames, OnAChannel) {
    struct Bad {
        Kind kind;
        std::uint32_t counter;
        Count why;
        bool forged = false;
        bool confirmed = true;
        int sender = 0;
    };
    for (const Bad& bad : {Bad{Kind::confirm, 1, Count::rejected_replayed},
                           Bad{Kind::confirm, 2, Count::rejected_unexpected},
                           Bad{Kind::rounds, 2, Count::rejected_forged, true},
                           Bad{Kind::rounds, 2, Count::rejected_unknown_sender, false, true, 2},
                           Bad{Kind::rounds, 1, Count::rejected_unexpected, false, false}}) {
        const Wire wire(SOCK_STREAM, port);
        const Session session = greet(wire).channel;
        if (bad.confirmed) wire.send(confirm(session));
        wire.send(frame({bad.kind, bad.sender, 1, session.number, bad.counter}, Bytes(30),
                        bad.forged ? Key{} : session.key));
        while (!wire.receive().empty()) continue;
        ++expected[bad.why];
    }
    const Wire wire(SOCK_STREAM, port);
    const Session session = greet(wire).channel;
    wire.send(confirm(session));
    wire.send(frame({Kind::rounds, 0, 1, session.number, 2}, Bytes(30), session.key));
    wire.send(frame({Kind::echo, 0, 1, session.number, 3}, Bytes(8), session.key));
    ++expected[Count::rejected_malformed];
    ++expected[Count::rejected_unexpected];
    expect_counts();
    EXPECT_TRUE(channel_is_up());
}

TEST_F(BadFrames, OverUdpAndAGoodOneIsAnsweredAllTheSame) {
    const Wire channel(SOCK_STREAM, port);
    const Sessions sessions = greet(channel);
    const Session& session = sessions.datagrams;
    channel.send(confirm(sessions.channel));
    ASSERT_TRUE(channel_comes_up());
    const Wire wire(SOCK_DGRAM, port);
    const auto bad = [&](const Bytes& bytes, Count why) {
        wire.send(bytes);
        ++expected[why];
    };
    const auto probe = [&](const Head& head) { return frame(head, {}, session.key); };
    const std::uint32_t number = session.number;
    const Bytes good = probe({Kind::probe, 0, 1, number, 1});
    wire.send(good);
    EXPECT_EQ(wire.receive().size(), frame_overhead_bytes + 8);
    bad(good, Count::rejected_replayed);
    bad(Bytes(good.begin(), good.end() - 1), Count::rejected_truncated);
    bad(Bytes(3), Count::rejected_truncated);
    bad(Bytes(60), Count::rejected_junk);
    bad(Bytes(3000), Count::rejected_oversized);
    bad(frame({Kind::probe, 0, 1, number, 1000}, {}, Key{}), Count::rejected_forged);  // later ones are no repetition
    bad(frame({Kind::probe, 0, 1, number, 2}, {}, sessions.channel.key), Count::rejected_forged);
    bad(probe({Kind::probe, 1, 1, number, 2}), Count::rejected_from_self);
    bad(probe({Kind::probe, 0, 2, number, 2}), Count::rejected_wrong_receiver);
    bad(probe({Kind::probe, 7, 1, number, 2}), Count::rejected_unknown_sender);
    bad(probe({Kind::probe, 0, 1, number + 1, 2}), Count::rejected_wrong_session);
    bad(probe({Kind::probe, 2, 1, number, 2}), Count::rejected_wrong_session);
    bad(frame({Kind::probe, 2, 1, 0, 2}, {}, Key{}), Count::rejected_wrong_session);  // as before any is agreed
    bad(probe({Kind::rounds, 0, 1, number, 2}), Count::rejected_unexpected);
    wire.send(probe({Kind::probe, 0, 1, number, 3}));
    EXPECT_EQ(wire.receive().size(), frame_overhead_bytes + 8);
    expect_counts();
}

// The test plays host 2, to which host 1 connects. Fails if a welcome need not answer this hello.
TEST_F(BadFrames, AWelcomeThatAnswersAnotherHello) {
    const Endpoint higher = *Endpoint::open();
    Endpoint endpoint = *Endpoint::open();
    Contact nowhere;
    Job job{1, {nowhere, endpoint.contact(), higher.contact()}, key, job_id + 1, test::fast_options()};
    agent = std::make_unique<Thread>(std::move(endpoint), std::move(job));
    pollfd waiting{higher.tcp(), POLLIN, 0};
    ASSERT_EQ(poll(&waiting, 1, 60'000), 1);
    const Wire wire{File(accept(higher.tcp(), nullptr, nullptr))};
    EXPECT_EQ(wire.receive().size(), frame_overhead_bytes + 16);
    wire.send(frame({Kind::welcome, 2, 1, 0, 1}, numbers({job_id + 1, 9, 9}), key));
    EXPECT_TRUE(wire.receive().empty());
    ++expected[Count::rejected_replayed];
    expect_counts();
}

}  // namespace
}  // namespace mutirao::agent
