// Decisions and schedules for hosts with several ranks.
#include <gtest/gtest.h>

#include <algorithm>

#include "core/algorithms/test_requests.h"
#include "core/collectives/promise.h"
#include "core/network/test_networks.h"
#include "core/schedule/predictor.h"
#include "core/selection/estimate.h"
#include "core/selection/selection.h"
#include "core/selection/test_candidates.h"

namespace mutirao {
namespace {

using test::all_candidates;
using test::topology_of;

Placement scattered(unsigned seed, int hosts, int ranks) {
    std::mt19937 random(seed);
    std::vector<int> host_of_rank(static_cast<std::size_t>(ranks));
    for (int rank = 0; rank < ranks; ++rank) {
        host_of_rank[static_cast<std::size_t>(rank)] =
            rank < hosts ? rank : static_cast<int>(random() % static_cast<unsigned>(hosts));
    }
    std::shuffle(host_of_rank.begin(), host_of_rank.end(), random);
    return Placement(std::move(host_of_rank));
}

/// Sites of eight hosts, a few milliseconds and a little noise apart.
std::shared_ptr<const RankNetwork> many_ranks(int hosts, int ranks_per_host) {
    std::mt19937 random(3);
    Network network(hosts);
    network.transport.eager_limit_bytes = 65536;
    for (int a = 0; a < hosts; ++a) {
        network.set_host(a, {.send_overhead_us = 5, .receive_overhead_us = 5,
                             .port_bytes_per_us = 1250});
        for (int b = a + 1; b < hosts; ++b) {
            const double latency_us = a / 8 == b / 8 ? 25 : 2000.0 * (1 + (a / 8 ^ b / 8));
            network.set_both(a, b, {latency_us + static_cast<double>(random() % 5), 1000});
        }
    }
    return std::make_shared<const RankNetwork>(RankNetwork{
        topology_of(network), Placement::in_blocks(hosts, ranks_per_host)});
}

TEST(Ruling, ClassesOfLengthsGoFromOnePowerOfTwoToTheNext) {
    const auto length_class = [](std::size_t bytes) {
        return class_of({.root = 3, .length_bytes = bytes}).length_class;
    };
    EXPECT_EQ(length_class(0), 0);
    EXPECT_EQ(length_class(1), 1);
    EXPECT_EQ(length_class(2), 2);
    EXPECT_EQ(length_class(3), 2);
    EXPECT_EQ(length_class(4096), length_class(8191));
    EXPECT_NE(length_class(4095), length_class(4096));
    const ShapeClass shapes = class_of({.root = 3, .length_bytes = 24});
    EXPECT_EQ(shapes, (ShapeClass{Collective::broadcast, 3, 5}));
    EXPECT_LT(shapes, (ShapeClass{Collective::broadcast, 4, 0}));
    EXPECT_NE(std::hash<ShapeClass>()(shapes),
              std::hash<ShapeClass>()({Collective::broadcast, any_root, 5}));
}

void expect_promise_kept(const Candidate& candidate, const CallShape& shape,
                         const Topology& topology, const Placement& placement) {
    const auto ruling = ruling_for(candidate, shape, topology, placement);
    ASSERT_TRUE(ruling) << to_string(candidate);
    const CheckResult result = check(*build_all(*ruling, shape, placement),
                                     promise(shape, placement.rank_count()));
    EXPECT_TRUE(result) << to_string(shape.collective) << '/' << to_string(candidate) << ", root "
                        << shape.root << ": " << result.reason;
}

// Seen to fail with: leaders' ranks not mapped; the lowest rank leading the root's host.
TEST(Ruling, EveryCandidateIsABroadcastOverRanksOnHosts) {
    for (const int hosts : {1, 2, 5}) {
        const Topology topology =
            topology_of(test::random_network(static_cast<unsigned>(hosts), hosts));
        const Placement placement = scattered(static_cast<unsigned>(hosts), hosts, 3 * hosts + 1);
        for (const int root : {0, 2, 3 * hosts}) {
            const CallShape shape{.root = root, .length_bytes = 20'000};
            for (Candidate candidate : all_candidates(shape.collective, shape.length_bytes)) {
                if (!candidate.algorithm->has_schedule()) continue;
                for (const char* inside : {"flat", "binomial", "k_nomial", "chain"}) {
                    candidate.parameters.inside = inside;
                    expect_promise_kept(candidate, shape, topology, placement);
                }
            }
        }
    }
}

// Seen to fail where a tree over hosts was taken for one over ranks, one on each host but in another order.
TEST(Ruling, EveryCandidateKeepsItsPromiseWhereverRanksAre) {
    constexpr std::size_t lengths[] = {1, 600};
    const std::vector<Placement> placements = {
        Placement({4, 3, 2, 1, 0}), Placement({1, 0, 2, 2, 1, 0, 0, 4, 3}),
        Placement::in_blocks(4, 2), scattered(3, 5, 16)};
    for (const Placement& placement : placements) {
        const int hosts = placement.host_count();
        const Topology topology = topology_of(test::random_network(7, hosts));
        const int roots[] = {0, 2, placement.rank_count() - 1};
        for (const CollectiveRow& row : collectives) {
            for (Candidate candidate : candidates_in_one_piece(row.collective)) {
                const Algorithm& algorithm = *candidate.algorithm;
                const bool between_hosts = algorithm.level == Level::hosts;
                if (!algorithm.has_schedule() ||
                    !allows(algorithm, true, between_hosts ? hosts : placement.rank_count()))
                    continue;
                if (algorithm.segmented) candidate.parameters.segment_bytes = 256;
                for (const CallShape& shape : test::shapes_for(
                         algorithm, placement.rank_count(), roots, lengths)) {
                    expect_promise_kept(candidate, shape, topology, placement);
                }
            }
        }
    }
}

TEST(Ruling, NativeHasNoSchedule) {
    const Ruling ruling{{}, native_candidate(Collective::broadcast), {}};
    EXPECT_FALSE(build_schedule(ruling, {}, Placement({0, 0}), 0));
    EXPECT_FALSE(build_all(ruling, {}, Placement({0, 0})));
}

// A rank's steps must not grow with the ranks that it has nothing to do with.
TEST(Ruling, ARanksScheduleHoldsItsOwnStepsOnly) {
    const Placement placement = Placement::in_blocks(64, 16);
    const CallShape shape{.root = 5, .length_bytes = 24};
    const Candidate binomial{find_algorithm(Collective::broadcast, "binomial"), {}};
    const Ruling ruling{class_of(shape), binomial, {}};
    EXPECT_EQ(build_schedule(ruling, shape, placement, 5)->size(), 6u + 4u);
    EXPECT_EQ(build_schedule(ruling, shape, placement, 6)->size(), 1u);
    EXPECT_EQ(build_schedule(ruling, shape, placement, 4)->steps().front().kind,
              StepKind::receive);
}

// A decision may cost 50 ms of a processor; walking through a message takes a few microseconds at
// most, building its schedules included.
TEST(RanksDecision, OfAShortMessageAmongAThousandRanksIsCheap) {
    const Decision decision = decide({.root = 17, .length_bytes = 24}, many_ranks(64, 16), {});
    EXPECT_LE(decision.predictions, 30);
    EXPECT_LE(decision.messages, 10'000u);
    EXPECT_TRUE(decision.considered.front().in_full);
    EXPECT_TRUE(decision.native_us);
    EXPECT_GE(decision.considered.front().predicted_us, *decision.bound_us);
}

TEST(RanksDecision, NoSinglePredictionIsLong) {
    const Decision decision = decide({.root = 0, .length_bytes = std::size_t{1} << 26}, many_ranks(64, 16), {});
    EXPECT_LE(decision.most_messages, 2 * most_messages_predicted);
    EXPECT_FALSE(decision.considered.empty());
}

// Catches a choice by the estimate where the full prediction says otherwise.
TEST(RanksDecision, TheChosenIsAsPredictedOverAllRanks) {
    for (const std::size_t length_bytes : {24u, 100'000u, 4'000'000u}) {
        const auto network = many_ranks(16, 4);
        const CallShape shape{.root = 6, .length_bytes = length_bytes};
        const Decision decision = decide(shape, network, {});
        const auto chosen_us = predict_candidate(decision.chosen, shape, *network);
        ASSERT_TRUE(chosen_us);
        EXPECT_NEAR(decision.considered.front().predicted_us / *chosen_us, 1, 0.05)
            << to_string(decision.chosen);
        for (const Evaluated& each : decision.considered) {
            if (!each.in_full) continue;
            EXPECT_LE(decision.considered.front().predicted_us, each.predicted_us);
        }
    }
}

// Everything predicted in full, nothing pruned: what the estimates leave out must not matter.
TEST(RanksDecision, PruningLosesLittle) {
    for (const std::size_t length_bytes : {24u, 70'000u}) {
        for (const unsigned seed : {1u, 2u, 3u}) {
            const RankNetwork network{topology_of(test::random_network(seed, 6)),
                                      scattered(seed, 6, 25)};
            const CallShape shape{.root = 2, .length_bytes = length_bytes};
            double best_us = std::numeric_limits<double>::infinity();
            for (Candidate candidate : all_candidates(shape.collective, length_bytes)) {
                for (const char* inside : {"flat", "binomial", "chain"}) {
                    candidate.parameters.inside = inside;
                    best_us = std::min(best_us, *predict_candidate(candidate, shape, network));
                }
            }
            const Decision decision =
                decide(shape, std::make_shared<const RankNetwork>(network), {});
            EXPECT_LE(decision.considered.front().predicted_us, 1.03 * best_us)
                << to_string(decision.chosen);
        }
    }
}

// With one rank per host the numbering of ranks must not matter.
TEST(RanksDecision, RanksMayBeNumberedInAnyOrder) {
    const Topology topology = topology_of(test::six_sites());
    std::vector<int> host_of_rank;
    for (int rank = 0; rank < 24; ++rank) host_of_rank.push_back(rank * 7 % 24);
    const auto shuffled = std::make_shared<const RankNetwork>(
        RankNetwork{topology, Placement(host_of_rank)});
    const auto plain = std::make_shared<const RankNetwork>(one_rank_per_host(topology));
    for (int rank = 0; rank < 24; ++rank) {
        const Decision one = decide({.root = rank, .length_bytes = 24}, shuffled, {});
        const Decision other =
            decide({.root = host_of_rank[static_cast<std::size_t>(rank)], .length_bytes = 24},
                   plain, {});
        EXPECT_TRUE(runs_alike(one, other));
        EXPECT_EQ(one.reason, other.reason);
    }
}

/// Ten milliseconds between any two hosts.
Decision decide_exchange(int hosts, std::size_t length_bytes) {
    Network network(hosts);
    for (int a = 0; a < hosts; ++a) {
        for (int b = a + 1; b < hosts; ++b) network.set_both(a, b, {.latency_us = 10'000});
    }
    return decide({.collective = Collective::alltoall, .length_bytes = length_bytes},
                  std::make_shared<const RankNetwork>(one_rank_per_host(topology_of(network))), {});
}

// By hand: native takes 10 ms if it sends all at once, as nothing can be faster than; if it goes by rounds, as Bruck
// does, it takes 30 among eight. A loop of such calls once became 8% longer by what was as fast as that at best.
TEST(RanksDecision, TakesNothingBecauseItMightWin) {
    const Decision decision = decide_exchange(8, 8);
    EXPECT_TRUE(decision.chosen.native()) << decision.reason;
    EXPECT_EQ(decision.native_us, 10'000);
}

}  // namespace
}  // namespace mutirao
