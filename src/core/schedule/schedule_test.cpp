// Nonsense aborts with both values. That what goes in comes out is shown by the printer's tests.
#include "core/schedule/schedule.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "core/schedule/test_schedules.h"

namespace mutirao {
namespace {

using test::output;
using test::schedules_of;
using test::scratch;
using test::waits_of;

TEST(ScheduleDeathTest, RefusesDependenciesThatAreNotEarlier) {
    Schedule schedule;
    schedule.send(1, output(0, 1));
    EXPECT_DEATH(schedule.send(1, output(0, 1), std::array{StepId{1}}), "1 against 1");
    EXPECT_DEATH(schedule.send(1, output(0, 1), std::array{StepId{7}}), "7 against 1");
    EXPECT_DEATH(schedule.send(1, output(0, 1), std::array{StepId{-1}}), "-1 against 1");
}

TEST(ScheduleDeathTest, RefusesNegativePeersAndUnequalCopies) {
    Schedule schedule;
    EXPECT_DEATH(schedule.send(-1, output(0, 1)), "negative peer .*-1 against 0");
    EXPECT_DEATH(schedule.receive(-2, output(0, 1)), "negative peer .*-2 against 0");
    EXPECT_DEATH(schedule.copy(output(0, 3), output(8, 4)), "3 against 4");
}

// Joining schedules: the parts' steps come out as they went in, with just the dependencies that
// the bytes demand, and compositions of right collectives are right.

using Ids = std::vector<StepId>;

TEST(Append, OrdersByWhatTheBytesDemandAndNothingElse) {
    Schedule whole = schedules_of(1, "0 receive output[0,4) from 1; 0 receive output[4,8) from 1;"
                                     "0 send output[4,8) to 2 after 1")[0];
    whole.append(schedules_of(1, "0 send output[0,4) to 0; 0 send output[2,6) to 0; 0 receive output[4,6) from 0;"
                                 "0 receive output[6,8) from 0 after 2; 0 send output[4,6) to 0 after 2;"
                                 "0 send output[8,10) to 0")[0],
                 std::array{3});
    EXPECT_EQ(waits_of(whole, 3), Ids{0}) << "it reads what 0 wrote";
    EXPECT_EQ(waits_of(whole, 4), (Ids{0, 1}));
    EXPECT_EQ(waits_of(whole, 5), (Ids{1, 2})) << "over what 1 wrote and 2 reads";
    EXPECT_EQ(waits_of(whole, 6), (Ids{1, 2, 5}));
    EXPECT_EQ(waits_of(whole, 7), Ids{5}) << "ordered by the part itself";
    EXPECT_EQ(waits_of(whole, 8), Ids{}) << "it touches nothing of the whole";
}

// Catches a part that reads its input where the whole has its own, and scratch memory over a home.
TEST(Append, InputAndOutputLieWhereTheyAreToldTo) {
    Schedule whole = schedules_of(1, "0 receive scratch[16,24) from 1")[0];
    const Schedule part = schedules_of(1, "0 send input[4,8) to 0; 0 receive scratch[0,8) from 0;"
                                          "0 copy scratch[0,8) into output[0,8) after 1")[0];
    whole.append(part, [](int) { return 2; },
                 {.input = scratch(16, 8), .output = scratch(100, 8)});
    EXPECT_EQ(whole.steps()[1].source, scratch(20, 4));
    EXPECT_EQ(whole.steps()[2].target, scratch(128, 8));
    EXPECT_EQ(whole.steps()[3].target, scratch(100, 8));
    EXPECT_EQ(waits_of(whole, 1), Ids{0}) << "it sends what 0 brought";
    EXPECT_EQ(waits_of(whole, 2), Ids{});
    EXPECT_EQ(waits_of(whole, 3), Ids{2});
}

TEST(AppendDeathTest, RefusesPeersOutsideTheGroup) {
    Schedule part;
    part.send(1, output(0, 4));
    Schedule whole;
    EXPECT_DEATH(whole.append(part, std::array{3}), "not in the group .*1 against 1");
}

// Data must flow on segment by segment: what a leader sends inside waits for its segment only.
TEST(Append, PipelinesRunOnWithoutABarrier) {
    constexpr std::size_t segments = 3;
    Schedule leader;  // of the second of two hosts with two ranks each
    leader.append(test::chain_broadcast(2, segments, 5)[1], std::array{0, 2});
    leader.append(test::chain_broadcast(2, segments, 5)[0], std::array{2, 3});
    ASSERT_EQ(leader.size(), 2 * segments);
    for (std::size_t i = 0; i < segments; ++i)
        EXPECT_EQ(waits_of(leader, segments + i), Ids{static_cast<StepId>(i)});
}

}  // namespace
}  // namespace mutirao
