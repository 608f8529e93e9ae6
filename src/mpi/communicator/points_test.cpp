#include "mpi/communicator/points.h"

#include <gtest/gtest.h>

#include <vector>

namespace mutirao::mpi {
namespace {

/// The numbers of the calls in which points lie.
std::vector<int> points_in(const std::vector<CallShape>& calls, std::int64_t left = Points::usual_first_units,
                           bool seldom = true) {
    Points points(left, seldom);
    std::vector<int> found;
    for (std::size_t call = 0; call < calls.size(); ++call) {
        if (points.lies_in(calls[call], left)) {
            found.push_back(static_cast<int>(call));
            left = points.next(left);
        }
        left -= Points::units_of(calls[call]);
    }
    return found;
}

CallShape call_of(Collective collective, std::size_t length_bytes) {
    return {.collective = collective, .length_bytes = length_bytes};
}

TEST(Points, LieEverFartherApart) {
    const std::vector<CallShape> calls(130, call_of(Collective::allreduce, 8));
    EXPECT_EQ(points_in(calls), (std::vector<int>{32, 40, 50, 62, 77, 96, 120}));
}

TEST(Points, ComeSoonerWhereCallsAreLong) {
    const std::vector<CallShape> calls(40, call_of(Collective::allreduce, 1 << 20));
    EXPECT_EQ(points_in(calls), (std::vector<int>{2, 3, 4, 5, 7, 9, 12, 15, 19, 24, 30, 38}));
}

// Wherever ranks may return before others have come they would wait for a vote alone.
TEST(Points, LieWhereRanksWaitForEachOtherAnyway) {
    std::vector<CallShape> calls(60, call_of(Collective::broadcast, 8));
    calls[45] = call_of(Collective::barrier, 0);
    calls[56] = call_of(Collective::allreduce, 0);
    calls[57] = call_of(Collective::alltoall, 8);
    EXPECT_EQ(points_in(calls), (std::vector<int>{45, 57}));
}

TEST(Points, LieSeldomWhereSomeRunAheadOfWhoCannotTellThem) {
    const std::vector<CallShape> gathers(20'000, call_of(Collective::gather, 8));
    EXPECT_EQ(points_in(gathers), (std::vector<int>{544, 2856, 14'994}));
}

TEST(Points, LieThereAsElsewhereWhereTheUserSaysThatItPays) {
    const std::vector<CallShape> calls(30, call_of(Collective::reduce, 8));
    EXPECT_EQ(points_in(calls, 1, false), points_in(std::vector(30, call_of(Collective::broadcast, 8)), 1));
}

TEST(Points, LieAnywhereInAProgramThatMakesNoSuchCalls) {
    const std::vector<CallShape> calls(200, call_of(Collective::broadcast, 8));
    EXPECT_EQ(points_in(calls), (std::vector<int>{48, 66, 90, 123, 168}));
}

}  // namespace
}  // namespace mutirao::mpi
