// Random executions of rounds while links change, die and come back and agents die and return:
// thousands of seeds, or as many as MUTIRAO_SEEDS says (the long run takes 100,000, mostly of the
// small networks). A failure names its seed and tells the story; MUTIRAO_FIRST_SEED=that
// MUTIRAO_SEEDS=1 replays it.
//
// Planted in a copy, these faults were caught: no new round when a link of the running one breaks,
// or only while it is unusable; a round of somebody else's kept by the host that leads; news,
// calls, or the newest number not passed on; no answer to an older round; numbers of others
// unheeded; a version never sent, or only by those who took part in making it; what hosts started
// with not asked for, or taken without a new round (one seed in ten thousand); nothing told to who
// joins; steps dropped that come early, or that wait for a channel; no incarnations; links out of
// reach kept in a version; latencies that hide breaks; breaks of unusable links that count; links
// to hosts that left not told; everyone leading. Only rounds_test.cpp notices a channel that broke
// and carries on.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <numeric>

#include "simulate/abort_note.h"
#include "simulate/random_walk.h"
#include "simulate/rounds_rules.h"
#include "simulate/seeds.h"

namespace mutirao::simulate {
namespace {

/// Up to the last choice, which may be the one that aborts.
std::string story(const RoundsScript& script, const std::vector<RoundsWorld::Choice>& path,
                  std::uint64_t seed) {
    std::string text = "seed " + std::to_string(seed) + ", " + std::to_string(script.hosts) +
                       " hosts, " + (script.known ? "known" : "nothing known") + "\n";
    RoundsWorld world(script);
    for (std::size_t i = 0; i < path.size(); ++i) {
        text += world.describe(path[i]) + "\n";
        if (i + 1 < path.size()) world.apply(path[i]);
    }
    for (int host = 0; host < world.host_count(); ++host) text += world.describe(host) + "\n";
    return last_lines(text);
}

struct Totals {
    double most_messages = 0;  ///< as a share of the bound
    std::int64_t messages = 0;
};

/// Each piece of news costs a flood of itself and one of a round's call, over every link in both
/// directions, and the steps of a round.
double most_messages(const RoundsScript& script, double news) {
    const double hosts = script.hosts;
    return 4 * hosts * hosts * news;
}

/// Each measurement is one. Hosts hear of each other once, and after an event once more.
double news_on(const RoundsScript& script, const std::vector<RoundsWorld::Choice>& path) {
    const auto measured = std::ranges::count(path, RoundsWorld::Choice::Kind::measure,
                                             &RoundsWorld::Choice::kind);
    return static_cast<double>(measured) +
           script.hosts * (1.0 + static_cast<double>(script.events.size()));
}

void walk(int most_hosts, std::uint64_t seed, Totals& totals) {
    const RoundsScript script = random_rounds_script(most_hosts, seed);
    RandomWalk walk(RoundsWorld(script), RoundsRules(), seed);
    const AbortNote note([&] { return story(script, walk.path(), seed); });
    const auto events = static_cast<double>(script.events.size());
    const double most_steps = most_messages(script, script.hosts * (script.hosts + 10 + events));
    if (const auto failure = walk.run(static_cast<std::size_t>(most_steps)))
        FAIL() << failure->reason << "\n" << story(script, failure->path, seed);
    const auto& counts = walk.counts();
    const auto messages = std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
    const double bound = most_messages(script, news_on(script, walk.path()));
    ASSERT_LE(static_cast<double>(messages), bound) << story(script, walk.path(), seed);
    totals.messages += messages;
    totals.most_messages = std::max(totals.most_messages, static_cast<double>(messages) / bound);
}

void walk_all(int most_hosts, std::uint64_t default_seeds) {
    Totals totals;
    for (const std::uint64_t seed : seeds(default_seeds)) {
        walk(most_hosts, seed, totals);
        if (testing::Test::HasFatalFailure()) return;
    }
    std::printf("%lld messages, at most %.0f%% of the bound\n",
                static_cast<long long>(totals.messages), 100 * totals.most_messages);
}

TEST(RoundsWalk, SmallNetworksEndWithTheSameTreeOnAllHostsWhateverHappens) { walk_all(10, 5000); }

TEST(RoundsWalk, LargeNetworksDoSoToo) { walk_all(30, 60); }

}  // namespace
}  // namespace mutirao::simulate
