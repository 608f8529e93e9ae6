#include "simulate/transcript.h"

#include <gtest/gtest.h>

#include "simulate/failures.h"
#include "simulate/random_walk.h"

namespace mutirao::simulate {
namespace {

using Choice = GhsWorld::Choice;

const Graph triangle = weighted(3, {{0, 1}, {1, 2}, {0, 2}}, {1, 2, 4});

TEST(Transcript, TellsWhatHappensAndCanStopBeforeTheLastChoice) {
    const Choice wake{Choice::Kind::wake, -1, 0};
    const Choice deliver{Choice::Kind::deliver, 0, 1};
    EXPECT_EQ(transcript(ghs_world(triangle), {wake, deliver}, true),
              "0 wakes up\n0: sleeping -> found\n0: link to 1 basic -> branch\n"
              "0 -> 1 connect(level 0, knows 0)\n");
}

// Random executions on graphs of up to 200 hosts: some hundreds of seeds, or as many as
// MUTIRAO_SEEDS says (the long run takes 10,000). A failure names its seed and tells the story;
// MUTIRAO_FIRST_SEED=that MUTIRAO_SEEDS=1 replays it.

constexpr int most_hosts = 200;
constexpr std::uint64_t default_seeds = 1000;

std::string story(const Graph& graph, const std::vector<GhsWorld::Choice>& path,
                  std::uint64_t seed) {
    return "seed " + std::to_string(seed) + ", " + std::to_string(graph.hosts) + " hosts, " +
           std::to_string(graph.edges.size()) + " links\n" +
           last_lines(transcript(ghs_world(graph), path, true));
}

void walk(const Graph& graph, std::uint64_t seed) {
    const SpanningTreeRules rules(graph);
    RandomWalk walk(ghs_world(graph), rules, seed);
    const AbortNote note([&] { return story(graph, walk.path(), seed); });
    // Each message is delivered once and each host wakes at most once.
    const auto most_steps = static_cast<std::size_t>(rules.most_messages()) +
                            2 * static_cast<std::size_t>(graph.hosts);
    if (const auto failure = walk.run(most_steps))
        FAIL() << failure->reason << "\n" << story(graph, failure->path, seed);
    ASSERT_EQ(rules.objection(walk.counts()), "") << story(graph, walk.path(), seed);
}

TEST(RandomWalk, BuildsTheSpanningTreeOnLargeGraphs) {
    for (const std::uint64_t seed : seeds(default_seeds)) {
        walk(random_graph(most_hosts, seed), seed);
        if (HasFatalFailure()) return;
    }
}

}  // namespace
}  // namespace mutirao::simulate
