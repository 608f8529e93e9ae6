#include "core/selection/estimate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/network/test_networks.h"
#include "core/schedule/printer.h"
#include "core/selection/outlook.h"
#include "core/selection/test_candidates.h"

namespace mutirao {
namespace {

using test::all_candidates;
using test::ranks_on;

/// Of those candidates of the call that `considered` takes, and how many of them are estimated at all: others would
/// take too many messages.
template <class Considered>
int expect_full_prediction(const CallShape& shape, const RankNetwork& ranks, double tolerance, Considered considered) {
    int estimated = 0;
    for (const Candidate& candidate : all_candidates(shape.collective, shape.length_bytes)) {
        if (!considered(candidate)) continue;
        SCOPED_TRACE(std::string(to_string(shape.collective)) + '/' + to_string(candidate));
        const auto full_us = predict_candidate(candidate, shape, ranks);
        const auto estimated_us = estimate(candidate, shape, ranks).time_us;
        EXPECT_TRUE(full_us);
        if (!full_us || !estimated_us) continue;
        EXPECT_NEAR(*estimated_us / *full_us, 1, tolerance);
        ++estimated;
    }
    return estimated;
}

RankNetwork one_on_each(const Network& network) { return *ranks_on(network); }

// Seen to fail where the samples of a ring had one segment and two for each rank, which hides its
// pace behind its latency: it was chosen in less than half the time that it takes.
TEST(Estimate, OfAnAllreducesRingAgreesWithTheFullPrediction) {
    const RankNetwork ranks = one_on_each(test::network_of_sites(16, 8, {50, 125}, {15'000, 125}, {10, 10, 1000}));
    const CallShape shape{.collective = Collective::allreduce, .length_bytes = 1u << 24, .unit_bytes = 8};
    const auto is_ring = [](const Candidate& candidate) { return candidate.algorithm->name == "ring"; };
    const auto all = all_candidates(shape.collective, shape.length_bytes);
    EXPECT_EQ(expect_full_prediction(shape, ranks, 0.05, is_ring), std::ranges::count_if(all, is_ring));
}

/// Nothing that takes as long as the limit is given up: how many candidates are, where it is half of that.
int expect_none_given_up_within(const CallShape& shape, const RankNetwork& ranks) {
    int given_up = 0;
    TreesOfCall trees(shape, ranks.topology(), ranks.placement());
    for (const Candidate& candidate : all_candidates(shape.collective, shape.length_bytes)) {
        SCOPED_TRACE(std::string(to_string(shape.collective)) + '/' + to_string(candidate));
        const auto time_us = estimate(candidate, shape, ranks, trees).time_us;
        if (!time_us) continue;
        EXPECT_EQ(estimate(candidate, shape, ranks, trees, {.us = *time_us}).time_us, time_us);
        if (!estimate(candidate, shape, ranks, trees, {.us = *time_us / 2}).time_us) ++given_up;
    }
    return given_up;
}

// Fault: a round trip more than its window takes.
TEST(Estimate, GivesUpOnlyWhatIsBeyondTheLimit) {
    int given_up = 0;
    for (Network network : {test::six_sites(), test::random_network(1, 9), test::random_network(2, 6)}) {
        network.transport.initial_window_bytes = 14'480;
        for (const Collective collective : {Collective::broadcast, Collective::allreduce, Collective::alltoall}) {
            for (const std::size_t length_bytes : {24u, 40'000u, 1u << 20}) {
                const CallShape shape{.collective = collective, .length_bytes = length_bytes, .unit_bytes = 8};
                given_up += expect_none_given_up_within(shape, one_on_each(network));
            }
        }
    }
    EXPECT_GT(given_up, 100);
}

/// A far host with fast links and a near one with slow links, which is the last one only if the
/// message is long.
Network far_and_slow() {
    Network network(3);
    network.set_both(0, 1, {.latency_us = 100'000, .bandwidth_bytes_per_us = 1000});
    network.set_both(0, 2, {.latency_us = 100, .bandwidth_bytes_per_us = 10});
    network.set_both(1, 2, {.latency_us = 100'000, .bandwidth_bytes_per_us = 10});
    return network;
}

// Catches one pace for all hosts, which would take the far host's for the slow one's.
TEST(Estimate, OfBroadcastsAgreesWithTheFullPrediction) {
    const CallShape shape{.length_bytes = 3'000'000};
    const auto all = all_candidates(shape.collective, shape.length_bytes);
    for (const Network& network : {test::six_sites_with_costs(), far_and_slow(), test::random_network(11, 7)}) {
        const auto any = [](const Candidate&) { return true; };
        EXPECT_EQ(expect_full_prediction(shape, one_on_each(network), 0.05, any), std::ssize(all));
    }
}

// Seen to fail where the beginning of a pipeline was predicted with blocks of their full lengths.
TEST(Estimate, OfUnevenBlocksInManySegmentsIsMadeFromTheirBeginning) {
    const RankNetwork ranks = one_on_each(test::random_network(3, 4));
    const Candidate ring{find_algorithm(Collective::reduce_scatter, "ring"), {.segment_bytes = 8192}};
    CallShape shape{.collective = Collective::reduce_scatter, .unit_bytes = 8,
                    .lengths = {1 << 23, 1 << 21, 0, 1 << 22}};
    shape.length_bytes = mean_length_bytes(shape.lengths);
    const Estimate estimated = estimate(ring, shape, ranks);
    EXPECT_NEAR(*estimated.time_us / *predict_candidate(ring, shape, ranks), 1, 0.1);
    EXPECT_LT(estimated.messages, 2000u);
}

// Measured on 8 hosts that are 5 to 40 ms apart: an alltoall of 64 KiB takes MPICH 2.9 times as long as it would take
// Open MPI. With one prediction for both, it was native for good in every second job.
TEST(Estimate, NativeMayExchangeInTurns) {
    const RankNetwork ranks = one_on_each(test::network_of_sites(8, 2, {20}, {15'000}, {10, 10, 1000}));
    EXPECT_GT(slowest_native_ratio({.collective = Collective::alltoall, .length_bytes = 1u << 16}, ranks), 2.9);
    EXPECT_EQ(slowest_native_ratio({.collective = Collective::allgather, .length_bytes = 1u << 16}, ranks), 1);
}

// Seen to fail where what only begins with a segment was taken for a pipeline (gather/synchronised).
// A circulant pipeline's pace changes with its place in a round: it is up to 0.19 off.
TEST(Estimate, OfWhatIsInSegmentsAgreesWithTheFullPrediction) {
    const RankNetwork ranks = one_on_each(test::uniform_network(8, {50}, {10, 10, 1000}));
    for (const CollectiveRow& row : collectives) {
        const CallShape shape{.collective = row.collective, .length_bytes = 1u << 20, .unit_bytes = 8};
        for (const bool circulant : {false, true}) {
            expect_full_prediction(shape, ranks, circulant ? 0.2 : 0.07, [&](const Candidate& candidate) {
                return candidate.parameters.segment_bytes > 0 &&
                       (candidate.algorithm->name == "circulant") == circulant;
            });
        }
    }
}

/// What all ranks do, for comparison.
std::string printed(const Candidate& candidate, const CallShape& shape, const RankNetwork& ranks) {
    const auto ruling = arm_for(candidate, shape, ranks);
    const auto schedules = ruling ? build_all(*ruling, shape, ranks.placement()) : std::nullopt;
    return schedules ? to_json(*schedules) : "";
}

// A decision leaves segments out that are as long as the longest message without them.
TEST(Estimate, SegmentsAsLongAsTheLongestMessageAreNone) {
    const RankNetwork ranks = one_on_each(test::six_sites());
    int compared = 0;
    for (const CollectiveRow& row : collectives) {
        const CallShape shape{.collective = row.collective, .length_bytes = 1u << 17, .unit_bytes = 8};
        for (Candidate candidate : all_candidates(shape.collective, shape.length_bytes)) {
            const std::size_t segment_bytes = std::exchange(candidate.parameters.segment_bytes, 0);
            const std::string whole = printed(candidate, shape, ranks);
            const std::size_t longest_bytes = estimate(candidate, shape, ranks).longest_bytes;
            if (segment_bytes == 0 || longest_bytes == 0 || segment_bytes < longest_bytes || whole.empty()) continue;
            candidate.parameters.segment_bytes = segment_bytes;
            EXPECT_EQ(printed(candidate, shape, ranks), whole) << row.name << "/" << to_string(candidate);
            ++compared;
        }
    }
    EXPECT_GT(compared, 10);
}

// What is made of the MPI library's own collectives: what it is predicted to take, and where it is tried.

std::shared_ptr<const RankNetwork> eight_ranks_on(int hosts) {
    return ranks_on(test::uniform_network(hosts, {10'000}), 8 / hosts);
}

double predicted_us(Collective collective, std::string_view name, std::size_t length_bytes,
                   const RankNetwork& network) {
    const CallShape shape{.collective = collective, .length_bytes = length_bytes};
    return *predict_candidate({find_algorithm(collective, name), {}}, shape, network);
}

double native_us(Collective collective, std::size_t length_bytes, const RankNetwork& network) {
    return predicted_us(collective, "native", length_bytes, network);
}

// Blocks of 1000 bytes are a message of 8000 together, and the other way round. Fault: the length handed on as it is.
TEST(NativeCompositions, TakeAsLongAsTheirCallsOneAfterTheOther) {
    using enum Collective;
    const RankNetwork network = *eight_ranks_on(8);
    EXPECT_EQ(predicted_us(scatter, "native_broadcast", 1000, network), native_us(broadcast, 8000, network));
    EXPECT_EQ(predicted_us(gather, "native_allgather", 1000, network), native_us(allgather, 1000, network));
    EXPECT_EQ(predicted_us(reduce_scatter_block, "native_reduce_scatter", 1000, network),
              native_us(reduce, 8000, network) + native_us(scatter, 1000, network));
    EXPECT_EQ(predicted_us(allreduce, "native_reduce_broadcast", 1000, network),
              native_us(reduce, 1000, network) + native_us(broadcast, 1000, network));
    EXPECT_EQ(predicted_us(broadcast, "native_scatter_allgather", 8001, network),
              native_us(scatter, 1001, network) + native_us(allgather, 1001, network));
}

std::set<std::string_view> composed_among(const std::vector<Evaluated>& considered) {
    std::set<std::string_view> names;
    for (const Evaluated& each : considered) {
        if (!each.candidate.algorithm->calls.empty()) names.insert(each.candidate.algorithm->name);
    }
    return names;
}

// Fault: considered everywhere.
TEST(NativeCompositions, AreConsideredOnOneHostOnly) {
    const CallShape shape{.collective = Collective::reduce_scatter_block, .length_bytes = 64, .unit_bytes = 8};
    const auto both = std::set<std::string_view>{"native_allreduce", "native_reduce_scatter"};
    EXPECT_EQ(composed_among(decide(shape, eight_ranks_on(1), {}).considered), both);
    for (const int hosts : {2, 4, 8}) {
        EXPECT_EQ(composed_among(decide(shape, eight_ranks_on(hosts), {}).considered).size(), 0u) << hosts;
    }
}

// Faults: left out as alike what is predicted to take as long as one of them, or one of them for that, or for want
// of room.
TEST(NativeCompositions, AreTriedBesideAllThatIsTried) {
    const CallShape shape{.collective = Collective::reduce_scatter_block, .length_bytes = 64, .unit_bytes = 8};
    const auto network = eight_ranks_on(1);
    const auto candidate = [](std::string_view name) {
        return Candidate{find_algorithm(Collective::reduce_scatter_block, name), {}};
    };
    const Decision decision{{candidate("native")}, "",
                            {{candidate("direct"), 10}, {candidate("native"), 10}, {candidate("native_reduce_scatter"), 11},
                             {candidate("pairwise"), 11}, {candidate("ring"), 12}, {candidate("circulant"), 13},
                             {candidate("pat"), 14}, {candidate("native_allreduce"), 14}}};
    std::set<std::string_view> tried;
    for (const Prospect& each : outlook_for(shape, decision, network, {}, {}).arms)
        tried.insert(each.arm.candidate.algorithm->name);
    EXPECT_EQ(tried, (std::set<std::string_view>{"native", "direct", "pairwise", "ring", "circulant", "native_allreduce",
                                                 "native_reduce_scatter"}));
}

// Fault: left out, as what is predicted to be slower. Then a warm job never runs what an earlier one measured to be best.
TEST(Outlook, HasWhatAnEarlierJobMeasuredToBeBestWhateverIsPredictedOfIt) {
    const CallShape shape{.collective = Collective::broadcast, .length_bytes = 1 << 20};
    const auto network = eight_ranks_on(8);
    const Decision decision = decide(shape, network, {});
    const Candidate slow = decision.considered.back().candidate;
    const auto has_it = [&](const std::optional<Candidate>& preferred) {
        const Outlook outlook = outlook_for(shape, decision, network, {}, {}, preferred);
        return std::ranges::count(outlook.arms, slow, [](const Prospect& each) { return each.arm.candidate; });
    };
    ASSERT_EQ(has_it({}), 0);
    EXPECT_EQ(has_it(slow), 1);
    EXPECT_EQ(has_it(decision.chosen.candidate), 0);
}

// Of one algorithm the parameters for both regimes were tried alone, which over idle connections take 1.09 times as long:
// those were chosen for good, in calls with pauses in between.
TEST(Outlook, HasWhatIdleConnectionsAreBestServedBy) {
    const CallShape shape{.collective = Collective::allreduce, .length_bytes = 1 << 19, .unit_bytes = 4};
    const auto network = ranks_on(test::six_sites_over_tcp());
    const Decision decision = decide(shape, network, {});
    const Outlook outlook = outlook_for(shape, decision, network, {}, {});
    const auto is_chosen = [&](const Prospect& each) { return each.arm.candidate == decision.chosen.candidate; };
    const auto chosen = std::ranges::find_if(outlook.arms, is_chosen);
    ASSERT_NE(chosen, outlook.arms.end()) << to_string(decision.chosen.candidate);
    EXPECT_TRUE(std::ranges::any_of(outlook.arms, [&](const Prospect& each) {
        return each.arm.candidate.algorithm == decision.chosen.candidate.algorithm && each.warm_us < chosen->warm_us;
    })) << "nothing to see";
}

// Fault: left out, as far too slow over idle connections; most programs' calls find others.
TEST(Outlook, HasWhatIsBestOverConnectionsInUse) {
    const CallShape shape{.collective = Collective::allgather, .length_bytes = 43'690, .unit_bytes = 1};
    const auto network = ranks_on(test::six_sites_over_tcp());
    const Decision cold = decide(shape, network, {});
    const Algorithm* const best = decide(shape, ranks_on(test::six_sites()), {}).chosen.candidate.algorithm;
    ASSERT_TRUE(std::ranges::none_of(cold.considered, [&](const Evaluated& each) {
        return each.candidate.algorithm == best;
    })) << "nothing to see";
    const Outlook outlook = outlook_for(shape, cold, network, {}, {});
    const auto found = std::ranges::find_if(outlook.arms, [&](const Prospect& each) {
        return each.arm.candidate.algorithm == best;
    });
    ASSERT_NE(found, outlook.arms.end()) << best->name;
    EXPECT_GT(found->cold_us, 3 * cold.considered.front().predicted_us);
    EXPECT_LT(found->warm_us, found->cold_us);
}

// Faults: never, so that a probe that connects a rank to all others is tried at once; always, so that it waits for what
// the MPI library's own calls have done; and what connects few ranks is left out for short messages.
TEST(Outlook, CountsWhatConnectingTakesWhereNativeHasNotConnected) {
    Network sites = test::six_sites_over_tcp();
    sites.transport.buffered_limit_bytes = 128;
    const auto network = ranks_on(sites);
    const auto connecting_us = [&](Collective collective, std::size_t length_bytes, std::string_view name) {
        const CallShape shape{.collective = collective, .length_bytes = length_bytes, .unit_bytes = 1};
        const Outlook outlook = outlook_for(shape, decide(shape, network, {}), network, {}, {});
        const auto arm = std::ranges::find(outlook.arms, find_algorithm(collective, name),
                                           [](const Prospect& each) { return each.arm.candidate.algorithm; });
        return arm == outlook.arms.end() ? -1 : arm->connecting_us;
    };
    EXPECT_GT(connecting_us(Collective::alltoall, 256, "linear"), 3e6);
    EXPECT_EQ(connecting_us(Collective::alltoall, 1024, "linear"), 0);
    EXPECT_EQ(connecting_us(Collective::allgather, 1024, "groups"), 0);
}

constexpr double never = std::numeric_limits<double>::infinity();

/// Latencies only, as between sites.
Network random_latencies(unsigned seed, int host_count) {
    return {host_count, test::random_network(seed, host_count).latency_us()};
}

double last_arrival_us(const Tree& tree, const Network& network) {
    return std::ranges::max(arrivals_us(tree, network, 0));
}

// Caught when planted: tolerance not looked at.
TEST(Renewal, KeepsATreeThatIsNearlyAsFastAsTheBest) {
    int kept = 0;
    for (unsigned seed = 0; seed < 300; ++seed) {
        const Network before = random_latencies(seed, 10);
        const Tree present = *shortest_path_tree(before, 0, 24);
        Network now = before;
        std::mt19937 random(seed);
        for (int change = 0; change < 4; ++change) {
            const int a = static_cast<int>(random() % 10);
            const int b = (a + 1 + static_cast<int>(random() % 9)) % 10;
            now.set_both(a, b, Link{.latency_us = now.link(a, b).latency_us * 4});
        }
        const auto renewal = renew(present, one_on_each(now), 24, 10);
        ASSERT_TRUE(renewal);
        const double bound = test::farthest_us(now, 0);
        const bool near = last_arrival_us(present, now) <= 1.1 * bound;
        EXPECT_NEAR(renewal->best_us, bound, 1e-6);
        EXPECT_NEAR(renewal->predicted_us, last_arrival_us(renewal->tree, now), 1e-6);
        EXPECT_LE(renewal->predicted_us, near ? 1.1 * bound + 1e-6 : bound + 1e-6);
        EXPECT_EQ(renewal->tree == present, near) << seed;
        EXPECT_EQ(renewal->kept, near) << seed;
        kept += near ? 1 : 0;
    }
    EXPECT_GT(kept, 50);
    EXPECT_LT(kept, 250);
}

TEST(Renewal, FollowsAHostThatTheOldTreeCannotReach) {
    Network network = random_latencies(1, 6);
    const Tree present = *shortest_path_tree(network, 0, 24);
    for (int host = 1; host < 6; ++host) {
        const int parent = present.parent[static_cast<std::size_t>(host)];
        network.set_both(host, parent, Link{.latency_us = never});
    }
    EXPECT_FALSE(predict_tree(present, one_on_each(network), 24));
    const auto renewal = renew(present, one_on_each(network), 24);
    ASSERT_TRUE(renewal);
    EXPECT_TRUE(std::isfinite(renewal->predicted_us));
    for (int host = 1; host < 6; ++host) network.set_both(host, 0, Link{.latency_us = never});
    EXPECT_FALSE(renew(present, one_on_each(network), 24)) << "nobody can be reached";
}

}  // namespace
}  // namespace mutirao
