// Decisions on calls whose blocks are not equal.
#include <gtest/gtest.h>

#include "core/network/test_networks.h"
#include "core/selection/candidates.h"
#include "core/selection/estimate.h"
#include "core/selection/selection.h"
#include "core/spanning_tree/kruskal.h"

namespace mutirao {
namespace {

std::shared_ptr<const RankNetwork> network_of(Network network) {
    Topology topology;
    topology.spanning_tree = minimum_spanning_tree(network);
    topology.site_of.assign(static_cast<std::size_t>(network.host_count()), 0);
    topology.network = std::move(network);
    return std::make_shared<const RankNetwork>(one_rank_per_host(std::move(topology)));
}

std::shared_ptr<const RankNetwork> some_network(int hosts) {
    return network_of(test::random_network(3, hosts));
}

CallShape exchange(Collective collective, std::vector<std::size_t> lengths) {
    return {.collective = collective, .length_bytes = nominal_block_bytes,
            .lengths = std::move(lengths)};
}

// Seen to fail where the decider's own lengths were predicted with: its schedules then matched nobody's.
TEST(UnevenBlocks, WhatOneRankAloneKnowsDecidesNothing) {
    constexpr int hosts = 5;
    const auto network = some_network(hosts);
    for (const CollectiveRow& row : collectives) {
        if (row.in_blocks != InBlocks::own) continue;
        const CallShape nobodys = exchange(row.collective, {});
        const CallShape small = exchange(row.collective, {1});
        const CallShape large = exchange(row.collective, std::vector<std::size_t>(2 * hosts, 1 << 24));
        EXPECT_FALSE(small.empty());
        EXPECT_EQ(class_of(small), class_of(large));
        EXPECT_EQ(class_of(small).length_class, any_length);
        const Decision decided = decide(nobodys, network, Settings{});
        EXPECT_GT(decided.considered.size(), 1u) << row.name;
        EXPECT_FALSE(decided.bound_us) << "short blocks may take less than nominal ones";
        for (const CallShape& shape : {small, large}) {
            const Decision made = decide(shape, network, Settings{});
            EXPECT_TRUE(runs_alike(made, decided)) << row.name;
            EXPECT_EQ(made.reason, decided.reason) << row.name;
        }
    }
}

/// Without the MPI library's own, which may differ.
Candidate first_of_ours(const Decision& decision) {
    for (const Evaluated& each : decision.considered) {
        if (!each.candidate.native()) return each.candidate;
    }
    return {};
}

// There is one choice for all lengths. Seen to fail where that was `pairwise`.
TEST(UnevenBlocks, WhatIsBestForTheNominalLengthIsNearlyBestForAll) {
    constexpr double nearly = 1.05;
    for (const Network& made :
         {test::six_sites(), test::random_network(1, 7), test::random_network(2, 12)}) {
        const auto network = network_of(made);
        const Candidate chosen =
            first_of_ours(decide(exchange(Collective::alltoallv, {}), network, Settings{}));
        ASSERT_NE(chosen.algorithm, nullptr);
        for (const std::size_t length : {1, 1 << 10, 1 << 16, 1 << 20}) {
            const CallShape shape{.collective = Collective::alltoallv, .length_bytes = length};
            const double time_us = *predict_candidate(chosen, shape, *network);
            for (const Candidate& other : candidates_in_one_piece(shape.collective)) {
                EXPECT_LE(time_us, nearly * *predict_candidate(other, shape, *network))
                    << to_string(chosen) << ", " << to_string(other) << ", bytes " << length;
            }
        }
    }
}

TEST(UnevenBlocks, ThatAllRanksKnowAreOfTheClassOfTheirMean) {
    CallShape shape{.collective = Collective::allgatherv, .lengths = {0, 3000, 0, 1}};
    shape.length_bytes = mean_length_bytes(shape.lengths);
    EXPECT_EQ(shape.length_bytes, 751u);
    EXPECT_EQ(class_of(shape).length_class, 10);
    EXPECT_EQ(mean_length_bytes({0, 0}), 0u);
    EXPECT_EQ(mean_length_bytes({0, 1}), 1u);
}

// What only the first rank's block holds is slower to spread than the same in equal shares.
TEST(UnevenBlocks, ArePredictedAsTheyAre) {
    const auto network = some_network(4);
    const Candidate ring{find_algorithm(Collective::allgatherv, "ring"), {}};
    constexpr std::size_t mean = 1 << 20;
    const CallShape equal{.collective = Collective::allgatherv, .length_bytes = mean};
    CallShape uneven = equal;
    uneven.lengths = {4 * mean, 0, 0, 0};
    EXPECT_GT(*predict_candidate(ring, uneven, *network),
              1.5 * *predict_candidate(ring, equal, *network));
}

// Seen to fail where the beginning of a pipeline was predicted with blocks of their full lengths.
TEST(UnevenBlocks, InManySegmentsAreEstimatedFromTheirBeginning) {
    const auto network = some_network(4);
    const Candidate ring{find_algorithm(Collective::reduce_scatter, "ring"),
                         {.segment_bytes = 8192}};
    CallShape shape{.collective = Collective::reduce_scatter, .unit_bytes = 8,
                    .lengths = {1 << 23, 1 << 21, 0, 1 << 22}};
    shape.length_bytes = mean_length_bytes(shape.lengths);
    const double in_full_us = *predict_candidate(ring, shape, *network);
    const Estimate estimated = estimate(ring, shape, *network);
    EXPECT_NEAR(*estimated.time_us / in_full_us, 1, 0.1);
    EXPECT_LT(estimated.messages, 2000u);
}

}  // namespace
}  // namespace mutirao
