// The container itself: what goes in comes out, and nonsense aborts with both values.
#include "core/schedule/schedule.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <vector>

#include "core/schedule/test_schedules.h"

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
    EXPECT_EQ(test::waits_of(schedule, 2), (std::vector<StepId>{received, copied}));
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

// Joining schedules: the parts' steps come out as they went in, with just the dependencies that
// the bytes demand, and compositions of right collectives are right.

using test::output;
using test::scratch;
using test::waits_of;

using Ids = std::vector<StepId>;

TEST(Append, MapsPeersAndShiftsDependencies) {
    Schedule whole;
    whole.receive(9, output(0, 8));
    Schedule part;
    const StepId received = part.receive(1, output(8, 8));
    part.send(2, output(8, 8), std::array{received});
    whole.append(part, std::array{4, 7, 5});
    ASSERT_EQ(whole.size(), 3u);
    EXPECT_EQ(whole.steps()[1].peer, 7);
    EXPECT_EQ(whole.steps()[2].peer, 5);
    EXPECT_EQ(waits_of(whole, 1), Ids{});
    EXPECT_EQ(waits_of(whole, 2), Ids{1});
}

TEST(Append, OrdersByWhatTheBytesDemandAndNothingElse) {
    Schedule whole;
    whole.receive(1, output(0, 4));             // 0
    whole.receive(1, output(4, 4));             // 1
    whole.send(2, output(4, 4), std::array{1});  // 2
    Schedule part;
    part.send(0, output(0, 4));                  // 3: reads what 0 wrote
    part.send(0, output(2, 4));                  // 4: of both
    part.receive(0, output(4, 2));               // 5: over what 1 wrote and 2 reads
    part.receive(0, output(6, 2), std::array{2});  // 6
    part.send(0, output(4, 2), std::array{2});   // 7: ordered by the part itself
    part.send(0, output(8, 2));                  // 8: touches nothing of the whole
    whole.append(part, std::array{3});
    EXPECT_EQ(waits_of(whole, 3), Ids{0});
    EXPECT_EQ(waits_of(whole, 4), (Ids{0, 1}));
    EXPECT_EQ(waits_of(whole, 5), (Ids{1, 2}));
    EXPECT_EQ(waits_of(whole, 6), (Ids{1, 2, 5}));
    EXPECT_EQ(waits_of(whole, 7), Ids{5});
    EXPECT_EQ(waits_of(whole, 8), Ids{});
}

// Catches a part that reads its input where the whole has its own, and scratch memory over a home.
TEST(Append, InputAndOutputLieWhereTheyAreToldTo) {
    Schedule whole;
    whole.receive(1, scratch(16, 8));  // 0
    Schedule part;
    part.send(0, {Buffer::input, 4, 4});                        // 1: what 0 brought
    const StepId staged = part.receive(0, scratch(0, 8));       // 2
    part.copy(scratch(0, 8), output(0, 8), std::array{staged});  // 3
    whole.append(part, [](int) { return 2; },
                 {.input = scratch(16, 8), .output = scratch(100, 8)});
    EXPECT_EQ(whole.steps()[1].source, scratch(20, 4));
    EXPECT_EQ(whole.steps()[2].target, scratch(128, 8));
    EXPECT_EQ(whole.steps()[3].target, scratch(100, 8));
    EXPECT_EQ(waits_of(whole, 1), Ids{0});
    EXPECT_EQ(waits_of(whole, 2), Ids{});
    EXPECT_EQ(waits_of(whole, 3), Ids{2});
}

TEST(Append, ScratchOfThePartsNeverMeets) {
    Schedule whole;
    whole.receive(1, scratch(0, 10));
    Schedule part;
    const StepId received = part.receive(0, scratch(0, 6));
    part.copy(scratch(0, 6), output(0, 6), std::array{received});
    whole.append(part, std::array{2});
    whole.append(part, std::array{3});
    EXPECT_EQ(whole.steps()[1].target, scratch(64, 6));
    EXPECT_EQ(whole.steps()[2].source, scratch(64, 6));
    EXPECT_EQ(whole.steps()[3].target, scratch(128, 6));
    EXPECT_EQ(waits_of(whole, 3), Ids{});
    EXPECT_EQ(waits_of(whole, 4), (Ids{2, 3}));
    EXPECT_EQ(whole.scratch_bytes(), 134u);
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

/// A race-free schedule of random steps: each comes after all earlier ones that it conflicts with,
/// found by comparing all pairs.
Schedule random_schedule(std::mt19937& random, int steps) {
    Schedule schedule;
    for (int i = 0; i < steps; ++i) {
        const Region region = output(random() % 24, 1 + random() % 6);
        const bool writes = random() % 2 == 0;
        Ids after;
        for (std::size_t before = 0; before < schedule.size(); ++before) {
            const Step& step = schedule.steps()[before];
            const bool wrote = step.kind == StepKind::receive;
            const Region& other = wrote ? step.target : step.source;
            if ((writes || wrote) && other.offset_bytes < region.end_bytes() &&
                region.offset_bytes < other.end_bytes())
                after.push_back(static_cast<StepId>(before));
        }
        writes ? schedule.receive(0, region, after) : schedule.send(0, region, after);
    }
    return schedule;
}

TEST(Append, LeavesNoRaceBetweenRaceFreeParts) {
    std::mt19937 random(11);
    for (int run = 0; run < 300; ++run) {
        Schedule whole;
        for (int part = 0; part < 3; ++part)
            whole.append(random_schedule(random, 12), std::array{1});
        EXPECT_EQ(test::race_by_all_pairs(whole), std::pair(-1, -1));
    }
}

}  // namespace
}  // namespace mutirao
