// What is measured beside latencies, as it travels and as it is shown; and who measures it.
#include "agent/facts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "agent/sensors/bandwidth.h"
#include "agent/sensors/host_sensors.h"
#include "agent/system.h"
#include "core/network/sites.h"
#include "core/network/test_networks.h"

namespace mutirao::agent {
namespace {

constexpr std::int64_t bandwidth_period = 600 * ns_per_s;

TEST(Facts, TheNewestCountsAndOnlyNewsArePassedOn) {
    Facts facts(4);
    const std::vector<Fact> first = {{0, 1, 5, 2.5, 0}, {2, 2, 7, 1, 2, 3}};
    EXPECT_EQ(facts.learn(first), first);
    EXPECT_TRUE(facts.learn(first).empty());
    EXPECT_TRUE(facts.learn(std::vector<Fact>{{0, 1, 4, 9, 0}}).empty());
    EXPECT_EQ(facts.changes(), 1U);
    EXPECT_EQ(facts.learn(std::vector<Fact>{{0, 1, 6, 9, 0}}).size(), 1U);
    EXPECT_EQ(facts.all(), (std::vector<Fact>{{0, 1, 6, 9, 0}, {2, 2, 7, 1, 2, 3}}));
}

// One host's clock is an hour ahead of the other's.
TEST(Facts, WhatIsMeasuredLaterCountsWhateverTheClocks) {
    Facts ahead(2), behind(2);
    const std::vector<Fact> earlier = {{0, 1, ahead.next_stamp(3600 * ns_per_s), 2.5, 0}};
    ahead.learn(earlier);
    behind.learn(earlier);
    const std::vector<Fact> later = {{0, 1, behind.next_stamp(1 * ns_per_s), 9, 0}};
    EXPECT_EQ(behind.learn(later), later);
    EXPECT_EQ(ahead.learn(later), later);
}

TEST(Facts, TravelAndAreOtherwiseRefused) {
    const std::vector<Fact> some = {{0, 1, 5, 2.5, 0}, {2, 2, 7, 1, 2, 3}};
    const std::vector<std::byte> bytes = encode(some);
    EXPECT_EQ(decode_facts(bytes, 3), some);
    EXPECT_FALSE(decode_facts(bytes, 2));
    EXPECT_FALSE(decode_facts(std::span(bytes).first(bytes.size() - 1), 3));
    for (const Fact& wrong : {Fact{1, 0, 1, 1, 1}, Fact{0, 1, 1, -1, 0},
                              Fact{0, 1, 1, std::numeric_limits<double>::infinity(), 0}})
        EXPECT_FALSE(decode_facts(encode({&wrong, 1}), 3));
}

// Hosts 0, 1 and 2, 3 are sites.
TEST(Facts, AMeasuredLinkStandsForAllBetweenItsSites) {
    Facts facts(4);
    facts.learn(std::vector<Fact>{{0, 2, 5, 2.5, 0}, {0, 1, 5, 100, 0}, {1, 1, 5, 10, 20, 30}});
    NetworkView view;
    facts.show({0, 0, 1, 1}, view);
    EXPECT_EQ(view.bandwidth_bytes_per_us, (std::vector<double>{0, 100, 2.5, 2.5, 100, 0, 2.5, 2.5,
                                                                2.5, 2.5, 0, 0, 2.5, 2.5, 0, 0}));
    EXPECT_EQ(view.host_speeds[1], (HostSpeed{10, 20, 30}));
    EXPECT_EQ(view.host_speeds[0], HostSpeed{});
}

Version six_sites() {
    rounds::LinkTable links(24);
    for (const Weight& each : links_of(mutirao::test::six_sites())) links.set(each.low, each.high, {0, 0, each.value});
    return {{}, std::move(links), {{0, 1}}, 1};
}
const std::vector<int> sites = discover_sites(mutirao::test::six_sites());

// Site pairs by brute force: each pair once, and in as many turns as there are sites.
TEST(BandwidthPlan, OnePairForEachTwoSitesAndOneInEachAtTheSameTime) {
    std::vector<std::pair<int, int>> pairs;
    std::map<std::int64_t, std::vector<int>> busy_at;
    for (int self = 0; self < 24; ++self) {
        BandwidthPlan plan(self, bandwidth_period);
        plan.follow(six_sites(), sites, 0);
        while (plan.next_ns() < bandwidth_period) {
            const std::int64_t now_ns = plan.next_ns();
            const int peer = *plan.due(now_ns);
            pairs.emplace_back(self, peer);
            busy_at[now_ns].insert(busy_at[now_ns].end(), {self, peer});
            plan.asked(peer, now_ns);
            EXPECT_GE(plan.next_ns(), now_ns + ns_per_s / 4);
            plan.ended({peer, 1}, now_ns);
        }
    }
    EXPECT_EQ(pairs.size(), 15U + 6U);
    EXPECT_TRUE(std::ranges::find(pairs, std::pair(0, 20)) != pairs.end());
    EXPECT_TRUE(std::ranges::find(pairs, std::pair(8, 9)) != pairs.end());
    for (const auto& [low, high] : pairs) EXPECT_TRUE(high % 4 == 0 || high == low + 1);
    EXPECT_EQ(busy_at.size(), 6U + 1U);
    for (auto& [now_ns, hosts] : busy_at) {
        std::ranges::sort(hosts);
        EXPECT_TRUE(std::ranges::adjacent_find(hosts) == hosts.end()) << now_ns;
    }
    EXPECT_LE(busy_at.rbegin()->first, 2 * ns_per_s);
}

TEST(BandwidthPlan, WhatFailsIsTriedMoreAndMoreRarelyAndAChangedLinkSoon) {
    BandwidthPlan plan(16, bandwidth_period);
    Version version = six_sites();
    plan.follow(version, sites, 0);
    std::int64_t now_ns = plan.next_ns();
    ASSERT_EQ(plan.due(now_ns), 20);
    plan.asked(20, now_ns);
    plan.ended({20, {}, true}, now_ns);
    EXPECT_EQ(plan.next_ns(), now_ns + ns_per_s / 4);
    EXPECT_EQ(plan.due(plan.next_ns()), 20);
    plan.ended({17, 1}, now_ns);
    now_ns = plan.next_ns();
    plan.ended({20, {}}, now_ns);
    EXPECT_EQ(plan.next_ns(), now_ns + 2 * ns_per_s);
    now_ns = plan.next_ns();
    plan.ended({20, {}}, now_ns);
    EXPECT_EQ(plan.next_ns(), now_ns + 4 * ns_per_s);
    plan.ended({20, 1}, now_ns);
    plan.follow(version, sites, now_ns);
    EXPECT_GT(plan.next_ns(), bandwidth_period);
    const rounds::LinkState before = version.links.at(16, 20);
    version.links.set(16, 20, {before.breaks, before.sequence, 3 * before.latency_us});
    plan.follow(version, sites, now_ns + 120 * ns_per_s);
    EXPECT_LT(plan.next_ns(), now_ns + 130 * ns_per_s);
    EXPECT_EQ(plan.due(plan.next_ns()), 20);
    // Back so soon that it would be twice in a minute.
    now_ns = plan.next_ns();
    plan.asked(20, now_ns);
    plan.ended({20, 1}, now_ns);
    version.links.set(16, 20, before);
    plan.follow(version, sites, now_ns);
    EXPECT_EQ(plan.next_ns(), now_ns + 60 * ns_per_s);
}

TEST(BandwidthPlan, NothingIsMeasuredUnlessAskedForOrBeforeThereIsATree) {
    BandwidthPlan never(0, 0), early(0, bandwidth_period);
    never.follow(six_sites(), sites, 0);
    EXPECT_EQ(never.next_ns(), never_ns);
    Version no_tree = six_sites();
    no_tree.tree.clear();
    early.follow(no_tree, sites, 0);
    EXPECT_EQ(early.next_ns(), never_ns);
}

// Between what a slow and what no machine does. The time is that of the thread: others may run meanwhile.
TEST(HostSpeed, IsMeasuredQuickly) {
    const std::int64_t begin_ns = read_clock_ns(CLOCK_THREAD_CPUTIME_ID);
    const HostSpeed speed = measure_host_speed();
    const std::int64_t spent_ns = read_clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin_ns;
    RecordProperty("spent_us", static_cast<int>(spent_ns / ns_per_us));
    EXPECT_LT(spent_ns, 50 * ns_per_ms);
    for (const double each : {speed.copy_bytes_per_us, speed.reduce_bytes_per_us}) {
        EXPECT_GT(each, 50);
        EXPECT_LT(each, 1'000'000);
    }
    // Faster than light crosses a processor, or slower than any two threads that both run.
    EXPECT_TRUE(speed.message_us == 0 || (speed.message_us > 0.002 && speed.message_us < 100));
    std::printf("copies %.0f, adds %.0f bytes/us, hands over in %.3f us, in %.2f ms\n",
                speed.copy_bytes_per_us, speed.reduce_bytes_per_us, speed.message_us,
                static_cast<double>(spent_ns) / ns_per_ms);
}

}  // namespace
}  // namespace mutirao::agent
