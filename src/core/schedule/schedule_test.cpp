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

// Joining schedules: with just the dependencies that the bytes demand. That parts lie where they are told to is proved
// of what is composed of them (catalogue_test.cpp, selection_test.cpp).

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

TEST(AppendDeathTest, RefusesPeersOutsideTheGroup) {
    Schedule part;
    part.send(1, output(0, 4));
    Schedule whole;
    EXPECT_DEATH(whole.append(part, std::array{3}), "not in the group .*1 against 1");
}

}  // namespace
}  // namespace mutirao
