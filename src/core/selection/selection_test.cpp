#include "core/selection/selection.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <tuple>

#include "core/algorithms/over_placement.h"
#include "core/algorithms/test_requests.h"
#include "core/collectives/collective.h"
#include "core/network/test_networks.h"
#include "core/network/tree.h"
#include "core/schedule/test_checker.h"
#include "core/selection/estimate.h"
#include "core/selection/test_candidates.h"

namespace mutirao {
namespace {

using test::all_candidates;
using test::ranks_on;
using test::topology_of;

constexpr double infinity = std::numeric_limits<double>::infinity();

Topology six_sites() { return topology_of(test::six_sites_with_costs()); }

/// All links alike and nothing else costs anything.
Topology uniform(int host_count) {
    return topology_of(test::uniform_network(host_count, {.latency_us = 100}));
}

Settings forcing(std::string_view text) {
    Settings settings;
    const auto candidate = parse_candidate(Collective::broadcast, text).candidate;
    EXPECT_TRUE(candidate) << text;
    settings.force(*candidate);
    return settings;
}

double chosen_us(const Decision& decision) {
    for (const Evaluated& each : decision.considered) {
        if (each.candidate == decision.chosen.candidate) return each.predicted_us;
    }
    return infinity;
}

std::shared_ptr<const RankNetwork> ranks_on(const Topology& topology) {
    return std::make_shared<const RankNetwork>(test::one_rank_per_host(topology));
}

/// With one rank per host, each of its host's number.
Decision decide_broadcast(const Topology& topology, const Settings& settings, int root,
                          std::size_t length_bytes, const std::optional<Arm>& present = {}) {
    return decide({.root = root, .length_bytes = length_bytes}, ranks_on(topology), settings, present);
}

TEST(Selection, SmallMessageComesCloseToThePhysicalBoundFromEveryRoot) {
    const Topology topology = six_sites();
    for (int root = 0; root < 24; ++root) {
        const Decision decision = decide_broadcast(topology, {}, root, 24);
        const double bound_us = test::farthest_us(topology.network, root);
        EXPECT_GE(chosen_us(decision), bound_us) << root;
        EXPECT_LE(chosen_us(decision), 1.03 * bound_us) << root << " " << decision.reason;
        EXPECT_GE(decision.bound_us.value(), bound_us);
        EXPECT_LE(decision.bound_us.value(), decision.considered.front().predicted_us);
    }
}

TEST(Selection, ConsidersFastestFirstAndSaysWhatItChose) {
    const Decision decision = decide_broadcast(six_sites(), {}, 12, 1 << 20);
    ASSERT_FALSE(decision.considered.empty());
    EXPECT_TRUE(std::is_sorted(decision.considered.begin(), decision.considered.end(),
                               [](const Evaluated& a, const Evaluated& b) {
                                   return a.predicted_us < b.predicted_us;
                               }));
    EXPECT_EQ(decision.chosen.candidate, decision.considered.front().candidate);
    EXPECT_NE(decision.reason.find("native"), std::string::npos) << decision.reason;
}

// On two hosts every algorithm is the same single message. Catches native entering last, a missing margin, and that of
// broadcasts taken for all: the way by host 1 beats native by that.
TEST(Selection, NativeWinsTiesAndWhatIsNearlyOne) {
    EXPECT_TRUE(decide_broadcast(uniform(2), {}, 0, 24).chosen.candidate.algorithm->native());
    for (const auto& [collective, far_us, is_native] :
         {std::tuple{Collective::broadcast, 1010.0, true}, {Collective::broadcast, 1100.0, false},
          {Collective::reduce, 1050.0, true}, {Collective::reduce, 1200.0, false}}) {
        Network network(3);
        network.set_both(0, 1, {.latency_us = 1000});
        network.set_both(0, 2, {.latency_us = far_us});
        network.set_both(1, 2, {.latency_us = 1});
        const Decision decision =
            decide({.collective = collective, .length_bytes = 24}, ranks_on(network), {});
        EXPECT_EQ(decision.chosen.candidate.native(), is_native) << to_string(collective) << ": " << decision.reason;
        EXPECT_FALSE(decision.considered.front().candidate.native());
    }
}

TEST(Selection, OneHostIsNative) {
    const Decision decision = decide_broadcast(topology_of(Network(1)), {}, 0, 1 << 20);
    EXPECT_TRUE(decision.chosen.candidate.algorithm->native());
    EXPECT_EQ(decision.reason, "one host");
    EXPECT_FALSE(decision.considered.empty());  // for trials
}

TEST(Selection, NoTreeIsNative) {
    Topology topology = six_sites();
    topology.spanning_tree.clear();
    const Decision free = decide_broadcast(topology, {}, 0, 24);
    EXPECT_TRUE(free.chosen.candidate.algorithm->native());
    EXPECT_EQ(free.reason, "the hosts have no spanning tree");
    for (const char* text : {"tree:kind=mst", "tree:kind=greedy", "two_level"}) {
        const Decision forced = decide_broadcast(topology, forcing(text), 0, 24);
        EXPECT_TRUE(forced.chosen.candidate.algorithm->native()) << text;
        EXPECT_NE(forced.reason.find("has no tree: "), std::string::npos) << forced.reason;
    }
    EXPECT_EQ(decide_broadcast(topology, forcing("chain"), 0, 24).chosen.candidate.algorithm->name, "chain");
}

TEST(Selection, TheForcedAlgorithmRunsWithItsParameters) {
    for (const char* text : {"native", "flat", "chain:segment_bytes=4096", "tree:kind=greedy"}) {
        const Settings settings = forcing(text);
        for (const Topology& topology : {six_sites(), uniform(2), uniform(1)}) {
            const Decision decision = decide_broadcast(topology, settings, 0, 1 << 20);
            EXPECT_EQ(decision.chosen.candidate, *settings.forced(Collective::broadcast)) << text;
        }
    }
}

// The tree must go round a link that lets nothing through; what cannot, is not considered.
TEST(Selection, LeavesOutWhatNeedsAnUnusableLink) {
    Topology topology = six_sites();
    for (int host = 8; host < 12; ++host) {
        topology.network.set_link(12, host, {.latency_us = infinity});
    }
    const Decision decision = decide_broadcast(topology, {}, 12, 24);
    EXPECT_LT(chosen_us(decision), infinity) << decision.reason;
    for (const Evaluated& each : decision.considered) {
        EXPECT_NE(each.candidate.algorithm->name, "flat");
    }
}

TEST(Selection, KeepsATreeThatASmallChangeLeavesGood) {
    const Topology before = six_sites();
    const Decision present = decide_broadcast(before, {}, 12, 24);
    ASSERT_TRUE(present.chosen.tree);
    // Every other link gets a little shorter: the best tree is another one, by a hair.
    Network network = before.network;
    for (int host = 1; host < 24; host += 2) {
        Link link = network.link(12, host);
        link.latency_us *= 0.99;
        network.set_both(12, host, link);
    }
    const Topology after = topology_of(network);
    EXPECT_NE(present.chosen, decide_broadcast(after, {}, 12, 24).chosen);
    const Decision kept = decide_broadcast(after, {}, 12, 24, present.chosen);
    EXPECT_EQ(present.chosen, kept.chosen) << kept.reason;
}

TEST(Selection, SitesThatDoNotFitGiveNoTwoLevelTree) {
    Topology topology = six_sites();
    topology.site_of.pop_back();
    EXPECT_FALSE(make_tree(topology, TreeKind::two_level, 0, 24));
    EXPECT_TRUE(make_tree(topology, TreeKind::minimum_spanning, 0, 24));
}

/// Over three groups: what is found is as fast as all others that own eighths of the message, as whole schedules are
/// predicted.
void expect_no_other_is_clearly_faster(const Network& network, std::size_t length_bytes) {
    constexpr int step = owned_parts / 8;
    const Candidate candidate{find_algorithm(Collective::allreduce, "groups_twice"),
                              {.spread = most_useful_spread, .tree = TreeKind::regions_uneven}};
    const CallShape shape{.collective = Collective::allreduce, .length_bytes = length_bytes, .unit_bytes = 8};
    const auto ranks = ranks_on(topology_of(network));
    Arm arm = arm_for(candidate, shape, *ranks).value();
    ASSERT_EQ(arm.tree->owned.size(), 3U);
    const double found_us = estimate(arm, shape, *ranks).time_us.value();
    double least_us = infinity;
    for (int first = 0; first <= owned_parts; first += step) {
        for (int second = 0; first + second <= owned_parts; second += step) {
            arm.tree->owned = {first, second, owned_parts - first - second};
            least_us = std::min(least_us, estimate(arm, shape, *ranks).time_us.value());
        }
    }
    EXPECT_LE(found_us, 1.05 * least_us) << length_bytes;
}

TEST(Ownership, NoOtherIsClearlyFaster) {
    for (const std::size_t mebibytes : {1, 4, 16}) {
        expect_no_other_is_clearly_faster(test::six_sites_over_tcp(), mebibytes << 20);
    }
}

// Seen at 1.10 times the least while groups were thought to begin at once.
TEST(Ownership, KnowsHowLongAWideGroupCombinesInside) {
    constexpr double between_us[] = {80'000, 90'000, 60'000};  // from the wide group to the others, and between these
    Network network = test::network_of(6, [&](int a, int b) {
        const int first = a / 2, second = b / 2;
        if (first == second) return Link{.latency_us = first == 0 ? 30'000.0 : 500.0};
        return Link{.latency_us = between_us[first + second - 1]};
    });
    network.transport = test::six_sites_over_tcp().transport;
    expect_no_other_is_clearly_faster(network, std::size_t{1} << 20);
}

// MPICH's: who owns much of what goes far would stay in the call until the last ones have told that it is there.
TEST(Ownership, KnowsThatSendsAwaitAcknowledgements) {
    Network network = test::six_sites_over_tcp();
    network.transport.eager_limit_bytes = Transport::unlimited;
    network.transport.buffered_limit_bytes = 128;
    network.transport.detached_bytes = 23'040;
    for (const std::size_t mebibytes : {1, 2, 4, 16}) {
        expect_no_other_is_clearly_faster(network, mebibytes << 20);
    }
}

TEST(Distrust, LinksThatOnlyNoiseTellsApartAreAlike) {
    const auto links_of = [](double one_us, double other_us) {
        Network network(3);
        network.set_both(0, 1, {.latency_us = one_us});
        for (const int host : {0, 1}) network.set_both(host, 2, {.latency_us = other_us});
        return network;
    };
    const auto distrusted = [&](double one_us, double other_us) {
        return !distrust(Collective::allreduce, links_of(one_us, other_us)).empty();
    };
    EXPECT_TRUE(distrusted(20, 100));
    EXPECT_TRUE(distrusted(300, 600));
    EXPECT_FALSE(distrusted(20, 150));
    EXPECT_FALSE(distrusted(1000, 1000));
    EXPECT_TRUE(distrust(Collective::broadcast, links_of(20, 20)).empty());
}

TEST(Candidates, AreReadableDistinctAndWorthTrying) {
    for (const std::size_t length_bytes : {std::size_t{0}, std::size_t{24}, std::size_t{100'000},
                                           std::size_t{1} << 24, std::size_t{1} << 32}) {
        const std::vector<Candidate> candidates =
            all_candidates(Collective::broadcast, length_bytes);
        ASSERT_FALSE(candidates.empty());
        EXPECT_TRUE(candidates.front().algorithm->native());
        for (auto each = candidates.begin(); each != candidates.end(); ++each) {
            const std::string text = to_string(*each);
            const auto parsed = parse_candidate(Collective::broadcast, text);
            ASSERT_TRUE(parsed.candidate) << text << ": " << parsed.error;
            EXPECT_EQ(*parsed.candidate, *each) << text;
            EXPECT_EQ(std::count(candidates.begin(), candidates.end(), *each), 1) << text;
            const std::size_t segment_bytes = each->parameters.segment_bytes;
            if (segment_bytes == 0) continue;
            EXPECT_LT(segment_bytes, length_bytes) << text;
            EXPECT_LE(length_bytes, segment_bytes * 512) << text;
        }
    }
}

// Predictions of a pipeline hardly differ by its segments where links are long and wide. Seen to fail with
// the first of them.
TEST(Decision, OfSegmentsThatAreAsFastThoseThatTcpTakesAtOnce) {
    const auto link = [](int a, int b) { return Link{.latency_us = 50'000.0 * (a - b)}; };
    Network network = test::network_of(6, link, {0.1, 0.1, 1000});
    network.transport.eager_limit_bytes = 65536;
    const Decision decision = decide({.length_bytes = 1 << 20}, ranks_on(network), {});
    ASSERT_TRUE(decision.chosen.candidate.algorithm->segmented) << to_string(decision.chosen.candidate);
    ASSERT_LT(decision.considered.front().candidate.parameters.segment_bytes, 32768U)
        << "nothing to choose between: " << to_string(decision.considered.front().candidate);
    const std::size_t segment_bytes = decision.chosen.candidate.parameters.segment_bytes;
    EXPECT_GE(segment_bytes, 32768U);
    EXPECT_LE(segment_bytes, 65536U);
}

// Fault: whatever these take.
TEST(Decision, OfSegmentsThatAreSlowerNone) {
    const auto network = ranks_on(test::uniform_network(6, {100, 125}, {5, 5, 125}));
    const Decision decision = decide({.length_bytes = 1 << 20}, network, {});
    ASSERT_TRUE(decision.chosen.candidate.algorithm->segmented) << to_string(decision.chosen.candidate);
    EXPECT_LE(chosen_us(decision), 1.02 * decision.considered.front().predicted_us) << to_string(decision.chosen.candidate);
}

// Decisions and schedules for hosts with several ranks.

/// Sites of eight hosts, a few milliseconds and a little noise apart.
std::shared_ptr<const RankNetwork> many_ranks(int hosts, int ranks_per_host) {
    std::mt19937 random(3);
    const auto link = [&](int a, int b) {
        const double latency_us = a / 8 == b / 8 ? 25 : 2000.0 * (1 + (a / 8 ^ b / 8));
        return Link{latency_us + static_cast<double>(random() % 5), 1000};
    };
    Network network = test::network_of(hosts, link, {5, 5, 1250});
    network.transport.eager_limit_bytes = 65536;
    return ranks_on(network, ranks_per_host);
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
}

void expect_promise_kept(const Candidate& candidate, const CallShape& shape,
                         const Topology& topology, const Placement& placement) {
    const auto ruling = arm_for(candidate, shape, {topology, placement});
    ASSERT_TRUE(ruling) << to_string(candidate);
    const int ranks = placement.rank_count();
    const Composer composer(ruling->candidate, shape, placement, ruling->tree_or_null());
    std::vector<Schedule> schedules;
    for (int rank = 0; rank < ranks; ++rank)
        schedules.push_back(composer.part_of(rank, test::as_known_to(shape, rank, ranks)));
    const CheckResult result = check(schedules, test::promise_of(shape, ranks));
    EXPECT_TRUE(result) << to_string(shape.collective) << '/' << to_string(candidate) << ", root "
                        << shape.root << ": " << result.reason;
}

// Seen to fail with: leaders' ranks not mapped; the lowest rank leading the root's host; a tree over hosts taken for
// one over ranks, one on each host but in another order.
TEST(Ruling, EveryCandidateKeepsItsPromiseWhereverRanksAre) {
    const std::vector<Placement> placements = {
        Placement({0, 0, 0, 0}), Placement({4, 3, 2, 1, 0}), Placement({1, 0, 2, 2, 1, 0, 0, 4, 3}),
        Placement::in_blocks(4, 2), test::random_placement(3, 5, 16)};
    for (const Placement& placement : placements) {
        const int hosts = placement.host_count();
        const Topology topology = topology_of(test::random_network(7, hosts));
        const std::vector<int> roots = {0, 2, placement.rank_count() - 1};
        for (const CollectiveRow& row : collectives) {
            const bool by_level = row.collective == Collective::broadcast;
            for (Candidate candidate : candidates_in_one_piece(row.collective)) {
                const Algorithm& algorithm = *candidate.algorithm;
                const bool between_hosts = algorithm.level == Level::hosts;
                if (!algorithm.has_schedule() ||
                    !allows(algorithm, true, between_hosts ? hosts : placement.rank_count()))
                    continue;
                if (algorithm.segmented) candidate.parameters.segment_bytes = 256;
                for (const CallShape& shape : test::shapes_for(algorithm, placement.rank_count(), roots, {1, 600})) {
                    for (const char* inside : {"flat", "binomial", "k_nomial", "chain"}) {
                        if (by_level) candidate.parameters.inside = inside;
                        expect_promise_kept(candidate, shape, topology, placement);
                        if (!by_level) break;
                    }
                }
            }
        }
    }
}

TEST(Ruling, PackedTreesAreOfRanksWhereHostsHaveSeveral) {
    for (const Placement& placement : {Placement::in_blocks(4, 2), test::random_placement(3, 5, 16)}) {
        Network network = test::random_network(7, placement.host_count());
        network.transport.initial_window_bytes = 4000;
        const Topology topology = topology_of(network);
        for (const Collective collective : {Collective::broadcast, Collective::reduce, Collective::allreduce}) {
            const Candidate candidate = parse_candidate(collective, "packed_trees").candidate.value();
            const int root = row_of(collective).rooted ? placement.rank_count() - 2 : 0;
            const CallShape shape{.collective = collective, .root = root, .length_bytes = 40'000, .unit_bytes = 4};
            expect_promise_kept(candidate, shape, topology, placement);
            const auto arm = arm_for(candidate, shape, {topology, placement});
            EXPECT_EQ(arm->tree->size(), placement.rank_count());
            EXPECT_GT(arm->tree->shares.size(), 1U);
        }
    }
}

TEST(Ruling, NativeHasNoSchedule) {
    EXPECT_FALSE(build_all(Arm{native_candidate(Collective::broadcast)}, {}, Placement({0, 0})));
}

// A rank's steps must not grow with the ranks that it has nothing to do with.
TEST(Ruling, ARanksScheduleHoldsItsOwnStepsOnly) {
    const Placement placement = Placement::in_blocks(64, 16);
    const CallShape shape{.root = 5, .length_bytes = 24};
    const Candidate binomial{find_algorithm(Collective::broadcast, "binomial"), {}};
    const Composer composer(binomial, shape, placement, nullptr);
    EXPECT_EQ(composer.part_of(5, shape).size(), 6u + 4u);
    EXPECT_EQ(composer.part_of(6, shape).size(), 1u);
    EXPECT_EQ(composer.part_of(4, shape).steps().front().kind, StepKind::receive);
}

// A decision may cost 50 ms of a processor; walking through a message takes a few microseconds at
// most, building its schedules included.
TEST(RanksDecision, AmongAThousandRanksIsCheap) {
    const auto network = many_ranks(64, 16);
    const Decision of_short = decide({.root = 17, .length_bytes = 24}, network, {});
    EXPECT_LE(of_short.predictions, 30);
    EXPECT_LE(of_short.messages, 10'000u);
    EXPECT_TRUE(of_short.considered.front().in_full);
    EXPECT_TRUE(of_short.predicted_us(native_candidate(Collective::broadcast)));
    EXPECT_GE(of_short.considered.front().predicted_us, *of_short.bound_us);
    const Decision of_long = decide({.length_bytes = std::size_t{1} << 26}, network, {});
    EXPECT_LE(of_long.most_messages, 2 * most_messages_predicted) << "no single prediction is long";
    EXPECT_FALSE(of_long.considered.empty());
}

// Nine hosts of eight ranks in each site of the paper. Seen at 3 times the bound while groups were too many messages to be
// predicted, at 11 and 30 times where neighbouring blocks were with different ranks, and short ones at 3 to 4 times while
// groups were for long ones alone.
TEST(RanksDecision, OfAMessageAmongManyRanksIsNearTheBound) {
    constexpr int hosts_of_a_site = 9;
    const Network small = test::six_sites();
    Network network = test::network_of(6 * hosts_of_a_site, [&](int a, int b) {
        return small.link(4 * (a / hosts_of_a_site) + 1, 4 * (b / hosts_of_a_site));
    });
    network.transport.initial_window_bytes = Transport::ten_packets_bytes;
    const auto ranks = ranks_on(network, 8);
    for (const Collective collective :
         {Collective::allreduce, Collective::allgather, Collective::reduce_scatter_block}) {
        const std::size_t parts = collective == Collective::allreduce ? 1 : 432;
        for (const std::size_t length_bytes : {std::size_t{8}, (std::size_t{1} << 20) / parts / 4 * 4}) {
            const CallShape shape{.collective = collective, .length_bytes = length_bytes, .unit_bytes = 4};
            const Decision decision = decide(shape, ranks, {});
            EXPECT_LE(decision.considered.front().predicted_us, 1.2 * *decision.bound_us)
                << to_string(decision.chosen.candidate) << ' ' << length_bytes;
            EXPECT_LE(decision.messages, 2 * most_messages_predicted);
        }
    }
}

// Two hosts of two ranks in each site: a message that goes from host to host by one rank each has a quarter of the
// connections, and took 3.2 and 3.5 times the bound.
TEST(RanksDecision, OfALongMessageUsesTheConnectionsOfAllRanks) {
    const Network sites = test::six_sites();
    Network network = test::network_of(12, [&](int a, int b) { return sites.link(2 * a - a % 2, 2 * b - b % 2); });
    network.transport = {.initial_window_bytes = Transport::ten_packets_bytes, .header_bytes = 64};
    for (const Collective collective : {Collective::broadcast, Collective::reduce}) {
        const CallShape shape{.collective = collective, .root = 12, .length_bytes = 1 << 20, .unit_bytes = 4};
        const Decision decision = decide(shape, ranks_on(network, 2), {});
        EXPECT_LE(chosen_us(decision), 1.5 * *decision.bound_us)
            << to_string(collective) << ' ' << to_string(decision.chosen.candidate);
    }
}

// Into the farthest site 1 MiB comes over 80 connections. Where sends are acknowledged, one of the ten packets that leave
// at once is that: equal shares were one packet too many, and the call took 3.1 times the bound.
TEST(RanksDecision, OfALongReductionLeavesAtOnceInWhateverOrderSitesCome) {
    const Network sites = test::six_sites();
    for (int first = 0; first < 6; ++first) {
        const auto place = [&](int host) { return (host + 4 * first) % 24; };
        Network network =
            test::network_of(24, [&](int a, int b) { return sites.link(place(a), place(b)); });
        network.transport = {.buffered_limit_bytes = 128, .detached_bytes = 1 << 16,
                             .initial_window_bytes = Transport::ten_packets_bytes, .header_bytes = 64};
        const CallShape shape{.collective = Collective::allreduce, .length_bytes = 1 << 20, .unit_bytes = 4};
        const Decision decision = decide(shape, ranks_on(network), {});
        EXPECT_LE(chosen_us(decision), 2.3 * *decision.bound_us) << first << ' ' << to_string(decision.chosen.candidate);
    }
}

// Catches a choice by the estimate where the full prediction says otherwise.
TEST(RanksDecision, TheChosenIsAsPredictedOverAllRanks) {
    for (const std::size_t length_bytes : {24u, 100'000u, 4'000'000u}) {
        const auto network = many_ranks(16, 4);
        const CallShape shape{.root = 6, .length_bytes = length_bytes};
        const Decision decision = decide(shape, network, {});
        const auto chosen_us = predict_candidate(decision.chosen.candidate, shape, *network);
        ASSERT_TRUE(chosen_us);
        EXPECT_NEAR(decision.considered.front().predicted_us / *chosen_us, 1, 0.05)
            << to_string(decision.chosen.candidate);
        for (const Evaluated& each : decision.considered) {
            if (!each.in_full) continue;
            EXPECT_LE(decision.considered.front().predicted_us, each.predicted_us);
        }
    }
}

/// The fastest of all candidates, everything predicted in full, nothing pruned.
double best_of_all_us(const CallShape& shape, const RankNetwork& network) {
    double best_us = infinity;
    for (Candidate candidate : all_candidates(shape.collective, shape.length_bytes)) {
        for (const char* inside : {"flat", "binomial", "chain"}) {
            candidate.parameters.inside = inside;
            best_us = std::min(best_us, predict_candidate(candidate, shape, network).value_or(infinity));
            if (network.rank_count() == network.host_count()) break;
        }
    }
    return best_us;
}

// Catches pruning that drops what would have won, and estimates that leave out what matters.
TEST(RanksDecision, PruningLosesLittle) {
    const auto expect_near_best = [](const std::shared_ptr<const RankNetwork>& network, const CallShape& shape,
                                     double nearly) {
        const Decision decision = decide(shape, network, {});
        EXPECT_LE(chosen_us(decision), nearly * best_of_all_us(shape, *network))
            << shape.length_bytes << " " << to_string(decision.chosen.candidate);
    };
    std::vector<Topology> topologies{uniform(8)};
    for (unsigned seed = 0; seed < 6; ++seed)
        topologies.push_back(topology_of(test::random_network(seed, 5 + static_cast<int>(seed))));
    for (const Topology& topology : topologies) {
        for (const std::size_t length_bytes : {24u, 70'000u, 4'000'000u})
            expect_near_best(ranks_on(topology), {.root = 1, .length_bytes = length_bytes}, 1.02);
    }
    for (const unsigned seed : {1u, 2u, 3u}) {
        for (const std::size_t length_bytes : {24u, 70'000u})
            expect_near_best(std::make_shared<const RankNetwork>(topology_of(test::random_network(seed, 6)),
                                                                 test::random_placement(seed, 6, 25)),
                             {.root = 2, .length_bytes = length_bytes}, 1.03);
    }
}

// With one rank per host the numbering of ranks must not matter.
TEST(RanksDecision, RanksMayBeNumberedInAnyOrder) {
    const Topology topology = topology_of(test::six_sites());
    std::vector<int> host_of_rank;
    for (int rank = 0; rank < 24; ++rank) host_of_rank.push_back(rank * 7 % 24);
    const auto shuffled = std::make_shared<const RankNetwork>(topology, Placement(host_of_rank));
    const auto plain = ranks_on(topology);
    for (int rank = 0; rank < 24; ++rank) {
        const Decision one = decide({.root = rank, .length_bytes = 24}, shuffled, {});
        const int host = host_of_rank[static_cast<std::size_t>(rank)];
        const Decision other = decide({.root = host, .length_bytes = 24}, plain, {});
        EXPECT_EQ(one.chosen, other.chosen);
        EXPECT_EQ(one.reason, other.reason);
    }
}

// By hand: native takes 10 ms if it sends all at once, as nothing can be faster than; if it goes by rounds, as Bruck
// does, it takes 30 among eight. A loop of such calls once became 8% longer by what was as fast as that at best.
TEST(RanksDecision, TakesNothingBecauseItMightWin) {
    const auto network = ranks_on(test::uniform_network(8, {.latency_us = 10'000}));
    const Decision decision = decide({.collective = Collective::alltoall, .length_bytes = 8}, network, {});
    EXPECT_TRUE(decision.chosen.candidate.native()) << decision.reason;
    EXPECT_EQ(decision.predicted_us(decision.chosen.candidate), 10'000);
}

// Decisions on calls whose blocks are not equal.

std::shared_ptr<const RankNetwork> some_network(int hosts) {
    return ranks_on(test::random_network(3, hosts));
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
            EXPECT_EQ(made.chosen, decided.chosen) << row.name;
            EXPECT_EQ(made.reason, decided.reason) << row.name;
        }
    }
}

// There is one choice for all lengths. Seen to fail where that was `pairwise`.
TEST(UnevenBlocks, WhatIsBestForTheNominalLengthIsNearlyBestForAll) {
    constexpr double nearly = 1.05;
    for (const Network& made :
         {test::six_sites(), test::random_network(1, 7), test::random_network(2, 12)}) {
        const auto network = ranks_on(made);
        const Decision decision = decide(exchange(Collective::alltoallv, {}), network, Settings{});
        // Without the MPI library's own, which may differ.
        const auto ours = std::ranges::find_if_not(decision.considered, &Candidate::native, &Evaluated::candidate);
        ASSERT_NE(ours, decision.considered.end());
        const Candidate chosen = ours->candidate;
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

}  // namespace
}  // namespace mutirao
