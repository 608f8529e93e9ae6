#include "core/algorithms/reduction.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "core/algorithms/over_placement.h"
#include "core/algorithms/shape.h"
#include "core/algorithms/test_requests.h"
#include "core/collectives/collective.h"
#include "core/schedule/checker.h"
#include "core/schedule/predictor.h"
#include "core/schedule/step_graph.h"

namespace mutirao {
namespace {

TEST(Groups, AreNeighboursOfNearlyEqualNumber) {
    for (int size = 1; size <= 40; ++size) {
        for (int count = 1; count <= size; ++count) {
            const Groups groups(size, count, size / 3);
            EXPECT_EQ(groups.first(0), 0);
            EXPECT_EQ(groups.first(count), size);
            for (int group = 0; group < count; ++group) {
                const int members = groups.first(group + 1) - groups.first(group);
                EXPECT_GE(members, size / count);
                EXPECT_LE(members, (size - 1) / count + 1);
                EXPECT_EQ(groups.of(groups.leader(group)), group);
                for (int rank = groups.first(group); rank < groups.first(group + 1); ++rank) {
                    EXPECT_EQ(groups.of(rank), group);
                }
            }
            EXPECT_TRUE(groups.leads(size / 3));
        }
    }
}

TEST(LargestPower, IsNotBeyondItsLimit) {
    EXPECT_EQ(largest_power(2, 1), 1);
    EXPECT_EQ(largest_power(2, 2), 2);
    EXPECT_EQ(largest_power(2, 63), 32);
    EXPECT_EQ(largest_power(3, 27), 27);
    EXPECT_EQ(largest_power(8, 511), 64);
    EXPECT_EQ(largest_power(2, 2147483647), 1 << 30);
}

/// One rank combines the operands of all.
Schedule combined(int rank, int size, std::size_t length) {
    Dataflow flow;
    Partial partial = whole_message(flow, {.rank = rank, .size = size, .length_bytes = length},
                                    true);
    partial.combine(ranks_from(0, rank), ranks_from(rank + 1, size));
    return std::move(flow).take();
}

// Otherwise a reduction of long messages at the root would need all of them at once.
TEST(Partial, KeepsAFewLongMessagesAtATimeAndAllShortOnes) {
    EXPECT_LE(combined(50, 100, 10'000'000).scratch_bytes(), 40'000'000u);
    const Schedule shorter = combined(50, 100, 64);
    for (const Step& step : shorter.steps()) {
        if (step.kind != StepKind::receive) continue;
        EXPECT_TRUE(shorter.dependencies(step).empty());
    }
}

// What the files of the reducing collectives claim of depth and load, which the proofs of the
// catalogue do not see.

std::vector<Schedule> schedules_of(Collective collective, std::string_view text, int size,
                                   std::size_t length_bytes, bool commutes) {
    const Candidate candidate = parse_candidate(collective, text).candidate.value();
    const int root = row_of(collective).rooted ? size / 2 : 0;
    return test::build_all(candidate,
                           {.collective = collective, .root = root, .length_bytes = length_bytes,
                            .op = {.commutes = commutes}},
                           size, {});
}

/// Messages in a row before the last step, whatever each of them takes.
int depth_of(const std::vector<Schedule>& schedules) {
    const StepGraph graph(schedules);
    std::vector<int> depth(graph.node_count(), 0);
    // Repeated until nothing changes: slow, but it needs no order of the steps.
    for (bool changed = true; changed;) {
        changed = false;
        const auto raise = [&](StepIndex step, int least) {
            changed = changed || depth[step] < least;
            depth[step] = std::max(depth[step], least);
        };
        for (StepIndex step = 0; step < graph.node_count(); ++step) {
            const auto& node = graph.nodes[step];
            if (node.step->kind == StepKind::send) raise(node.partner, depth[step] + 1);
            // What waits for a send only needs its memory.
            if (node.step->kind == StepKind::send) continue;
            for (const StepIndex later : graph.dependents(step)) raise(later, depth[step]);
        }
    }
    return depth.empty() ? 0 : *std::max_element(depth.begin(), depth.end());
}

int depth_of(Collective collective, std::string_view text, int size, bool commutes = true) {
    return depth_of(schedules_of(collective, text, size, 1000, commutes));
}

/// The most bytes that any rank sends or receives.
std::size_t port_load(const std::vector<Schedule>& schedules) {
    std::size_t most = 0;
    for (const Schedule& schedule : schedules) {
        std::size_t sent = 0;
        std::size_t received = 0;
        for (const Step& step : schedule.steps()) {
            if (step.kind == StepKind::send) sent += step.source.length_bytes;
            if (step.kind == StepKind::receive) received += step.target.length_bytes;
        }
        most = std::max({most, sent, received});
    }
    return most;
}

/// The most messages that any rank sends.
std::size_t most_sends(const std::vector<Schedule>& schedules) {
    std::size_t most = 0;
    for (const Schedule& schedule : schedules) {
        const auto sends =
            std::count_if(schedule.steps().begin(), schedule.steps().end(),
                          [](const Step& step) { return step.kind == StepKind::send; });
        most = std::max(most, static_cast<std::size_t>(sends));
    }
    return most;
}

TEST(ReductionClaims, DepthsOfReduceAndScans) {
    using enum Collective;
    for (int size = 2; size <= 40; ++size) {
        const int log2 = test::ceiling_log(size, 2);
        EXPECT_EQ(depth_of(reduce, "flat", size), 1);
        EXPECT_LE(depth_of(reduce, "k_nomial:radix=2", size), log2);
        EXPECT_LE(depth_of(reduce, "k_nomial:radix=2", size, false), log2 + 1);
        EXPECT_LE(depth_of(reduce, "k_nomial:radix=8", size), test::ceiling_log(size, 8));
        EXPECT_EQ(depth_of(reduce, "chain", size), size - 1);
        EXPECT_LE(depth_of(reduce, "in_order_binary", size), 1 + log2);
        EXPECT_LE(depth_of(reduce, "circulant", size), log2);
        EXPECT_LE(depth_of(reduce, "circulant:segment_bytes=256", size), log2 + 4 - 1);
        EXPECT_LE(depth_of(reduce, "rabenseifner", size),
                  2 * (log2 - (is_power_of_two(size) ? 0 : 1)) + (is_power_of_two(size) ? 0 : 1));
        const Placement runs = runs_on_hosts(test::some_placement(size));
        for (const Collective each : {scan, exscan}) {
            EXPECT_EQ(depth_of(each, "linear", size), size - 1);
            EXPECT_LE(depth_of(each, "recursive_doubling", size), log2);
            EXPECT_EQ(depth_of(each, "direct", size), 1);
            EXPECT_EQ(depth_of(each, "direct_shares", size), each == exscan && size == 2 ? 1 : 2);
            EXPECT_LE(depth_of(each, "two_level", size),
                      2 * test::ceiling_log(runs.most_ranks_on_a_host(), 2) +
                          test::ceiling_log(runs.host_count(), 2));
        }
    }
}

// An equal sign stands where no operand takes a shorter way than the others.
TEST(ReductionClaims, DepthsOfAllreduceAndReduceScatter) {
    using enum Collective;
    for (int size = 2; size <= 40; ++size) {
        const int log2 = test::ceiling_log(size, 2);
        const int floor_log2 = is_power_of_two(size) ? log2 : log2 - 1;
        const int folding = is_power_of_two(size) ? 0 : 2;
        EXPECT_LE(depth_of(allreduce, "recursive_doubling", size), floor_log2 + folding);
        EXPECT_LE(depth_of(allreduce, "rabenseifner", size), 2 * floor_log2 + folding);
        EXPECT_EQ(depth_of(allreduce, "ring", size), 2 * (size - 1));
        EXPECT_LE(depth_of(allreduce, "circulant", size), 2 * log2);
        EXPECT_EQ(depth_of(allreduce, "direct", size), 1);
        EXPECT_EQ(depth_of(allreduce, "direct_shares", size), 2);
        EXPECT_LE(depth_of(allreduce, "reduce_broadcast:radix=2", size), 2 * log2);
        const int hosts = test::some_placement(size).host_count();
        EXPECT_LE(depth_of(allreduce, "multi_lane", size), 2 * test::ceiling_log(hosts, 2) + 2);
        EXPECT_EQ(depth_of(reduce_scatter_block, "direct", size), 1);
        EXPECT_LE(depth_of(reduce_scatter_block, "recursive_halving", size),
                  floor_log2 + folding);
        EXPECT_EQ(depth_of(reduce_scatter_block, "ring", size), size - 1);
        EXPECT_LE(depth_of(reduce_scatter_block, "circulant", size), log2);
        EXPECT_LE(depth_of(reduce_scatter_block, "reduce_scatter:radix=2", size), 2 * log2);
        for (const std::string_view text : {"pat:radix=2", "pat:radix=64"}) {
            EXPECT_LE(depth_of(reduce_scatter_block, text, size), log2);
        }
    }
    EXPECT_EQ(depth_of(allreduce, "recursive_multiplying:radix=4", 16), 2);
    EXPECT_EQ(depth_of(allreduce, "recursive_multiplying:radix=4", 12), 2);
    EXPECT_EQ(depth_of(allreduce, "recursive_multiplying:radix=8", 7), 1);
    EXPECT_LE(depth_of(allreduce, "recursive_multiplying:radix=3", 11), 4);
}

TEST(ReductionClaims, AllreduceTakesATreeThatHangsFromAnyRank) {
    const Algorithm* row = find_algorithm(Collective::allreduce, "tree");
    const CallShape shape{.collective = Collective::allreduce, .length_bytes = 1000};
    for (int size = 1; size <= 12; ++size) {
        for (int root = 0; root < size; ++root) {
            for (const TreeKind kind : row->trees) {
                const Tree tree = test::random_tree(kind, size, root);
                const Candidate candidate{row, {.segment_bytes = 300, .tree = kind}};
                const CheckResult result =
                    check(test::build_all(candidate, shape, size, tree), row_of(shape.collective).promise(shape, size));
                EXPECT_TRUE(result) << "ranks " << size << ", root " << root << ": "
                                    << result.reason;
            }
        }
    }
}

// One message a round, or two where the blocks go round the end of the operand.
TEST(ReductionClaims, CirculantTakesFewMessages) {
    for (int size = 2; size <= 40; ++size) {
        const auto most = static_cast<std::size_t>(2 * test::ceiling_log(size, 2));
        EXPECT_LE(most_sends(schedules_of(Collective::reduce_scatter_block, "circulant", size, 8,
                                          true)),
                  most)
            << size;
    }
}

// Each rank sends a segment once, and gets no more than one in a round.
TEST(ReductionClaims, CirculantReducesWithASegmentARound) {
    constexpr std::size_t segment = 256;
    constexpr std::size_t segments = 4;
    for (int size = 2; size <= 40; ++size) {
        const auto log2 = static_cast<std::size_t>(test::ceiling_log(size, 2));
        const auto schedules = schedules_of(Collective::reduce, "circulant:segment_bytes=256", size,
                                            segments * segment, true);
        EXPECT_EQ(most_sends(schedules), segments) << size;
        EXPECT_LE(port_load(schedules), (segments - 1 + log2) * segment) << size;
    }
}

// Seen to fail without a bound on how far a rank may be ahead.
TEST(ReductionClaims, CirculantReducesAsFastAsItBroadcasts) {
    constexpr int size = 24;
    Network network(size);
    for (int a = 0; a < size; ++a) {
        network.set_host(a, {0, 0, 1000});
        for (int b = 0; b < size; ++b) {
            if (a != b) network.set_link(a, b, {50, 1000});
        }
    }
    const auto predicted_us = [&](Collective collective) {
        return predict(schedules_of(collective, "circulant:segment_bytes=32768", size, 8 << 20, true),
                       network)
            .completion_us;
    };
    EXPECT_LE(predicted_us(Collective::reduce), 1.2 * predicted_us(Collective::broadcast));
}

// One message for each step, unless more blocks are due than may share one.
TEST(ReductionClaims, AggregatedTreesTakeFewMessages) {
    const Collective each = Collective::reduce_scatter_block;
    EXPECT_EQ(most_sends(schedules_of(each, "pat:radix=64", 33, 8, true)), 6u);
    EXPECT_EQ(most_sends(schedules_of(each, "pat:radix=4", 32, 8, true)), 1u + 1u + 1u + 2u + 4u);
    EXPECT_EQ(most_sends(schedules_of(each, "pat:radix=16", 32, 8, true)), 5u);
    EXPECT_EQ(most_sends(schedules_of(Collective::allgather, "sparbit", 32, 8, true)), 31u);
}

TEST(ReductionClaims, LongMessagesLoadPortsAsLittleAsPossible) {
    using enum Collective;
    constexpr std::size_t block = 64;
    for (int size = 2; size <= 33; ++size) {
        const auto ranks = static_cast<std::size_t>(size);
        for (const std::string_view name : {"ring", "circulant", "rabenseifner", "direct_shares"}) {
            if (name == "rabenseifner" && !is_power_of_two(size)) continue;
            EXPECT_EQ(port_load(schedules_of(allreduce, name, size, ranks * block, true)),
                      2 * (ranks - 1) * block)
                << name << ", ranks " << size;
        }
        for (const std::string_view name :
             {"direct", "pairwise", "ring", "circulant", "pat:radix=4", "recursive_halving"}) {
            if (name == "recursive_halving" && !is_power_of_two(size)) continue;
            EXPECT_EQ(port_load(schedules_of(reduce_scatter_block, name, size, block, true)),
                      (ranks - 1) * block)
                << name << ", ranks " << size;
        }
        for (const Collective each : {scan, exscan}) {
            EXPECT_EQ(port_load(schedules_of(each, "direct_shares", size, ranks * block, true)),
                      2 * (ranks - 1) * block)
                << "ranks " << size;
        }
    }
}

}  // namespace
}  // namespace mutirao
