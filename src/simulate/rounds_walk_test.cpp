// Random executions of rounds while links change, die and come back and agents die and return:
// thousands of seeds, or as many as MUTIRAO_SEEDS says (the long run takes 100,000). A failure names
// its seed and tells the story; MUTIRAO_FIRST_SEED=that MUTIRAO_SEEDS=1 replays it.
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

constexpr int most_hosts = 10;
constexpr std::uint64_t default_seeds = 2000;

std::string story(const RoundsScript& script, const std::vector<RoundsWorld::Choice>& path,
                  std::uint64_t seed) {
    std::string text = "seed " + std::to_string(seed) + ", " + std::to_string(script.hosts) +
                       " hosts, " + (script.known ? "known" : "nothing known") + "\n";
    RoundsWorld world(script);
    for (const RoundsWorld::Choice& choice : path) {
        text += world.describe(choice) + "\n";
        world.apply(choice);
    }
    for (int host = 0; host < world.host_count(); ++host) text += world.describe(host) + "\n";
    return last_lines(text);
}

struct Totals {
    double most_messages = 0;  ///< as a share of the bound
    std::int64_t messages = 0;
};

/// Each event, and each host and link that has to become known, costs a few rounds at most.
double most_messages(const RoundsScript& script) {
    const double hosts = script.hosts;
    return (4 + hosts + static_cast<double>(script.events.size())) * 30 * hosts * hosts;
}

void walk(std::uint64_t seed, Totals& totals) {
    const RoundsScript script = random_rounds_script(most_hosts, seed);
    RandomWalk walk(RoundsWorld(script), RoundsRules(), seed);
    const AbortNote note([&] { return story(script, walk.path(), seed); });
    const double bound = most_messages(script);
    if (const auto failure = walk.run(static_cast<std::size_t>(2 * bound)))
        FAIL() << failure->reason << "\n" << story(script, failure->path, seed);
    const auto& counts = walk.counts();
    const auto messages = std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
    ASSERT_LE(static_cast<double>(messages), bound) << story(script, walk.path(), seed);
    totals.messages += messages;
    totals.most_messages = std::max(totals.most_messages, static_cast<double>(messages) / bound);
}

TEST(RoundsWalk, EndsWithTheSameTreeOnAllHostsWhateverHappens) {
    Totals totals;
    for (const std::uint64_t seed : seeds(default_seeds)) {
        walk(seed, totals);
        if (HasFatalFailure()) return;
    }
    std::printf("%lld messages, at most %.0f%% of the bound\n",
                static_cast<long long>(totals.messages), 100 * totals.most_messages);
}

}  // namespace
}  // namespace mutirao::simulate
