// Ranks in memory that enter their calls in any order and at any pace, with announcements that overtake
// each other: whatever happens, every rank must run the same call by the same ruling.
#include "core/epochs/epochs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <random>
#include <string>
#include <utility>

#include "core/network/test_networks.h"

namespace mutirao {
namespace {

constexpr std::uint64_t free_calls = 4;

Ruling ruling_of(int number) {
    const char* const names[] = {"flat", "binomial", "chain", "native"};
    Ruling ruling;
    ruling.shapes = {Collective::broadcast, 0, 5};
    ruling.arm.candidate = *parse_candidate(Collective::broadcast, names[number % 4]).candidate;
    return ruling;
}

// One communicator; rank 0 decides, and its announcements go straight to the others.
class Walk {
  public:
    Walk(unsigned seed, int ranks, std::uint64_t calls)
        : random_(seed), calls_(calls), ranks_(static_cast<std::size_t>(ranks)) {}

    /// `may_enter(rank, call)`: whether the program lets a rank go on, beside the announcements.
    template <typename MayEnter>
    void run(MayEnter may_enter) {
        while (step(may_enter)) {
        }
    }

    bool all_done() const {
        return std::ranges::all_of(ranks_, [this](const Rank& rank) { return rank.used.size() == calls_; });
    }
    const std::vector<std::string>& used(int rank) const {
        return ranks_[static_cast<std::size_t>(rank)].used;
    }
    std::uint64_t next_call(int rank) const { return used(rank).size(); }
    bool waiting(int rank) const { return ranks_[static_cast<std::size_t>(rank)].waiting; }
    /// How often some rank waited at a call from `first` to before `end`.
    long waits(std::uint64_t first, std::uint64_t end) const {
        return std::count_if(waited_at_.begin(), waited_at_.end(), [&](std::uint64_t call) {
            return call >= first && call < end;
        });
    }
    std::size_t rulings() const { return rulings_; }
    double call_us = 400'000;  ///< how long each entry takes, on the decider's clock

  private:
    struct Rank {
        EpochFollower follower{0, free_calls};
        std::string ruling = "none";
        std::vector<std::string> used;  ///< by call
        bool waiting = false;
    };
    struct Message {
        std::size_t to;
        std::vector<std::byte> bytes;
    };

    template <typename MayEnter>
    bool step(MayEnter may_enter) {
        const std::size_t choices = messages_.size() + ranks_.size();
        const std::size_t first = random_() % choices;
        for (std::size_t i = 0; i < choices; ++i) {
            const std::size_t choice = (first + i) % choices;
            if (choice < messages_.size()) {
                deliver(choice);
                return true;
            }
            const std::size_t rank = choice - messages_.size();
            const bool may = ranks_[rank].used.size() < calls_ &&
                             may_enter(*this, static_cast<int>(rank));
            if (may && enter(rank)) return true;
        }
        return false;
    }

    void deliver(std::size_t index) {
        const Message message = messages_[index];
        messages_.erase(messages_.begin() + static_cast<std::ptrdiff_t>(index));
        const auto heard =
            decode_announcement(message.bytes, static_cast<int>(ranks_.size()), 0);
        ASSERT_TRUE(heard);
        Rank& rank = ranks_[message.to];
        const std::uint64_t lead =
            rank.used.size() - std::min<std::uint64_t>(rank.used.size(), heard->sent_in_call);
        const bool late = rank.waiting && heard->first_call <= rank.used.size();
        if (EpochFollower::worth_reporting(*heard, lead) || late) {
            const auto report = decode_report(encode(LeadReport{heard->number, lead, late}), 1);
            ASSERT_TRUE(report);
            decider_.hear(std::get<LeadReport>(*report));
        }
        rank.follower.hear(*heard);
    }

    bool enter(std::size_t index) {
        Rank& rank = ranks_[index];
        const std::uint64_t call = rank.used.size();
        if (index == 0) decide(call);
        while (!rank.follower.within(call)) {
            const auto epoch = rank.follower.advance();
            if (!epoch) {
                if (std::exchange(rank.waiting, true)) return false;
                waited_at_.push_back(call);
                return true;
            }
            for (const Ruling& each : epoch->rulings) rank.ruling = to_string(each.arm.candidate);
        }
        rank.waiting = false;
        rank.used.push_back(rank.ruling);
        return true;
    }

    void decide(std::uint64_t call) {
        now_us_ += call_us;
        while (decider_.due(call)) {
            Announcement made = decider_.enter(call, now_us_);
            if (random_() % 2 == 0) {
                made.rulings.push_back(ruling_of(static_cast<int>(random_() % 4)));
                ++rulings_;
            }
            for (std::size_t to = 1; to < ranks_.size(); ++to) {
                messages_.push_back({to, encode(made)});
            }
            ranks_[0].follower.hear(made);
        }
    }

    std::mt19937 random_;
    std::uint64_t calls_;
    std::vector<Rank> ranks_;
    std::vector<Message> messages_;
    EpochDecider decider_{0, free_calls};
    double now_us_ = 0;
    std::vector<std::uint64_t> waited_at_;
    std::size_t rulings_ = 0;
};

constexpr auto always = [](const Walk&, int) { return true; };

TEST(Epochs, AllRanksRunEveryCallByTheSameRuling) {
    std::size_t rulings = 0;
    for (unsigned seed = 0; seed < 200; ++seed) {
        Walk walk(seed, 2 + static_cast<int>(seed % 5), 400);
        walk.call_us = seed % 3 == 0 ? 400'000 : 3'000;
        walk.run(always);
        ASSERT_TRUE(walk.all_done()) << "seed " << seed;
        for (int rank = 1; rank < 2 + static_cast<int>(seed % 5); ++rank) {
            ASSERT_EQ(walk.used(rank), walk.used(0)) << "seed " << seed << ", rank " << rank;
        }
        rulings += walk.rulings();
    }
    EXPECT_GT(rulings, 2000U);
}

/// A decider that enters calls, each so long, and tells of each announcement.
struct Entering {
    EpochDecider decider{0, free_calls};
    std::uint64_t call = 0;

    void go_on(std::uint64_t calls, double call_us, const std::function<void(const Announcement&)>& hear) {
        for (const std::uint64_t end = call + calls; call < end; ++call)
            while (decider.due(call)) hear(decider.enter(call, call_us * static_cast<double>(call)));
    }
    /// Whose ranks are so far ahead.
    void go_on(std::uint64_t calls, double call_us, std::uint64_t lead) {
        go_on(calls, call_us, [&](const Announcement& made) {
            if (EpochFollower::worth_reporting(made, lead)) decider.hear({made.number, lead, false});
        });
    }
};

TEST(Epochs, FirstCallsNeedNoAnnouncement) {
    EpochFollower follower(10, free_calls);
    EXPECT_TRUE(follower.within(10 + free_calls - 1));
    EXPECT_FALSE(follower.within(10 + free_calls));
    EXPECT_FALSE(follower.advance());
}

// Where MPI_Init waits one call is free, and from then on what is known in a call holds in the next.
TEST(Epochs, FewFreeCallsMakeAShortFirstHorizon) {
    EpochDecider decider(0, 1);
    for (std::uint64_t call = 0; call < 8; ++call) {
        ASSERT_TRUE(decider.due(call));
        EXPECT_EQ(decider.enter(call, 350e3 * static_cast<double>(call)).first_call, call + 1);
        EXPECT_FALSE(decider.due(call));
    }
    EXPECT_EQ(EpochDecider(0, 8).horizon_calls(), 4U);
}

// Of the time between two epochs, in calls of a millisecond.
TEST(Epochs, AreFewerOnOneHostOnceNothingIsOnTrial) {
    const auto epochs_of_1000_calls = [](Pace pace) {
        Entering entering;
        entering.decider.keep(pace);
        int epochs = 0;
        entering.go_on(2000, 1e3, [&](const Announcement&) { epochs += entering.call >= 1000; });
        return epochs;
    };
    EXPECT_NEAR(epochs_of_1000_calls(pace_on_one_host), 100, 2);
    EXPECT_NEAR(epochs_of_1000_calls(quiet_pace_on_one_host), 10, 1);
}

TEST(Epochs, CallsThatCatchUpSayNothingOfThePace) {
    constexpr double pace_us = 333'000;
    constexpr std::uint64_t behind = 16;
    EpochDecider decider(100, free_calls, pace_us);
    double now_us = 0;
    std::uint64_t end = 0;
    for (std::uint64_t call = 100; call < 100 + behind; ++call, now_us += 10) {
        while (decider.due(call)) end = decider.enter(call, now_us).next_first_call;
    }
    EXPECT_LT(end, 100 + behind + 20) << "in the loop's last epoch nothing can be changed";
}

// Rank 0 lags behind by up to so many calls, and nobody waits for it once that is known.
TEST(Epochs, HorizonCoversHowFarRanksRunAhead) {
    constexpr std::uint64_t ahead = 100;
    constexpr std::uint64_t end = 25000;
    Walk walk(1, 3, end);
    walk.call_us = 1000;
    walk.run([=](const Walk& now, int rank) {
        const std::uint64_t decider = now.next_call(0);
        const std::uint64_t other = now.next_call(1);
        if (rank == 0) return other >= std::min(decider + ahead, end) || now.waiting(1);
        return now.next_call(rank) < decider + ahead;
    });
    ASSERT_TRUE(walk.all_done());
    EXPECT_GT(walk.waits(0, 5000), 0);  // at first nobody knows
    EXPECT_EQ(walk.waits(5000, end), 0);
}

TEST(Epochs, HorizonFallsAgainWhenNobodyIsAhead) {
    Entering entering;
    entering.go_on(50, 1e6, 40);
    EXPECT_GE(entering.decider.horizon_calls(), 40U);
    entering.go_on(200, 1e6, 1);
    EXPECT_EQ(entering.decider.horizon_calls(), 1U);
}

// Where every call waits for the decider anyway, news hold in the call that it enters. Seen to fail with
// a horizon of at least one call, and with epochs of several calls announced at once.
TEST(Epochs, WhereNobodyIsAheadAnnouncementsHoldAtOnce) {
    Entering entering, quick;
    entering.go_on(40, 1e6, 0);
    EXPECT_EQ(entering.decider.horizon_calls(), 0U);
    Announcement last;
    entering.go_on(1, 1e6, [&](const Announcement& made) { last = made; });
    EXPECT_EQ(last.first_call, entering.call - 1);  // of the call in which it was made
    entering.go_on(2, 1e6, 1);
    EXPECT_EQ(entering.decider.horizon_calls(), 1U);
    quick.go_on(4000, 1e3, 0);
    EXPECT_GE(quick.decider.horizon_calls(), 1U);
}

TEST(Route, GoesThroughAnotherHostOnlyWhereThatIsMuchQuicker) {
    Network network(3);
    network.set_both(0, 1, {.latency_us = 10'000});
    network.set_both(1, 2, {.latency_us = 10'000});
    network.set_both(0, 2, {.latency_us = 90'000});
    EXPECT_EQ(quickest_route(network, 0).parent_of_host, (std::vector<int>{-1, 0, 0}));
    network.set_both(0, 2, {.latency_us = 900'000});
    EXPECT_EQ(quickest_route(network, 0).parent_of_host, (std::vector<int>{-1, 0, 1}));
}

TEST(Epochs, WhoWaitedIsAnnouncedToEarlierForAWhile) {
    Entering entering;
    entering.go_on(40, 1e6, [&](const Announcement& made) {
        entering.decider.hear({made.number, 1, made.horizon_calls == 1});
    });
    EXPECT_EQ(entering.decider.horizon_calls(), 2U);
    entering.go_on(100, 1e6, [&](const Announcement& made) { entering.decider.hear({made.number, 1, false}); });
    EXPECT_EQ(entering.decider.horizon_calls(), 1U);
}

/// Of five ranks on three hosts.
Announcement with_everything() {
    Announcement made;
    made.number = 7;
    made.first_call = 12;
    made.next_first_call = 13;
    made.sent_in_call = 11;
    made.horizon_calls = 1;
    made.asks_for_lead = true;
    made.rulings = {ruling_of(1), ruling_of(3)};
    made.rulings[0].arm = {*parse_candidate(Collective::broadcast, "tree:kind=mst,segment_bytes=4096").candidate,
                           Tree{.root = 2, .parent = {2, 2, -1}, .children = {{}, {}, {1, 0}}}};
    made.rulings[1].id = 70'000;
    made.rulings[1].clocking = {25, 8, 8, 4};
    made.rulings[1].probe = made.rulings[0].arm;
    made.route = {Route::Kind::hosts, {-1, 0, 0}};
    return made;
}

TEST(Announcement, SurvivesItsBytes) {
    const Announcement made = with_everything();
    EXPECT_EQ(decode_announcement(encode(made), 5, 3), made);
    EXPECT_FALSE(decode_announcement(encode(made), 5, 4));  // of another communicator
}

// Whatever bits are flipped on its way.
TEST(Announcement, IsNoneOrOneThatSurvivesItsBytes) {
    std::mt19937 random(7);
    int accepted = 0;
    for (int round = 0; round < 20'000; ++round) {
        std::vector<std::byte> bytes = encode(with_everything());
        for (std::uint32_t flips = random() % 4; flips > 0; --flips)
            bytes[random() % bytes.size()] ^= static_cast<std::byte>(1U << random() % 8);
        const auto decoded = decode_announcement(bytes, 5, 3);
        if (!decoded) continue;
        ++accepted;
        EXPECT_EQ(decode_announcement(encode(*decoded), 5, 3), decoded);
    }
    EXPECT_GT(accepted, 5'000);
}

Announcement with_ruling(Ruling ruling) {
    Announcement made;
    made.next_first_call = 1;
    made.rulings = {std::move(ruling)};
    return made;
}

/// Of six ranks on as many hosts.
Announcement with_tree(std::string_view candidate, Tree tree, Collective collective = Collective::broadcast) {
    Ruling ruling = ruling_of(4);
    ruling.shapes.collective = collective;
    ruling.arm = {*parse_candidate(collective, candidate).candidate, std::move(tree)};
    return with_ruling(std::move(ruling));
}

bool survives(const Announcement& made) { return decode_announcement(encode(made), 6, 6) == made; }
bool is_refused(const Announcement& made) { return !decode_announcement(encode(made), 6, 6); }

TEST(Announcement, KeepsPackedTreesAndRefusesWhatIsNone) {
    Network network = test::network_of(6, [](int a, int b) { return Link{.latency_us = 10.0 * (1 + (a * b) % 5)}; });
    network.transport.initial_window_bytes = 1000;
    const Tree packed = *packed_trees(network, 4, 4000);
    ASSERT_GT(packed.shares.size(), 2U);
    EXPECT_TRUE(survives(with_tree("packed_trees", packed)));
    EXPECT_EQ(decode_announcement(encode(with_tree("packed_trees", packed)), 6, 3), with_tree("packed_trees", packed))
        << "of six ranks on three hosts";
    EXPECT_FALSE(decode_announcement(encode(with_tree("tree:kind=mst", packed.shares.front())), 6, 3));
    for (const auto& [parent, why] : {std::pair{std::vector{1, 0, 4, 4, -1, 4}, "a circle"},
                                      {{4, 4, 4, 6, -1, 4}, "no such host"}, {{4, 4, 4, -1, 0, 4}, "another root"}}) {
        Tree wrong = packed;
        wrong.shares[1].parent = parent;
        EXPECT_TRUE(is_refused(with_tree("packed_trees", wrong))) << why;
    }
}

// What goes by sites would not know where to.
TEST(Announcement, KeepsTheSitesOfATwoLevelTreeAndOfNoOther) {
    const Tree sites = two_level_tree({0, 1, 1, 0, 2, 2}, 4);
    EXPECT_TRUE(survives(with_tree("groups:spread=4", sites)));
    EXPECT_TRUE(is_refused(with_tree("tree:kind=mst", sites)));
    for (const std::size_t labels : {5, 0}) {
        Tree fewer = sites;
        fewer.site_of.resize(labels);
        EXPECT_TRUE(is_refused(with_tree("groups:spread=4", fewer))) << labels;
    }
}

// What nobody owns would be lost.
TEST(Announcement, KeepsWhatSitesOwnIfTheyOwnAll) {
    Tree tree = two_level_tree({0, 1, 1, 0, 2, 2}, 4);
    const std::string uneven = "groups_twice:kind=two_level_uneven", equal = "groups_twice:kind=two_level";
    const auto announced = [&](const std::string& text) { return with_tree(text, tree, Collective::allreduce); };
    EXPECT_TRUE(survives(announced(uneven)));
    tree.owned = {100, 0, 28};
    EXPECT_TRUE(survives(announced(uneven)));
    EXPECT_TRUE(is_refused(announced(equal)));
    for (const std::vector<int>& wrong : {std::vector{100, 0, 27}, {100, 28}, {100, 0, 14, 14}}) {
        tree.owned = wrong;
        EXPECT_TRUE(is_refused(announced(uneven))) << wrong.back();
    }
}

TEST(Report, SurvivesItsBytes) {
    const ShapeClass shapes{Collective::broadcast, 3, 5};
    const TimeReport clocked{shapes, 70'000, 30, {{350'600.5, 0}, {1e-3, 474'000}}};
    const auto decoded = decode_report(encode(clocked), 4);
    ASSERT_TRUE(decoded);
    EXPECT_EQ(std::get<TimeReport>(*decoded), clocked);
    EXPECT_FALSE(decode_report(encode(clocked), 3));  // no such root
}

// No more is clocked than what anybody keeps room for.
TEST(Announcement, OfAnEndlessProbeIsNone) {
    for (const Clocking& endless : {Clocking{1, 0, 65, 0}, Clocking{5000, 0, 1, 0}, Clocking{0, 1, 0, 0}}) {
        Ruling ruling = ruling_of(0);
        ruling.clocking = endless;
        if (endless.probe > 0) ruling.probe = ruling.arm;
        EXPECT_FALSE(decode_announcement(encode(with_ruling(ruling)), 2, 1));
    }
}

TEST(Announcement, OfWrongBytesIsNone) {
    Announcement made = with_ruling(ruling_of(0));
    std::vector<std::byte> bytes = encode(made);
    ASSERT_TRUE(decode_announcement(bytes, 2, 1));
    for (std::size_t length = 0; length < bytes.size(); ++length) {
        EXPECT_FALSE(decode_announcement(std::span(bytes).first(length), 2, 1)) << length;
    }
    bytes.push_back(std::byte{0});
    EXPECT_FALSE(decode_announcement(bytes, 2, 1));
    made.next_first_call = 0;
    EXPECT_FALSE(decode_announcement(encode(made), 2, 1));
}

}  // namespace
}  // namespace mutirao
