// The container itself: what goes in comes out, and nonsense aborts with both values.
#include "core/schedule/schedule.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

namespace mutirao {
namespace {

constexpr Region bytes(std::size_t offset, std::size_t length, Buffer buffer = Buffer::output) {
    return {buffer, offset, length};
}

TEST(Schedule, KeepsStepsAndDependencies) {
    Schedule schedule;
    const StepId received = schedule.receive(3, bytes(0, 8));
    const StepId copied =
        schedule.copy(bytes(0, 8), bytes(16, 8, Buffer::scratch), std::array{received});
    const StepId reduced =
        schedule.reduce(bytes(16, 8, Buffer::scratch), bytes(8, 8), std::array{received, copied});
    const StepId sent = schedule.send(1, bytes(8, 8), std::array{reduced});

    ASSERT_EQ(schedule.size(), 4u);
    const std::vector<Step>& steps = schedule.steps();
    EXPECT_EQ(steps[0].kind, StepKind::receive);
    EXPECT_EQ(steps[0].peer, 3);
    EXPECT_EQ(steps[0].target, bytes(0, 8));
    EXPECT_TRUE(schedule.dependencies(steps[0]).empty());
    EXPECT_EQ(steps[2].kind, StepKind::reduce);
    EXPECT_EQ(steps[2].peer, -1);
    const Schedule::After after = schedule.dependencies(steps[2]);
    EXPECT_EQ(std::vector<StepId>(after.begin(), after.end()),
              (std::vector<StepId>{received, copied}));
    EXPECT_EQ(sent, 3);
    EXPECT_EQ(steps[3].source, bytes(8, 8));
    EXPECT_EQ(schedule.scratch_bytes(), 24u);
}

TEST(Schedule, CountsScratchOfSendsAndReceives) {
    Schedule schedule;
    schedule.receive(0, bytes(4, 6, Buffer::scratch));
    EXPECT_EQ(schedule.scratch_bytes(), 10u);
    schedule.send(0, bytes(0, 32, Buffer::scratch));
    EXPECT_EQ(schedule.scratch_bytes(), 32u);
    schedule.send(0, bytes(0, 64));
    EXPECT_EQ(schedule.scratch_bytes(), 32u);
}

TEST(ScheduleDeathTest, RefusesDependenciesThatAreNotEarlier) {
    Schedule schedule;
    schedule.send(1, bytes(0, 1));
    EXPECT_DEATH(schedule.send(1, bytes(0, 1), std::array{StepId{1}}), "1 against 1");
    EXPECT_DEATH(schedule.send(1, bytes(0, 1), std::array{StepId{7}}), "7 against 1");
    EXPECT_DEATH(schedule.send(1, bytes(0, 1), std::array{StepId{-1}}), "-1 against 1");
}

TEST(ScheduleDeathTest, RefusesNegativePeersAndUnequalCopies) {
    Schedule schedule;
    EXPECT_DEATH(schedule.send(-1, bytes(0, 1)), "negative peer .*-1 against 0");
    EXPECT_DEATH(schedule.receive(-2, bytes(0, 1)), "negative peer .*-2 against 0");
    EXPECT_DEATH(schedule.copy(bytes(0, 3), bytes(8, 4)), "3 against 4");
}

}  // namespace
}  // namespace mutirao
