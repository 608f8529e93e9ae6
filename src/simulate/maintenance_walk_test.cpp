// Random executions of several rounds on graphs of up to 40 hosts, with links changing all the
// while: some hundreds of seeds, or as many as MUTIRAO_SEEDS says (the long run takes 100,000). A
// failure names its seed and tells the story; MUTIRAO_FIRST_SEED=that MUTIRAO_SEEDS=1 replays it.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>

#include "simulate/abort_note.h"
#include "simulate/maintenance_rules.h"
#include "simulate/maintenance_transcript.h"
#include "simulate/random.h"
#include "simulate/random_walk.h"
#include "simulate/seeds.h"

namespace mutirao::simulate {
namespace {

constexpr double never = std::numeric_limits<double>::infinity();
constexpr std::size_t most_hosts = 40;
constexpr std::uint64_t default_seeds = 600;

/// Connected: a random tree and further links, between 0 and all of them.
EdgeList random_links(Random& random, int hosts) {
    EdgeList links;
    const double chance = std::array{0.0, 0.05, 0.3, 1.0}[random.below(4)];
    std::vector<int> order(static_cast<std::size_t>(hosts));
    std::iota(order.begin(), order.end(), 0);
    random.shuffle(order);
    for (std::size_t i = 1; i < order.size(); ++i) {
        const int other = order[random.below(i)];
        links.emplace_back(std::minmax(order[i], other));
    }
    for (const auto& link : complete_links(hosts))
        if (random.unit() < chance) links.push_back(link);
    std::ranges::sort(links);
    const auto repeated = std::ranges::unique(links);
    links.erase(repeated.begin(), repeated.end());
    return links;
}

Scenario random_scenario(std::uint64_t seed) {
    Random random(seed);
    const int hosts = 2 + static_cast<int>(random.below(most_hosts - 1));
    const EdgeList links = random_links(random, hosts);
    Scenario scenario;
    for (int i = 0; i < 8; ++i) scenario.values.push_back(random.unit());
    scenario.values.push_back(never);
    const bool few_values = random.below(2) == 0;
    std::vector<double> before;
    for (std::size_t i = 0; i < links.size(); ++i)
        before.push_back(few_values ? scenario.values[random.below(3)] : random.unit());
    std::vector<double> now = before;
    // Links that come back, perhaps with hosts that only they lead to.
    for (std::size_t dead = random.below(3) == 0 ? random.below(links.size()) : 0; dead > 0; --dead)
        before[random.below(before.size())] = never;
    for (std::size_t changes = random.below(links.size() + 1); changes > 0; --changes)
        now[random.below(now.size())] = random.unit();
    scenario.now = weighted(hosts, links, now);
    if (random.below(4) > 0) scenario.before = weighted(hosts, links, before);
    scenario.changes = static_cast<int>(random.below(12));
    scenario.roots.clear();
    for (int i = 0; i < 3; ++i)
        scenario.roots.push_back(static_cast<int>(random.below(static_cast<std::size_t>(hosts))));
    return scenario;
}

std::string story(const Scenario& scenario, const std::vector<MaintenanceWorld::Choice>& path,
                  std::uint64_t seed) {
    return "seed " + std::to_string(seed) + ", " + std::to_string(scenario.now.hosts) +
           " hosts, " + std::to_string(scenario.now.edges.size()) + " links\n" +
           last_lines(transcript(MaintenanceWorld(scenario), path, true));
}

void walk(std::uint64_t seed) {
    const Scenario scenario = random_scenario(seed);
    RandomWalk walk(MaintenanceWorld(scenario), MaintenanceRules(), seed);
    const AbortNote note([&] { return story(scenario, walk.path(), seed); });
    const int rounds = 1 + scenario.changes;
    const auto most_steps = static_cast<std::size_t>(
        rounds * (MaintenanceRules::most_merges(scenario.now) + 10 * scenario.now.hosts + 2));
    if (const auto failure = walk.run(most_steps))
        FAIL() << failure->reason << "\n" << story(scenario, failure->path, seed);
    ASSERT_EQ(MaintenanceRules::objection(walk.counts(), scenario.now, rounds), "")
        << story(scenario, walk.path(), seed);
}

TEST(MaintenanceWalk, FollowsChangesOnLargeGraphs) {
    for (const std::uint64_t seed : seeds(default_seeds)) {
        walk(seed);
        if (HasFatalFailure()) return;
    }
}

}  // namespace
}  // namespace mutirao::simulate
