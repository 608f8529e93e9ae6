// Rounds on few hosts told in full, beside the told ones in testdata/. After a change that is
// meant, MUTIRAO_UPDATE=1 writes them anew: read the difference before committing it.
#include "simulate/maintenance_transcript.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "simulate/golden.h"

namespace mutirao::simulate {
namespace {

using Choice = MaintenanceWorld::Choice;

/// The round opens, all hosts enter it, then whatever comes first by (from, to).
std::vector<Choice> play(const Scenario& scenario) {
    MaintenanceWorld world(scenario);
    std::vector<Choice> path;
    const auto apply = [&](const Choice& choice) {
        path.push_back(choice);
        world.apply(choice);
    };
    apply({Choice::Kind::open, -1, -1});
    for (int host = 0; host < world.host_count(); ++host) apply({Choice::Kind::enter, -1, host});
    while (world.delivery_count() > 0) {
        Choice first = world.delivery(0);
        for (std::size_t i = 1; i < world.delivery_count(); ++i)
            first = std::min(first, world.delivery(i));
        apply(first);
    }
    return path;
}

void compare(const Scenario& scenario, const std::string& name) {
    compare_with_golden(transcript(MaintenanceWorld(scenario), play(scenario)), name);
}

/// A cycle of four with a chord and a tail. While 1-2 is bad, 0-2 takes its place.
const EdgeList links = {{0, 1}, {1, 2}, {2, 3}, {0, 3}, {0, 2}, {0, 4}};
const Graph calm = weighted(5, links, {1, 2, 3, 5, 4, 6});
const Graph failed = weighted(5, links, {1, 20, 3, 5, 4, 6});

TEST(MaintenanceTranscript, AFailure) {
    compare({calm, failed, {0}, 0, {}}, "maintenance_failure.txt");
}

TEST(MaintenanceTranscript, ARecovery) {
    compare({failed, calm, {0}, 0, {}}, "maintenance_recovery.txt");
}

}  // namespace
}  // namespace mutirao::simulate
