#include "simulate/scenarios.h"

#include <gtest/gtest.h>

namespace mutirao::simulate {
namespace {

TEST(Scenarios, FollowFromTheirSeed) {
    for (const std::uint64_t seed : {1, 2, 3}) EXPECT_EQ(scenario_of(seed).text(), scenario_of(seed).text());
    EXPECT_NE(scenario_of(1).text(), scenario_of(2).text());
}

TEST(Scenarios, LoseNothingNatively) {
    for (std::uint64_t seed = 1; seed <= 50; ++seed) {
        NativeChooser native;
        EXPECT_EQ(judge(scenario_of(seed), native).lost_us(), 0) << scenario_of(seed).text();
    }
}

// Who knows everything is hardly ever slower than native: what calls take depends on when they are made.
TEST(Scenarios, AreWonByWhoKnowsThem) {
    for (std::uint64_t seed = 1; seed <= 200; ++seed) {
        const ProgramScenario scenario = scenario_of(seed);
        NativeChooser native;
        const Judgement judgement = judge(scenario, native);
        EXPECT_LE(judgement.known.elapsed_us, 1.02 * judgement.natively.elapsed_us) << scenario.text();
    }
}

TEST(Scenarios, ChangeWhenTheyAreToldTo) {
    ProgramScenario scenario;
    for (std::uint64_t seed = 1; scenario.change != Change::recovers; ++seed) scenario = scenario_of(seed);
    const ProgramScenario moved = changed_in(scenario, 17);
    EXPECT_EQ(moved.states->at(1).since_call, 17u);
    EXPECT_EQ(moved.program.news[1].call, 17u);
    const std::uint64_t between_changes = scenario.states->at(2).since_call - scenario.states->at(1).since_call;
    EXPECT_EQ(moved.states->at(2).since_call, 17 + between_changes);
    EXPECT_EQ(moved.states->at(1).network, scenario.states->at(1).network);
}

}  // namespace
}  // namespace mutirao::simulate
