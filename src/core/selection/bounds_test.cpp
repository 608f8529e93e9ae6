#include "core/selection/bounds.h"

#include <gtest/gtest.h>

#include <tuple>

#include "core/algorithms/test_requests.h"
#include "core/network/test_networks.h"
#include "core/network/topology.h"
#include "core/selection/estimate.h"
#include "core/selection/test_candidates.h"

namespace mutirao {
namespace {

using test::topology_of;

constexpr double unusable = std::numeric_limits<double>::infinity();

/// Each limit of the model is there in some networks and missing in others.
RankNetwork limited_network(unsigned seed) {
    std::mt19937 random(seed);
    const int hosts = 2 + static_cast<int>(random() % 6);
    const Network full = test::random_network(seed, hosts);
    Network network = seed % 4 >= 2 ? Network(hosts, full.latency_us()) : full;
    for (int host = 0; host < hosts; ++host) network.set_host(host, seed % 2 == 0 ? HostCosts{} : full.host(host));
    if (seed % 3 == 0) {
        network.transport = {.eager_limit_bytes = 1000, .buffered_limit_bytes = 5000,
                             .detached_bytes = 10'000};
    }
    Topology topology = topology_of(network);
    topology.site_of.clear();
    for (int host = 0; host < hosts; ++host)
        topology.site_of.push_back(host < 2 ? host : static_cast<int>(random() % 2));
    if (seed % 5 < 2) {
        topology.network.uplinks = {topology.site_of, {0.5 + static_cast<double>(random() % 20),
                                                       0.5 + static_cast<double>(random() % 20)}};
    }
    const int ranks = seed % 3 == 1 ? hosts : hosts + static_cast<int>(random() % 7);
    return {std::move(topology), test::random_placement(random(), hosts, ranks),
            seed % 7 == 0 ? test::free_memory : MemoryCosts{}};
}

int expect_none_faster(const CallShape& shape, const RankNetwork& network, unsigned seed) {
    const auto bounds = lower_bounds(shape, network);
    EXPECT_TRUE(bounds);
    if (!bounds) return 0;
    int predicted = 0;
    for (const Candidate& candidate : test::all_candidates(shape.collective, shape.length_bytes)) {
        const auto time_us = predict_candidate(candidate, shape, network);
        if (!time_us) continue;
        ++predicted;
        EXPECT_GE(*time_us, bounds->us() * (1 - 1e-9))
            << test::label(candidate, shape, network.rank_count()) << ", seed " << seed
            << ": latency " << bounds->latency_us << ", bandwidth " << bounds->bandwidth_us;
    }
    return predicted;
}

// Seen to fail with: distances of a link's two ways confused; bytes of a reduction added up.
TEST(Bounds, NoCandidateIsPredictedFaster) {
    for (unsigned seed = 0; seed < 60; ++seed) {
        const RankNetwork network = limited_network(seed);
        for (const CollectiveRow& row : collectives) {
            const int root = row.rooted ? static_cast<int>(seed) % network.rank_count() : 0;
            for (const std::size_t length_bytes : {0u, 24u, 3000u, 40'000u}) {
                const bool barrier = row.collective == Collective::barrier;
                if (barrier && length_bytes > 0) continue;
                const CallShape shape{.collective = row.collective, .root = root,
                                      .length_bytes = length_bytes};
                EXPECT_GT(expect_none_faster(shape, network, seed), 0) << row.name;
            }
        }
    }
}

/// One way round: 0 -> 1 in 10 us, 1 -> 2 in 20, 2 -> 0 in 40.
Network one_way_round() {
    Network network = test::uniform_network(3, {.latency_us = unusable});
    network.set_link(0, 1, {.latency_us = 10});
    network.set_link(1, 2, {.latency_us = 20});
    network.set_link(2, 0, {.latency_us = 40});
    return network;
}

// Of 100 bytes, from or to host 1; ports of 1, 2 and 4 bytes/us.
TEST(Bounds, OfThreeHostsAreAsComputedByHand) {
    Network network = one_way_round();
    for (const int host : {0, 1, 2})
        network.set_host(host, {.port_bytes_per_us = static_cast<double>(1 << host)});
    const RankNetwork ranks = test::one_rank_per_host({network, {}, {}});
    const std::tuple<Collective, double, double> by_hand[] = {
        {Collective::barrier, 60, 0},
        {Collective::broadcast, 60, 60 + 100},          // into host 0
        {Collective::gather, 50, 10 + 100},             // out of host 0, or both into host 1
        {Collective::scatter, 60, 60 + 100},            // into host 0
        {Collective::allgather, 60, 40 + 200},          // both into host 0
        {Collective::alltoall, 60, 40 + 200},           // both into host 0
        {Collective::reduce, 50, 10 + 100},             // out of host 0
        {Collective::allreduce, 60, 60 + 100},          // into host 0
        {Collective::reduce_scatter_block, 60, 10 + 200},  // both out of host 0
        {Collective::scan, 30, 30 + 100},               // out of host 0, to host 2
        {Collective::exscan, 30, 30 + 100},
    };
    for (const auto& [collective, latency_us, bandwidth_us] : by_hand) {
        const CallShape shape{.collective = collective, .root = row_of(collective).rooted ? 1 : 0,
                              .length_bytes = collective == Collective::barrier ? 0u : 100u};
        const auto bounds = lower_bounds(shape, ranks);
        ASSERT_TRUE(bounds);
        EXPECT_DOUBLE_EQ(bounds->latency_us, latency_us) << to_string(collective);
        EXPECT_DOUBLE_EQ(bounds->bandwidth_us, bandwidth_us) << to_string(collective);
    }
}

// Hosts 0 and 1 with two ranks each, host 2 with one; sites {0, 1} and {2}. Links of 100 us between
// the sites and 1 us inside, all of 10 bytes/us.
RankNetwork two_sites(std::vector<double> uplinks_bytes_per_us) {
    Network network(3);
    network.set_both(0, 1, {1, 10});
    network.set_both(0, 2, {100, 10});
    network.set_both(1, 2, {100, 10});
    if (!uplinks_bytes_per_us.empty())
        network.uplinks = {{0, 0, 1}, std::move(uplinks_bytes_per_us)};
    return {Topology{std::move(network), {}, {0, 0, 1}}, Placement({0, 0, 1, 1, 2}), {}};
}

TEST(Bounds, AHostsLinksTogetherAndAnUplinkLimit) {
    using enum Collective;
    const std::vector<double> none, uplinks{2, 5}, one_without_hosts{2, 5, 1};
    const std::tuple<std::vector<double>, Collective, int, double> expected[] = {
        {none, gather, 4, 100 + 4000.0 / 20},    // four blocks into host 2, over two links
        {none, alltoall, 0, 1 + 6000.0 / 20},    // from each rank of host 0 to three others
        {none, broadcast, 0, 100 + 1000.0 / 20},
        {uplinks, gather, 4, 100 + 4000.0 / 2},
        {uplinks, gather, 0, 100 + 1000.0 / 2},
        {uplinks, alltoall, 0, 100 + 4000.0 / 2},
        {uplinks, reduce, 0, 100 + 1000.0 / 2},
        {uplinks, allgather, 0, 100 + 4000.0 / 2},
        {uplinks, reduce_scatter_block, 0, 100 + 4000.0 / 2},
        {one_without_hosts, allreduce, 0, 100 + 1000.0 / 2},
    };
    for (const auto& [uplinks_bytes_per_us, collective, root, us] : expected) {
        const CallShape shape{.collective = collective, .root = root, .length_bytes = 1000};
        EXPECT_DOUBLE_EQ(lower_bounds(shape, two_sites(uplinks_bytes_per_us))->bandwidth_us, us)
            << to_string(collective) << ", root " << root << ", uplinks " << uplinks_bytes_per_us.size();
    }
}

// Ranks 0 and 1 are on host 0, 2 and 3 on host 1, 4 is on host 2.
TEST(Bounds, OfUnevenBlocksCountEachRanksOwn) {
    const RankNetwork network = two_sites({2, 5});
    CallShape shape{.collective = Collective::allgatherv, .length_bytes = 400,
                    .lengths = {0, 2000, 0, 0, 0}};
    EXPECT_DOUBLE_EQ(lower_bounds(shape, network)->bandwidth_us, 100 + 2000.0 / 2);
    EXPECT_DOUBLE_EQ(lower_bounds(shape, network)->latency_us, 100);
    shape.collective = Collective::reduce_scatter;
    EXPECT_DOUBLE_EQ(lower_bounds(shape, network)->bandwidth_us, 100 + 2000.0 / 2);
    shape.lengths = {};
    EXPECT_EQ(lower_bounds(shape, network)->bandwidth_us,
              lower_bounds({.collective = Collective::reduce_scatter_block, .length_bytes = 400},
                           network)
                  ->bandwidth_us);
}

// What one rank alone knows must not count.
TEST(Bounds, OfBlocksThatOnlyTheirRanksKnowAreThoseOfEqualOnes) {
    const RankNetwork network = two_sites({2, 5});
    const auto of = [&](CallShape shape) { return lower_bounds(shape, network)->bandwidth_us; };
    EXPECT_EQ(of({.collective = Collective::gatherv, .length_bytes = 1000,
                  .lengths = {1, 2, 3, 4, 5}}),
              of({.collective = Collective::gather, .length_bytes = 1000}));
    EXPECT_EQ(of({.collective = Collective::alltoallv, .length_bytes = 1000,
                  .lengths = std::vector<std::size_t>(10, 7)}),
              of({.collective = Collective::alltoall, .length_bytes = 1000}));
}

// Nothing else costs anything between two hosts, so one message each way is the best there is.
TEST(Bounds, AreReachedBetweenTwoHosts) {
    Network network(2);
    network.set_both(0, 1, {100, 4});
    const RankNetwork ranks = test::one_rank_per_host(topology_of(network), test::free_memory);
    for (const CollectiveRow& row : collectives) {
        if (row.collective == Collective::barrier) continue;
        const CallShape shape{.collective = row.collective, .length_bytes = 1000};
        double best_us = unusable;
        for (const Candidate& each : test::all_candidates(row.collective, 1000))
            best_us = std::min(best_us, predict_candidate(each, shape, ranks).value_or(best_us));
        EXPECT_DOUBLE_EQ(lower_bounds(shape, ranks)->us(), 100 + 1000.0 / 4) << row.name;
        EXPECT_DOUBLE_EQ(best_us, 100 + 1000.0 / 4) << row.name;
    }
}

TEST(Bounds, AreNothingWhereSomeRankCannotBeReached) {
    Network network = one_way_round();
    network.set_link(2, 0, {.latency_us = unusable});
    const RankNetwork ranks = test::one_rank_per_host({network, {}, {}});
    const auto has_bounds = [&](Collective collective, int root) {
        return lower_bounds({.collective = collective, .root = root, .length_bytes = 1}, ranks)
            .has_value();
    };
    EXPECT_TRUE(has_bounds(Collective::broadcast, 0));
    EXPECT_FALSE(has_bounds(Collective::broadcast, 1));
    EXPECT_TRUE(has_bounds(Collective::gather, 2));
    EXPECT_FALSE(has_bounds(Collective::gather, 1));
    EXPECT_TRUE(has_bounds(Collective::scan, 0));
    EXPECT_FALSE(has_bounds(Collective::allreduce, 0));
}

// Among 16 hosts a rank sends a message each 10 us, which is there after 70.
TEST(Bounds, NewsSpreadOnlySoFast) {
    constexpr int hosts = 16;
    const Network network = test::uniform_network(hosts, {50}, {.send_overhead_us = 10, .receive_overhead_us = 10});
    const auto spread_us = [&](Collective collective, int ranks_on_host) {
        const RankNetwork ranks{{network, {}, {}}, Placement::in_blocks(hosts, ranks_on_host), {}};
        return lower_bounds({.collective = collective, .length_bytes = 1}, ranks)->latency_us;
    };
    // 1, 2, ... 7 others after 70, 80, ... 130 us; 9, 12 and 16 after 140, 150 and 160.
    EXPECT_DOUBLE_EQ(spread_us(Collective::broadcast, 1), 160);
    EXPECT_DOUBLE_EQ(spread_us(Collective::gather, 1), 160);
    EXPECT_DOUBLE_EQ(spread_us(Collective::allreduce, 4), 100);
    EXPECT_DOUBLE_EQ(spread_us(Collective::reduce, 4), 100);
}

// Seen to fail where a call that took 9 us was held against 10 us that each side of a message was said to cost: it
// counted as the best that there is, and nothing else was tried.
TEST(Bounds, OfWhatIsMeasuredCountNothingAssumed) {
    const Network network = test::uniform_network(2, {3}, {10, 10, 100});
    const CallShape shape{.collective = Collective::allreduce, .length_bytes = 1000};
    const auto us = [&](MemoryCosts memory) {
        return measured_lower_bounds(shape, test::one_rank_per_host({network, {}, {}}, memory))->us();
    };
    EXPECT_DOUBLE_EQ(us({.reduce_bytes_per_us = 1}), 3 + 10);
    EXPECT_DOUBLE_EQ(us({.reduce_bytes_per_us = 1, .measured = true}), 500);
    EXPECT_DOUBLE_EQ(lower_bounds(shape, test::one_rank_per_host({network, {}, {}}))->us(), 23 + 10);
}

// Of each of 300 bytes two sums, by three ranks at 2 bytes/us.
TEST(Bounds, OneHostMustCombineItsOperands) {
    const RankNetwork host{Topology{Network(1), {}, {0}}, Placement({0, 0, 0}),
                           {.reduce_bytes_per_us = 2}};
    const auto us = [&](Collective collective) {
        return lower_bounds({.collective = collective, .length_bytes = 300}, host)->us();
    };
    EXPECT_DOUBLE_EQ(us(Collective::allreduce), 100);
    EXPECT_DOUBLE_EQ(us(Collective::scan), 100);
    EXPECT_DOUBLE_EQ(us(Collective::reduce_scatter_block), 300);
}

TEST(Bounds, OfOneHostOrNothingToDoAreZero) {
    const RankNetwork host{Topology{Network(1), {}, {0}}, Placement({0, 0, 0}), {}};
    for (const CollectiveRow& row : collectives) {
        if (row.reduces) continue;
        EXPECT_EQ(lower_bounds({.collective = row.collective, .length_bytes = 100}, host)->us(), 0);
    }
    EXPECT_EQ(lower_bounds({.length_bytes = 0}, two_sites({2, 5}))->us(), 0);
}

// Where only some paths are looked at. With a root they are all that matter.
TEST(Bounds, HoldAmongManyHosts) {
    constexpr int hosts = 150;
    const Network network = test::random_network(5, hosts);
    const RankNetwork ranks = test::one_rank_per_host(topology_of(network));
    for (const CollectiveRow& row : collectives) {
        const bool barrier = row.collective == Collective::barrier;
        const CallShape shape{.collective = row.collective, .root = row.rooted ? 77 : 0,
                              .length_bytes = barrier ? 0u : 500u};
        const auto bounds = lower_bounds(shape, ranks);
        ASSERT_TRUE(bounds);
        EXPECT_GT(bounds->latency_us, 0) << row.name;
        EXPECT_GE(*predict_candidate(native_candidate(row.collective), shape, ranks), bounds->us())
            << row.name;
    }
    const RankNetwork latencies = test::one_rank_per_host(topology_of(Network(hosts, network.latency_us())));
    EXPECT_DOUBLE_EQ(lower_bounds({.root = 77, .length_bytes = 1}, latencies)->latency_us,
                     *latency_bound_us(network, 77));
}

}  // namespace
}  // namespace mutirao
