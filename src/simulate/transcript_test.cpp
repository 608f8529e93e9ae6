#include "simulate/transcript.h"

#include <gtest/gtest.h>

#include "simulate/executions.h"

namespace mutirao::simulate {
namespace {

using Choice = GhsWorld::Choice;

const Graph triangle = weighted(3, {{0, 1}, {1, 2}, {0, 2}}, {1, 2, 4});

TEST(Transcript, TellsWhatHappensAndCanStopBeforeTheLastChoice) {
    const Choice wake{Choice::Kind::wake, -1, 0};
    const Choice deliver{Choice::Kind::deliver, 0, 1};
    EXPECT_EQ(transcript(ghs_world(triangle), {wake, deliver}),
              "0 wakes up\n0: sleeping -> found\n0: branches to 1\n"
              "0 -> 1 connect(level 0, knows 0)\n");
}

// Random executions on graphs of up to 200 hosts: some hundreds of seeds, or as many as
// MUTIRAO_SEEDS says (the long run takes 10,000). A failure names its seed and tells the story;
// MUTIRAO_FIRST_SEED=that MUTIRAO_SEEDS=1 replays it.

constexpr int most_hosts = 200;
constexpr std::uint64_t default_seeds = 1000;

TEST(RandomWalk, BuildsTheSpanningTreeOnLargeGraphs) {
    for (const std::uint64_t seed : seeds(default_seeds)) {
        const Graph graph = random_graph(most_hosts, seed);
        const SpanningTreeRules rules(graph);
        // Each message is delivered once and each host wakes at most once.
        const double most_steps = rules.most_messages() + 2 * graph.hosts;
        walk(ghs_world(graph), rules, seed, most_steps, in_short(graph),
             [&](const auto& walk) { return rules.objection(walk.counts()); });
        if (HasFatalFailure()) return;
    }
}

}  // namespace
}  // namespace mutirao::simulate
