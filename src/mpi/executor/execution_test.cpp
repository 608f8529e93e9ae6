// Operations of one communicator side by side, over the MPI library itself.
#include "mpi/executor/execution.h"

#include <gtest/gtest.h>

#include <array>
#include <initializer_list>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "core/algorithms/test_requests.h"
#include "mpi/base/test_mpi.h"
#include "mpi/base/world.h"

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

/// Each rank on a host of its own.
Plan plan_of(const Schedule& schedule, std::vector<int> twin_rank_of = {0, 0}, int my_rank = 0) {
    Members members;
    members.my_rank = my_rank;
    members.placement =
        std::make_shared<const Placement>(Placement::in_blocks(static_cast<int>(twin_rank_of.size()), 1));
    members.twin_rank_of = std::move(twin_rank_of);
    return Plan(schedule, Transport{}, members);
}

class Operations : public testing::Test {
  protected:
    static void SetUpTestSuite() { surroundings_.twin = test::communicator_of_one(); }

    /// One rank's part of a call, begun.
    struct Part {
        Part(Plan made, int tag, const Values& input = {}) : plan(std::move(made)), in(input) {
            Binding binding;
            binding.reads = Binding::Reads::input;
            binding.input = plain_bytes(in.data(), length_bytes);
            binding.writes = Binding::Writes::output;
            binding.output = plain_bytes(out.data(), length_bytes);
            operation.memory(surroundings_.twin).lay_out(binding);
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

// Straight lines against the schedules that they come from: whenever messages come, each step begins when it
// would if everything began as soon as it can.

Plan plan_of(const Schedule& schedule, int rank, int size) {
    std::vector<int> twin_rank_of(static_cast<std::size_t>(size));
    std::iota(twin_rank_of.begin(), twin_rank_of.end(), 0);
    return plan_of(schedule, std::move(twin_rank_of), rank);
}

bool is_message(const mutirao::Step& step) {
    return step.kind == StepKind::send || step.kind == StepKind::receive;
}

using Times = std::vector<int>;

/// When each step begins; a message is complete as long after it began as `delays` says, all else at once.
Times begin_as_soon_as_possible(const Schedule& schedule, const Times& delays) {
    Times begins;
    for (const mutirao::Step& step : schedule.steps()) {
        int begin = 0;
        for (const StepId before : schedule.dependencies(step)) {
            const auto at = static_cast<std::size_t>(before);
            begin = std::max(begin, begins[at] + delays[at]);
        }
        for (std::size_t at = 0; at < begins.size(); ++at) {
            const mutirao::Step& earlier = schedule.steps()[at];
            if (is_message(step) && earlier.kind == step.kind && earlier.peer == step.peer) {
                begin = std::max(begin, begins[at]);
            }
        }
        begins.push_back(begin);
    }
    return begins;
}

/// Nothing where a step does not begin or a receive is not awaited, each once.
Times begin_in_line(const Plan& plan, const Times& delays) {
    Times begins(plan.steps().size(), -1);
    std::vector<StepId> requests;
    int receives_under_way = 0;
    int now = 0;
    for (const Plan::Move& move : plan.straight_line()) {
        const auto at = static_cast<std::size_t>(move.step);
        if (move.awaited_request >= 0) {
            if (requests.at(static_cast<std::size_t>(move.awaited_request)) != move.step) return {};
            now = std::max(now, begins[at] + delays[at]);
            receives_under_way -= plan.steps()[at].kind == StepKind::receive ? 1 : 0;
        } else {
            if (begins[at] >= 0) return {};
            begins[at] = now;
            if (plan.steps()[at].rank >= 0) requests.push_back(move.step);
            receives_under_way += plan.steps()[at].kind == StepKind::receive ? 1 : 0;
        }
    }
    const bool all_begun = std::find(begins.begin(), begins.end(), -1) == begins.end();
    return all_begun && receives_under_way == 0 ? begins : Times{};
}

Times random_delays(const Schedule& schedule, std::mt19937& random) {
    Times delays;
    for (const mutirao::Step& step : schedule.steps()) {
        delays.push_back(is_message(step) ? static_cast<int>(random() % 10) : 0);
    }
    return delays;
}

std::vector<Schedule> schedules_of(const Candidate& candidate, int size) {
    const CallShape shape = mutirao::test::shapes_for(*candidate.algorithm, size, {0}, {5}).front();
    return mutirao::test::build_all(candidate, shape, size,
                           mutirao::test::random_tree(candidate.parameters.tree, size, shape.root));
}

TEST(StraightLine, BeginsEverythingWhenItCanBegin) {
    std::mt19937 random(1);
    int lines = 0;
    for (const Candidate& candidate : mutirao::test::candidates_in_one_piece()) {
        for (const int size : {2, 3, 5, 8}) {
            if (!allows(*candidate.algorithm, true, size)) continue;
            const std::vector<Schedule> schedules = schedules_of(candidate, size);
            for (int rank = 0; rank < size; ++rank) {
                const Schedule& schedule = schedules[static_cast<std::size_t>(rank)];
                const Plan plan = plan_of(schedule, rank, size);
                for (int i = 0; i < 10 && !plan.straight_line().empty(); ++i) {
                    const Times delays = random_delays(schedule, random);
                    ASSERT_EQ(begin_in_line(plan, delays), begin_as_soon_as_possible(schedule, delays))
                        << to_string(candidate) << ", rank " << rank << " of " << size;
                    ++lines;
                }
            }
        }
    }
    EXPECT_GT(lines, 1000);
}

TEST(StraightLine, TreesAndExchangesHaveThem) {
    using enum Collective;
    for (const auto& [collective, name] :
         {std::pair{allreduce, "recursive_doubling"}, {allgather, "recursive_doubling"}, {broadcast, "binomial"},
          {barrier, "dissemination"}, {reduce, "chain"}}) {
        const Algorithm* const wanted = find_algorithm(collective, name);
        ASSERT_NE(wanted, nullptr) << name;
        for (const Candidate& candidate : candidates_in_one_piece(collective)) {
            for (const int size : {2, 8}) {
                if (candidate.algorithm != wanted) continue;
                for (int rank = 0; const Schedule& schedule : schedules_of(candidate, size))
                    EXPECT_FALSE(plan_of(schedule, rank++, size).straight_line().empty()) << name;
            }
        }
    }
}

TEST(StraightLine, NoneWhereOneMessageNeedNotWaitForAnother) {
    const Region first{Buffer::output, 0, 8}, second{Buffer::output, 8, 8};
    Schedule passes_on_both;
    const StepId a = passes_on_both.receive(1, first);
    const StepId b = passes_on_both.receive(2, second);
    passes_on_both.send(3, first, {{a}});
    passes_on_both.send(3, second, {{b}});
    EXPECT_TRUE(plan_of(passes_on_both, 0, 4).straight_line().empty());
}

TEST(StraightLine, AwaitsAllOfManyReceivesOrHasNoLine) {
    Schedule gathers;
    constexpr int size = 200;
    for (int peer = 1; peer < size; ++peer) {
        gathers.receive(peer, {Buffer::output, static_cast<std::size_t>(peer), 1});
    }
    EXPECT_TRUE(plan_of(gathers, 0, size).straight_line().empty());
}

}  // namespace
}  // namespace mutirao::mpi
