// Random executions on graphs of up to 200 hosts: some hundreds of seeds, or as many as
// MUTIRAO_SEEDS says (the long run takes 10,000). A failure names its seed and tells the story;
// MUTIRAO_FIRST_SEED=that MUTIRAO_SEEDS=1 replays it.
#include "simulate/random_walk.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "simulate/abort_note.h"
#include "simulate/transcript.h"

namespace mutirao::simulate {
namespace {

constexpr int most_hosts = 200;
constexpr std::uint64_t default_seeds = 1000;

std::uint64_t from_environment(const char* name, std::uint64_t otherwise) {
    const char* text = std::getenv(name);
    return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

/// The last lines: the whole story of a large graph has ten thousands.
std::string ending(const std::string& story) {
    constexpr std::size_t most_lines = 200;
    std::size_t at = story.size();
    for (std::size_t lines = 0; lines <= most_lines && at != std::string::npos && at > 0; ++lines)
        at = story.rfind('\n', at - 1);
    return at == std::string::npos || at == 0 ? story : "...\n" + story.substr(at + 1);
}

std::string story(const Graph& graph, const std::vector<GhsWorld::Choice>& path,
                  std::uint64_t seed) {
    return "seed " + std::to_string(seed) + ", " + std::to_string(graph.hosts) + " hosts, " +
           std::to_string(graph.edges.size()) + " links\n" +
           ending(transcript(ghs_world(graph), path, true));
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
    const std::uint64_t first = from_environment("MUTIRAO_FIRST_SEED", 1);
    const std::uint64_t count = from_environment("MUTIRAO_SEEDS", default_seeds);
    for (std::uint64_t seed = first; seed < first + count; ++seed) {
        walk(random_graph(most_hosts, seed), seed);
        if (HasFatalFailure()) return;
    }
}

}  // namespace
}  // namespace mutirao::simulate
