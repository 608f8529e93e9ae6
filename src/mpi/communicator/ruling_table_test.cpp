#include "mpi/base/world.h"
#include "mpi/communicator/ruling_table.h"

#include <gtest/gtest.h>

namespace mutirao::mpi {
namespace {

constexpr int ranks = 8;

Members one_rank_on_each_host() {
    std::vector<Introduction> all(ranks);
    for (std::size_t rank = 0; rank < all.size(); ++rank) {
        all[rank].host_identity = rank;
        all[rank].enabled = 1;
    }
    Members members;
    for (int rank = 0; rank < ranks; ++rank) members.twin_rank_of.push_back(rank);
    members.place(world_of(all, 0));
    return members;
}

Candidate candidate(std::string_view text) { return *parse_candidate(Collective::allreduce, text).candidate; }

// Ranks whose plans are of other lengths do not make room at the same moment: one that lost count of its calls by
// that ran another algorithm than the others. Seen to fail so, and as a job that hung.
TEST(RulingTable, CountsCallsOfAProbeWhosePlanDrivesOutTheIncumbents) {
    const Members members = one_rank_on_each_host();
    Record record;
    RulingTable table(members, record, true);
    const CallShape shape{.collective = Collective::allreduce, .length_bytes = 4'000'000, .unit_bytes = 8};
    Ruling ruling{class_of(shape), candidate("ring:segment_bytes=8192"), std::nullopt, 1, {1, 1, 2, 1}, std::nullopt};
    ruling.probe.emplace().candidate = candidate("reduce_broadcast:radix=2,segment_bytes=8192");
    table.take(ruling, 0, {}, {});
    for (int call = 0; call < 4; ++call) {
        const RulingTable::Way& way = table.find(shape, static_cast<std::uint64_t>(call));
        ASSERT_TRUE(way.is_clocked()) << call;
        const RulingTable::ClockedCall clocked = table.begin_clocked(way);
        ASSERT_NE(clocked.course, nullptr) << call;
        clocked.course->add(call, call + 0.5);
    }
    EXPECT_FALSE(table.find(shape, 4).is_clocked());
    const RulingRecord& told = record.classes.at(class_of(shape)).rulings.front();
    EXPECT_EQ(told.calls, 2u);
    EXPECT_EQ(told.probe_calls, 2u);
}

}  // namespace
}  // namespace mutirao::mpi
