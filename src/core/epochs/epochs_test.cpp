// Ranks in memory that enter their calls in any order and at any pace, with words that overtake
// each other: whatever happens, every rank must use the same network in the same call.
#include "core/epochs/epochs.h"

#include <gtest/gtest.h>

#include <random>

#include "core/network/test_networks.h"

namespace mutirao {
namespace {

Topology topology_of(Network network) {
    Topology topology;
    topology.network = std::move(network);
    topology.site_of = discover_sites(topology.network);
    return topology;
}

Topology worse_somewhere(Topology topology, std::mt19937& random) {
    const int hosts = topology.network.host_count();
    const int a = static_cast<int>(random() % static_cast<unsigned>(hosts));
    const int b = (a + 1 + static_cast<int>(random() % static_cast<unsigned>(hosts - 1))) % hosts;
    topology.network.set_both(a, b, {.latency_us = static_cast<double>(random() % 100'000)});
    if (random() % 2 == 0) {
        topology.spanning_tree = test::random_spanning_edges(random, hosts);
        for (auto& [low, high] : topology.spanning_tree) {
            if (low > high) std::swap(low, high);
        }
    }
    topology.site_of = discover_sites(topology.network);
    return topology;
}

// One communicator of so many hosts with a rank each; host 0 decides and its words go straight to
// the others.
class Walk {
  public:
    Walk(unsigned seed, int hosts, std::uint64_t calls) : random_(seed), calls_(calls) {
        Network network = test::random_network(seed, hosts);
        for (int low = 0; low < hosts; ++low) {
            for (int high = low + 1; high < hosts; ++high) {
                network.set_both(low, high, network.link(low, high));
            }
        }
        newest_ = topology_of(network);
        for (int host = 0; host < hosts; ++host) ranks_.push_back({{}, newest_, 0, {}});
    }

    void run() {
        while (step()) {
        }
    }

    bool all_done() const {
        for (const Rank& rank : ranks_) {
            if (rank.entered.size() < calls_ || !rank.follower.knows_all_told()) return false;
        }
        return true;
    }
    const std::vector<Topology>& entered(int rank) const {
        return ranks_[static_cast<std::size_t>(rank)].entered;
    }
    std::uint32_t most_epochs_ahead() const { return most_ahead_; }
    std::size_t epochs() const { return ranks_[0].follower.number(); }
    long waits() const { return waits_; }

  private:
    struct Rank {
        EpochFollower follower;
        Topology topology;
        std::uint64_t next_call;
        std::vector<Topology> entered;  ///< what it used, by call
    };
    struct Word {
        std::size_t to;
        std::vector<std::byte> bytes;
    };

    bool step() {
        const std::size_t choices = words_.size() + ranks_.size();
        const std::size_t first = random_() % choices;
        for (std::size_t i = 0; i < choices; ++i) {
            const std::size_t choice = (first + i) % choices;
            if (choice < words_.size()) {
                deliver(choice);
                return true;
            }
            if (enter(choice - words_.size())) return true;
        }
        return false;
    }

    void deliver(std::size_t index) {
        const Word word = words_[index];
        words_.erase(words_.begin() + static_cast<std::ptrdiff_t>(index));
        const auto epoch = decode_epoch(word.bytes, newest_.network.host_count());
        ASSERT_TRUE(epoch);
        ranks_[word.to].follower.hear(*epoch);
    }

    bool enter(std::size_t index) {
        Rank& rank = ranks_[index];
        if (rank.next_call == calls_) return false;
        now_us_ += static_cast<double>(random_() % 200'000);
        if (index == 0) decide(rank);
        if (!rank.follower.within(rank.next_call)) {
            const auto epoch = rank.follower.advance();
            if (!epoch) {
                ++waits_;
                return false;
            }
            apply(epoch->change, rank.topology);
        }
        most_ahead_ = std::max(most_ahead_, rank.follower.number() -
                                                std::min(rank.follower.number(),
                                                         ranks_[0].follower.number()));
        rank.entered.push_back(rank.topology);
        ++rank.next_call;
        return true;
    }

    void decide(Rank& rank) {
        if (random_() % 3 == 0) newest_ = worse_somewhere(newest_, random_);
        if (!decider_.due(rank.next_call)) return;
        auto epoch = decider_.enter(rank.next_call, now_us_, 300'000);
        if (!epoch) return;
        const Topology base = told_.value_or(rank.topology);
        epoch->change = difference(base, newest_);
        told_ = base;
        apply(epoch->change, *told_);
        epoch->parent_of_host.assign(ranks_.size(), 0);
        epoch->parent_of_host[0] = -1;
        for (std::size_t to = 1; to < ranks_.size(); ++to) words_.push_back({to, encode(*epoch)});
        rank.follower.hear(std::move(*epoch));
    }

    std::mt19937 random_;
    std::uint64_t calls_;
    Topology newest_;
    std::optional<Topology> told_;
    EpochDecider decider_;
    std::vector<Rank> ranks_;
    std::vector<Word> words_;
    double now_us_ = 0;
    std::uint32_t most_ahead_ = 0;
    long waits_ = 0;
};

bool same(const Topology& a, const Topology& b) {
    return a.network == b.network && a.spanning_tree == b.spanning_tree && a.site_of == b.site_of;
}

TEST(Epochs, everyRankUsesTheSameNetworkInTheSameCall) {
    long waits = 0;
    std::size_t epochs = 0;
    for (unsigned seed = 1; seed <= 200; ++seed) {
        const int hosts = 2 + static_cast<int>(seed % 5);
        Walk walk(seed, hosts, 60);
        walk.run();
        ASSERT_TRUE(walk.all_done()) << "seed " << seed;
        for (int rank = 1; rank < hosts; ++rank) {
            for (std::size_t call = 0; call < 60; ++call) {
                ASSERT_TRUE(same(walk.entered(rank)[call], walk.entered(0)[call]))
                    << "seed " << seed << ", rank " << rank << ", call " << call;
            }
        }
        EXPECT_LE(walk.most_epochs_ahead(), 2u) << "seed " << seed;
        waits += walk.waits();
        epochs += walk.epochs();
    }
    EXPECT_GT(waits, 0) << "the walks never met an epoch whose words were not there yet";
    EXPECT_GT(epochs, 1000u);
}

// Plays a program whose calls take as long as told, and returns where the epochs began.
std::vector<std::uint64_t> begins(double us_per_call, std::uint64_t calls, double travel_us) {
    EpochDecider decider;
    std::vector<std::uint64_t> result;
    for (std::uint64_t call = 0; call < calls; ++call) {
        if (!decider.due(call)) continue;
        const double now_us = us_per_call * static_cast<double>(call);
        if (const auto epoch = decider.enter(call, now_us, travel_us)) {
            result.push_back(epoch->first_call);
        }
    }
    return result;
}

TEST(EpochDecider, makesEpochsAsLongAsItsWordsTravel) {
    const auto slow = begins(500'000, 40, 360'000);
    EXPECT_EQ(slow.back() - slow[slow.size() - 2], 1u) << "0.43 s of calls of half a second";
    const auto fast = begins(10, 400'000, 360'000);
    EXPECT_EQ(fast.back() - fast[fast.size() - 2], 43'200u);
    EXPECT_LE(fast.size(), 26u) << "and it gets there by doubling";
    const auto faster = begins(0.5, 1'000'000, 360'000);
    EXPECT_EQ(faster.back() - faster[faster.size() - 2], 100'000u) << "no longer than that";
}

// A receiver comes back from its first call at once and then waits inside the second.
TEST(EpochDecider, isNotMisledByAQuickBeginning) {
    EpochDecider decider;
    std::uint64_t longest = 0;
    for (std::uint64_t call = 0; call < 20; ++call) {
        const double now_us = call == 0 ? 0 : 20'000 + 500'000 * static_cast<double>(call - 1);
        if (!decider.due(call)) continue;
        if (const auto epoch = decider.enter(call, now_us, 360'000)) {
            longest = std::max(longest, epoch->next_first_call - epoch->first_call);
        }
    }
    EXPECT_LE(longest, 2u);
}

TEST(EpochDecider, takesTheFirstCallOfAnEpochForWaitingNotForThePace) {
    EpochDecider decider;
    double now_us = 0;
    std::uint64_t begin = 0;
    std::uint64_t length = 0;
    for (std::uint64_t call = 0; call < 5000; ++call) {
        if (decider.due(call)) {
            if (const auto epoch = decider.enter(call, now_us, 500'000)) {
                length = epoch->next_first_call - epoch->first_call;
                begin = call;
            }
        }
        now_us += call == begin ? 360'000 : 1'000;  // the others wait for the words
    }
    EXPECT_EQ(length, 600u) << "0.6 s of calls of a millisecond";
}

// 50 hosts have 1225 links: what does not fit into one message is still there for the next.
TEST(NetworkChange, leavesForLaterWhatDoesNotFit) {
    constexpr int hosts = 50;
    Topology agreed = topology_of(Network(hosts));
    Topology newest = agreed;
    for (int low = 0; low < hosts; ++low) {
        for (int high = low + 1; high < hosts; ++high) {
            newest.network.set_both(low, high, {.latency_us = 1.0 + low + high});
        }
    }
    const NetworkChange first = difference(agreed, newest);
    EXPECT_EQ(first.links.size(), most_changed_links);
    EXPECT_EQ(decode_change(encode(first), hosts), first);
    apply(first, agreed);
    apply(difference(agreed, newest), agreed);
    EXPECT_TRUE(difference(agreed, newest).empty());
    EXPECT_TRUE(agreed.network == newest.network);
}

TEST(EpochWire, refusesWhatIsCutOffOrTooLong) {
    Epoch epoch{3, 10, 20, {}, {-1, 0, 0}};
    epoch.change.links = {{0, 2, 5.5}, {1, 2, std::numeric_limits<double>::infinity()}};
    epoch.change.spanning_tree = EdgeList{{0, 1}, {1, 2}};
    const std::vector<std::byte> bytes = encode(epoch);
    EXPECT_EQ(decode_epoch(bytes, 3), epoch);
    for (std::size_t length = 0; length < bytes.size(); ++length) {
        EXPECT_FALSE(decode_epoch(std::span(bytes).first(length), 3)) << length;
    }
    std::vector<std::byte> longer = bytes;
    longer.push_back(std::byte{0});
    EXPECT_FALSE(decode_epoch(longer, 3));
    EXPECT_FALSE(decode_epoch(bytes, 4)) << "of another communicator";
}

}  // namespace
}  // namespace mutirao
