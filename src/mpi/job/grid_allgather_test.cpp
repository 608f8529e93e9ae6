#include "mpi/job/grid_allgather.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <utility>
#include <vector>

namespace mutirao::mpi {
namespace {

struct Numbered {
    int first_rank;
    int count;
    bool operator==(const Numbered&) const = default;
};
/// By sender and receiver.
using Messages = std::map<std::pair<int, int>, Numbered>;

class GridOfRanks : public testing::TestWithParam<int> {};

TEST_P(GridOfRanks, AllKnowAllAfterTwoRounds) {
    const int ranks = GetParam();
    std::vector<std::set<int>> known(static_cast<std::size_t>(ranks));
    for (int rank = 0; rank < ranks; ++rank) known[rank].insert(rank);
    for (int round = 0; round < Grid::rounds; ++round) {
        Messages sent, received;
        const auto before = known;
        for (int rank = 0; rank < ranks; ++rank) {
            const Grid grid(ranks, rank);
            for (const auto& each : grid.sends(round)) {
                ASSERT_TRUE(sent.emplace(std::pair(rank, each.peer),
                                         Numbered{each.first_rank, each.count}).second);
                for (int i = 0; i < each.count; ++i) {
                    ASSERT_TRUE(before[rank].contains(each.first_rank + i));
                    known[each.peer].insert(each.first_rank + i);
                }
            }
            for (const auto& each : grid.receives(round)) {
                received.emplace(std::pair(each.peer, rank), Numbered{each.first_rank, each.count});
            }
        }
        EXPECT_EQ(sent, received);
    }
    for (const std::set<int>& each : known) EXPECT_EQ(each.size(), static_cast<std::size_t>(ranks));
}

INSTANTIATE_TEST_SUITE_P(AnyNumber, GridOfRanks,
                         testing::Values(1, 2, 3, 24, 64, 65, 66, 67, 72, 73, 81, 100, 257, 1000));

TEST(Grid, SendFewMessagesEach) {
    for (const int ranks : {64, 256, 1024, 4096}) {
        const Grid grid(ranks, ranks / 2);
        EXPECT_LE(grid.sends(0).size() + grid.sends(1).size(), 127u) << ranks;
    }
}

}  // namespace
}  // namespace mutirao::mpi
