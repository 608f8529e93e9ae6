#include "agent/rendezvous.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <ranges>
#include <thread>

#include "agent/system.h"

namespace mutirao::agent {
namespace {

constexpr std::uint32_t ranks = 5;
constexpr std::uint64_t another_host = 2;

Said words_of(std::uint32_t rank) {
    Said said{};
    said.front() = said.back() = std::byte(rank + 1);
    return said;
}

bool is_of_all(const std::optional<std::vector<Said>>& told, std::uint32_t count) {
    return told && std::ranges::equal(*told, std::views::iota(0U, count), {}, {}, words_of);
}

/// Ranks 0 to before `count`, each in a thread of its own.
void at_once(std::uint32_t count, const std::function<void(std::uint32_t rank)>& act) {
    std::vector<std::thread> threads;
    for (std::uint32_t rank = 0; rank < count; ++rank) threads.emplace_back(act, rank);
    for (std::thread& each : threads) each.join();
}

/// Serves in a thread until it is left.
class Held : public testing::Test {
  protected:
    Held() {
        EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()), 0);
        served = std::thread([this] { rendezvous->serve(ends[0]); });
    }
    ~Held() override {
        close(ends[1]);
        served.join();
        close(ends[0]);
    }
    std::optional<std::vector<Said>> come(std::uint32_t rank, std::int64_t patience_ns = 60 * ns_per_s) const {
        return meet(invited, {rank, ranks, rank % 2}, words_of(rank), now_ns() + patience_ns);
    }
    /// All that are not in `absent`, at once; how many were told all.
    int all_come(std::vector<std::uint32_t> absent, std::int64_t patience_ns) {
        std::atomic<int> told{0};
        at_once(ranks, [&](std::uint32_t rank) {
            if (std::ranges::count(absent, rank) == 0) told += is_of_all(come(rank, patience_ns), ranks);
        });
        return told;
    }

    std::optional<Rendezvous> rendezvous = Rendezvous::open();
    const Invitation invited = *Invitation::from(rendezvous->invitation().text());
    std::array<int, 2> ends{};
    std::thread served;
};

TEST_F(Held, AllTakeWhatAllHaveSaid) { EXPECT_EQ(all_come({}, 60 * ns_per_s), ranks); }

TEST_F(Held, WithoutOneNobodyIsToldAndWhoGaveUpMayComeAgain) {
    EXPECT_EQ(all_come({2}, 200 * ns_per_ms), 0);
    EXPECT_EQ(all_come({}, 60 * ns_per_s), ranks);
}

TEST_F(Held, WhoHasNoKeyIsSentAway) {
    Invitation forged = invited;
    forged.key.bytes.front() ^= std::byte{1};
    EXPECT_FALSE(meet(forged, {0, ranks, 0}, words_of(3), now_ns() + 60 * ns_per_s));
    EXPECT_EQ(all_come({}, 60 * ns_per_s), ranks);
}

TEST_F(Held, ManyRanksOfAFewHostsAreTold) {
    constexpr std::uint32_t many = 300;
    std::atomic<std::uint32_t> told{0};
    at_once(many, [&](std::uint32_t rank) {
        told += is_of_all(meet(invited, {rank, many, rank % 3}, words_of(rank), now_ns() + 60 * ns_per_s), many);
    });
    EXPECT_EQ(told, many);
}

TEST_F(Held, ASecondOfARankAndRanksOfAnotherJobAreSentAway) {
    std::thread first([&] { EXPECT_TRUE(come(0)); });
    const auto sent_away = [&](std::uint32_t rank, std::uint32_t of) {
        const std::int64_t until_ns = now_ns() + 10 * ns_per_s;
        return !meet(invited, {rank, of, another_host}, words_of(rank), until_ns) && now_ns() < until_ns;
    };
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    EXPECT_TRUE(sent_away(0, ranks));
    EXPECT_TRUE(sent_away(1, ranks + 1));
    EXPECT_TRUE(sent_away(ranks, ranks));
    EXPECT_TRUE(sent_away(0, Rendezvous::most_ranks + 1));
    EXPECT_EQ(all_come({0}, 60 * ns_per_s), ranks - 1);
    first.join();
}

/// Where another thing than a rendezvous is: what it does with the first connection that comes, until it is left.
class Elsewhere {
  public:
    explicit Elsewhere(std::function<void(int socket)> act)
        : thread_([this, act = std::move(act)] {
              for (;;) {
                  if (const File taken(accept(place_.tcp(), nullptr, nullptr)); taken) return act(taken.number());
              }
          }) {}
    ~Elsewhere() { thread_.join(); }

    Invitation invitation() const { return {place_.contact(), key_}; }

  private:
    Endpoint place_ = *Endpoint::open();
    Key key_ = *random_key();
    std::thread thread_;
};

TEST(Meeting, AnImpostorWithoutTheKeyIsNotBelieved) {
    // It takes what is said, and answers with as many zeros.
    const Elsewhere other([](int socket) {
        std::vector<std::byte> bytes(ranks * sizeof(Said) + sizeof(Mac));
        send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
        while (recv(socket, bytes.data(), bytes.size(), 0) > 0) {
        }
    });
    EXPECT_FALSE(meet(other.invitation(), {0, ranks, 0}, words_of(0), now_ns() + 60 * ns_per_s));
}

TEST(Meeting, RanksOfAHostShareAConnection) {
    constexpr std::size_t arrival_bytes = sizeof(Key) + 2 * sizeof(std::uint32_t) + sizeof(Said) + sizeof(Mac);
    std::atomic<ssize_t> count{0};
    const Elsewhere other([&](int socket) {
        std::array<std::byte, ranks * arrival_bytes> bytes;
        count = recv(socket, bytes.data(), bytes.size(), MSG_WAITALL);
    });
    at_once(ranks, [&](std::uint32_t rank) {
        EXPECT_FALSE(meet(other.invitation(), {rank, ranks, 0}, words_of(rank), now_ns() + 10 * ns_per_s));
    });
    EXPECT_EQ(count, ranks * arrival_bytes);
}

TEST(RendezvousInvitation, ItsTextIsReadBackAndNothingElse) {
    const Invitation made{{{1, 2}, 2, 3, 4, 0}, *random_key()};
    const auto read = Invitation::from(made.text());
    ASSERT_TRUE(read);
    EXPECT_TRUE(read->place == made.place && read->key == made.key);
    EXPECT_FALSE(Invitation::from(made.text() + "00"));
    EXPECT_FALSE(Invitation::from(made.text().substr(2)));
    EXPECT_FALSE(Invitation::from(""));
}

}  // namespace
}  // namespace mutirao::agent
