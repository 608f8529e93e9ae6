#include "mpi/decide/announcement_post.h"

#include <gtest/gtest.h>

#include "mpi/base/test_mpi.h"

namespace mutirao::mpi {
namespace {

constexpr int chain_ranks = 3;

/// Of one rank of a communicator whose ranks are all this process; rank 0 decides.
struct OfRank {
    explicit OfRank(int rank, std::uint64_t owner = 0) : slot(0, owner) {
        members.my_rank = rank;
        members.twin_rank_of.assign(chain_ranks, 0);
        members.placement = std::make_shared<const Placement>(Placement::in_blocks(chain_ranks, 1));
    }
    Slot slot;
    Members members;
    AnnouncementPost post{test::communicator_of_one(), slot, members, 0};
};

template <typename Receive>
std::size_t arrived(Receive receive) {
    constexpr int enough = 1000;
    std::size_t count = 0;
    for (int i = 0; i < enough && count == 0; ++i) count = receive().size();
    return count;
}

/// Rank 0 tells 1, which tells 2.
Announcement along_a_chain(std::uint64_t first_call) {
    Announcement made;
    made.number = 1;
    made.first_call = first_call;
    made.next_first_call = first_call + 10;
    made.route = {Route::Kind::hosts, {-1, 0, 1}};
    return made;
}

// Fault: reports are sent as they are made.
TEST(AnnouncementPost, ReportsGoAfterTheCall) {
    OfRank decider(0), other(1);
    other.post.report(LeadReport{3, 2, false});
    EXPECT_EQ(arrived([&] { return decider.post.receive_reports(); }), 0u);
    other.post.send_reports();
    EXPECT_EQ(arrived([&] { return decider.post.receive_reports(); }), 1u);
    other.post.send_reports();
    EXPECT_EQ(arrived([&] { return decider.post.receive_reports(); }), 0u) << "told twice";
}

// Fault: all is passed on at once.
TEST(AnnouncementPost, WhatOnlyLaterCallsNeedGoesBehindTheMessagesOfACall) {
    constexpr std::uint64_t call = 5;
    OfRank decider(0), between(1), last(2);
    decider.post.send(along_a_chain(call + 1));
    EXPECT_EQ(arrived([&] { return between.post.receive(call); }), 1u);
    EXPECT_EQ(arrived([&] { return last.post.receive(); }), 0u);
    between.post.pass_on_what_was_left();
    EXPECT_EQ(arrived([&] { return last.post.receive(); }), 1u);
}

// Fault: what comes late for a communicator that is freed is taken for the next one's in its slot.
TEST(AnnouncementPost, LettersToAnEarlierOwnerOfTheSlotAreDropped) {
    LeftBehind left_behind(0);
    {
        OfRank decider(0, 1), other(1, 1);
        decider.post.send(along_a_chain(5));
        other.post.report(LeadReport{3, 2, false});
        other.post.send_reports();
        for (OfRank* each : {&decider, &other}) each->post.leave_sends_to(left_behind);
    }
    OfRank decider(0, 2), other(1, 2);
    EXPECT_EQ(arrived([&] { return other.post.receive(4); }), 0u);
    EXPECT_EQ(arrived([&] { return decider.post.receive_reports(); }), 0u);
    decider.post.send(along_a_chain(6));
    EXPECT_EQ(arrived([&] { return other.post.receive(5); }), 1u);
    left_behind.reap();
}

}  // namespace
}  // namespace mutirao::mpi
