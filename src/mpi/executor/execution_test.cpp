// Operations of one communicator side by side, over the MPI library itself.
#include "mpi/executor/execution.h"

#include <gtest/gtest.h>

#include <array>
#include <initializer_list>
#include <memory>
#include <utility>
#include <vector>

#include "mpi/base/test_mpi.h"

namespace mutirao::mpi {
namespace {

constexpr std::size_t values = 4;
constexpr std::size_t length_bytes = values * sizeof(int);
constexpr int nobody = 7;  ///< no rank of the twin
using Values = std::array<int, values>;

Schedule sends(std::size_t bytes = length_bytes) {
    Schedule schedule;
    schedule.send(1, {Buffer::input, 0, bytes});
    return schedule;
}

/// By way of scratch memory.
Schedule receives() {
    Schedule schedule;
    const Region kept{Buffer::scratch, 0, length_bytes};
    const StepId came = schedule.receive(1, kept);
    schedule.copy(kept, {Buffer::output, 0, length_bytes}, {{came}});
    return schedule;
}

Plan plan_of(const Schedule& schedule, std::vector<int> twin_rank_of = {0, 0}) {
    Members members;
    members.my_rank = 0;
    members.twin_rank_of = std::move(twin_rank_of);
    members.placement = std::make_shared<const Placement>(Placement::one_rank_per_host(2));
    return Plan(schedule, Transport{}, members);
}

class Operations : public testing::Test {
  protected:
    static void SetUpTestSuite() { surroundings_.twin = test::communicator_of_one(); }

    /// One rank's part of a call, begun.
    struct Part {
        Part(Plan made, int tag, const Values& input = {}) : plan(std::move(made)), in(input) {
            Memory& memory = operation.memory(surroundings_.twin);
            memory.read(plain_bytes(in.data(), length_bytes));
            memory.write(plain_bytes(out.data(), length_bytes));
            operation.begin(plan, tag, surroundings_);
        }
        Plan plan;
        Operation operation;
        Values in;
        Values out{};
        bool ended = false;
    };

    /// In turns.
    static bool end(std::initializer_list<Part*> parts) {
        constexpr int enough = 100000;
        bool ended = false;
        for (int i = 0; i < enough && !ended; ++i) {
            ended = true;
            for (Part* const each : parts) {
                each->ended = each->ended || each->operation.advance();
                ended = ended && each->ended;
            }
        }
        return ended;
    }

    static inline Operation::Surroundings surroundings_;
};

TEST_F(Operations, EndInAnyOrder) {
    Part first(plan_of(receives()), 1);
    Part second(plan_of(receives()), 2);
    EXPECT_FALSE(first.operation.advance() || second.operation.advance());
    Part to_second(plan_of(sends()), 2, {5, 6, 7, 8});
    EXPECT_TRUE(end({&second, &to_second}));
    EXPECT_FALSE(first.operation.advance());
    Part to_first(plan_of(sends()), 1, {1, 2, 3, 4});
    EXPECT_TRUE(end({&first, &to_first}));
    EXPECT_EQ(first.out, (Values{1, 2, 3, 4}));
    EXPECT_EQ(second.out, (Values{5, 6, 7, 8}));
}

TEST_F(Operations, KnowWhetherSendsAreStillToBegin) {
    Schedule passes_on;
    const Region kept{Buffer::scratch, 0, length_bytes};
    const StepId came = passes_on.receive(1, kept);
    passes_on.send(1, kept, {{came}});
    Part between(plan_of(passes_on), 1);
    EXPECT_FALSE(between.operation.advance() || between.operation.has_begun_all_sends());
    Part from(plan_of(sends()), 1, {1, 2, 3, 4});
    Part to(plan_of(receives()), 1);
    EXPECT_TRUE(end({&between, &from, &to}));
    EXPECT_TRUE(between.operation.has_begun_all_sends());
    EXPECT_EQ(to.out, (Values{1, 2, 3, 4}));
}

// Too short a one: Open MPI says nothing of what a process sends to itself and is too long.
TEST_F(Operations, AWrongLengthIsOneCallsErrorOnly) {
    Part first(plan_of(receives()), 1);
    Part second(plan_of(receives()), 2);
    Part to_first(plan_of(sends(length_bytes / 2)), 1, {1, 2, 3, 4});
    Part to_second(plan_of(sends()), 2, {5, 6, 7, 8});
    EXPECT_TRUE(end({&first, &to_first, &second, &to_second}));
    EXPECT_EQ(first.operation.error(), MPI_ERR_TRUNCATE);
    EXPECT_EQ(second.operation.error(), MPI_SUCCESS);
    EXPECT_EQ(second.out, (Values{5, 6, 7, 8}));
}

TEST_F(Operations, WhatFailsWithdrawsItsOwnReceivesOnly) {
    Part other(plan_of(receives()), 2);
    Schedule both = receives();
    both.send(0, {Buffer::input, 0, length_bytes});
    Part failing(plan_of(both, {nobody, 0}), 1);
    EXPECT_TRUE(end({&failing}));
    EXPECT_EQ(failing.operation.error(), MPI_ERR_RANK);
    EXPECT_TRUE(failing.operation.take_sends().empty());

    Part next(plan_of(receives()), 1);
    Part to_next(plan_of(sends()), 1, {1, 2, 3, 4});
    Part to_other(plan_of(sends()), 2, {5, 6, 7, 8});
    EXPECT_TRUE(end({&next, &to_next, &other, &to_other}));
    EXPECT_EQ(next.out, (Values{1, 2, 3, 4}));
    EXPECT_EQ(other.out, (Values{5, 6, 7, 8}));
    EXPECT_EQ(failing.out, Values{});
}

constexpr std::size_t piece_bytes = 100'000;

TEST(ArrivalRate, CountsWhatCameAfterALookInVain) {
    ArrivalRate rate(7);
    rate.looked_in_vain(1000);
    rate.looked_in_vain(2000);
    rate.arrived(7, piece_bytes, 3000);
    EXPECT_FALSE(rate.waits());
    rate.arrived(5, 10 * piece_bytes, 4000);  // from another
    rate.arrived(7, piece_bytes, 5000);
    rate.arrived(7, piece_bytes, 6000);
    ASSERT_TRUE(rate.seen());
    EXPECT_EQ(rate.seen()->rank, 7);
    EXPECT_DOUBLE_EQ(rate.seen()->bytes_per_us, 2.0 * piece_bytes / 4000);
}

// Fault: taking the speed at which waiting data are copied for the link's.
TEST(ArrivalRate, SaysNothingOfDataThatWereThereAlready) {
    ArrivalRate rate(7);
    for (int piece = 0; piece < 5; ++piece) rate.arrived(7, piece_bytes, 3000 + 500 * piece);
    EXPECT_FALSE(rate.seen());
}

TEST(ArrivalRate, SaysNothingOfLittleOrOfAMoment) {
    ArrivalRate little(7);
    little.looked_in_vain(0);
    little.arrived(7, piece_bytes, 1000);
    little.arrived(7, piece_bytes, 9000);
    EXPECT_FALSE(little.seen());
    ArrivalRate soon(7);
    soon.looked_in_vain(0);
    for (int piece = 0; piece < 5; ++piece) soon.arrived(7, piece_bytes, 100 + piece);
    EXPECT_FALSE(soon.seen());
}

}  // namespace
}  // namespace mutirao::mpi
