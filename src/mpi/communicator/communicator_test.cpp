#include "mpi/communicator/communicator.h"

#include <gtest/gtest.h>

#include <map>
#include <vector>

#include "mpi/base/test_mpi.h"
#include "mpi/communicator/ruling_table.h"
#include "mpi/communicator/vote.h"

namespace mutirao::mpi {
namespace {

/// The numbers of the calls in which points lie.
std::vector<int> points_in(const std::vector<CallShape>& calls, std::int64_t left = Points::usual_first_units,
                           bool seldom = true) {
    Points points(left, seldom);
    std::vector<int> found;
    for (std::size_t call = 0; call < calls.size(); ++call) {
        if (points.lies_in(calls[call], left, 8)) {
            found.push_back(static_cast<int>(call));
            left = points.next(left);
        }
        left -= Points::units_of(calls[call], 8);
    }
    return found;
}

CallShape call_of(Collective collective, std::size_t length_bytes) {
    return {.collective = collective, .length_bytes = length_bytes};
}

/// So many broadcasts of 8 bytes, but for these.
std::vector<CallShape> broadcasts_but(std::size_t count, const std::map<std::size_t, CallShape>& others) {
    std::vector<CallShape> calls(count, call_of(Collective::broadcast, 8));
    for (const auto& [number, call] : others) calls[number] = call;
    return calls;
}

TEST(Points, LieWhereRanksWaitForEachOtherAnyway) {
    using enum Collective;
    const auto all = [](std::size_t count, Collective collective, std::size_t length_bytes) {
        return std::vector(count, call_of(collective, length_bytes));
    };
    const CallShape gradient = call_of(allreduce, 4 << 20), went_well = call_of(allreduce, 8);
    const struct {
        const char* what;
        std::vector<CallShape> calls;
        std::vector<int> points;
    } cases[] = {
        {"ever farther apart", all(130, allreduce, 8), {32, 40, 50, 62, 77, 96, 120}},
        {"sooner where calls are long", all(40, allreduce, 1 << 20), {2, 3, 4, 5, 7, 9, 12, 15, 19, 24, 30, 38}},
        {"a first call as long as all until the first point is one",
         {gradient, went_well, gradient, went_well, gradient, went_well}, {0, 1, 3, 5}},
        {"not where some follow a root: they may have to wait for who is late", all(3, broadcast, 4 << 20), {1, 2}},
        {"eight blocks of 64 KiB are nine units a call", all(8, alltoall, 1 << 16), {4, 5, 7}},
        {"ranks that may return before others have come would wait for a vote alone",
         broadcasts_but(60, {{45, call_of(barrier, 0)}, {56, call_of(allreduce, 0)}, {57, call_of(alltoall, 8)}}),
         {45, 57}},
        {"seldom where some run ahead of who cannot tell them", all(20'000, gather, 8), {544, 2856, 14'994}},
        {"anywhere in a program that makes no such calls", all(200, broadcast, 8), {48, 66, 90, 123, 168}},
    };
    for (const auto& [what, calls, points] : cases) EXPECT_EQ(points_in(calls), points) << what;
    EXPECT_EQ(Points::units_of(call_of(alltoallv, 1 << 16), 8), 2) << "nobody knows the others' lengths";
    EXPECT_EQ(points_in(all(30, reduce, 8), 1, false), points_in(all(30, broadcast, 8), 1))
        << "where the user says that it pays";
    Points waiting_in_all(2, true, true);
    EXPECT_FALSE(waiting_in_all.lies_in(call_of(reduce, 8), 1, 8));
    EXPECT_TRUE(waiting_in_all.lies_in(call_of(reduce, 8), 0, 8));
}

const int some_function = 0, another_function = 0;

CallWords call_of(std::uintptr_t count, std::uint64_t freed_types = 0) {
    return {&some_function, {count, 7, 3, 1}, freed_types};
}

TEST(RepeatedCalls, KnowsACallByAllThatTheProgramPassed) {
    RepeatedCalls repeated;
    std::uint64_t native_calls = 0;
    EXPECT_EQ(repeated.find(call_of(8)), nullptr);
    repeated.remember(call_of(8), {&native_calls, 3});
    ASSERT_NE(repeated.find(call_of(8)), nullptr);
    EXPECT_EQ(repeated.find(call_of(8))->native_calls, &native_calls);
    EXPECT_EQ(repeated.find(call_of(8))->units, 3);

    CallWords other = call_of(8);
    other.function = &another_function;
    EXPECT_EQ(repeated.find(other), nullptr);
    for (std::size_t word = 0; word < CallWords::most_words; ++word) {
        other = call_of(8);
        other.words[word] ^= std::uintptr_t{1} << 40;
        EXPECT_EQ(repeated.find(other), nullptr) << word;
    }
    EXPECT_EQ(repeated.find(call_of(8, 1)), nullptr) << "a handle may be another type's by now";
}

// Where two share a place the later one has it, and the earlier one is not taken for it.
TEST(RepeatedCalls, EachIsCountedAsItselfUntilAllAreForgotten) {
    RepeatedCalls repeated;
    std::array<std::uint64_t, 100> native_calls{};
    for (std::size_t i = 0; i < native_calls.size(); ++i) {
        repeated.remember(call_of(i), {&native_calls[i]});
        EXPECT_EQ(repeated.find(call_of(i))->native_calls, &native_calls[i]);
        for (std::size_t earlier = 0; earlier < i; ++earlier) {
            const RepeatedCalls::Known* const found = repeated.find(call_of(earlier));
            EXPECT_TRUE(found == nullptr || found->native_calls == &native_calls[earlier]);
        }
    }
    repeated.forget();
    for (std::size_t i = 0; i < native_calls.size(); ++i) EXPECT_EQ(repeated.find(call_of(i)), nullptr);
}

Candidate candidate(std::string_view text) { return *parse_candidate(Collective::allreduce, text).candidate; }

// Ranks whose plans are of other lengths do not make room at the same moment: one that lost count of its calls by
// that ran another algorithm than the others. Seen to fail so, and as a job that hung.
TEST(RulingTable, CountsCallsOfAProbeWhosePlanDrivesOutTheIncumbents) {
    const Members members = part_of(test::world_with(8, 1), {0, 1, 2, 3, 4, 5, 6, 7}, 0);
    Record record;
    RulingTable table(members, record, true);
    const CallShape shape{.collective = Collective::allreduce, .length_bytes = 4'000'000, .unit_bytes = 8};
    Ruling ruling{class_of(shape), candidate("ring:segment_bytes=8192"), std::nullopt, 1, {1, 1, 2, 1}, std::nullopt};
    ruling.probe.emplace().candidate = candidate("reduce_broadcast:radix=2,segment_bytes=8192");
    table.take(ruling, 0, {}, {});
    for (int call = 0; call < 4; ++call) {
        const RulingTable::Way& way = table.find(shape, static_cast<std::uint64_t>(call));
        ASSERT_TRUE(way.is_clocked()) << call;
        Course* const course = way.course;
        table.begin_clocked(way);
        course->add(call, call + 0.5);
    }
    EXPECT_FALSE(table.find(shape, 4).is_clocked());
    const RulingRecord& told = record.classes.at(class_of(shape)).rulings.front();
    EXPECT_EQ(told.calls, 2u);
    EXPECT_EQ(told.probe_calls, 2u);
}

}  // namespace
}  // namespace mutirao::mpi
