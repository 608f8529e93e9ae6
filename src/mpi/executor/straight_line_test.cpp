// Straight lines against the schedules that they come from: whenever messages come, each step begins when it
// would if everything began as soon as it can.
#include <gtest/gtest.h>

#include <numeric>

#include "core/algorithms/test_requests.h"
#include "mpi/base/world.h"
#include "mpi/executor/execution.h"

namespace mutirao::mpi {
namespace {

Plan plan_of(const Schedule& schedule, int rank, int size) {
    Members members;
    members.my_rank = rank;
    members.twin_rank_of.resize(static_cast<std::size_t>(size));
    std::iota(members.twin_rank_of.begin(), members.twin_rank_of.end(), 0);
    members.placement = std::make_shared<const Placement>(Placement::one_rank_per_host(size));
    return Plan(schedule, Transport{}, members);
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
    constexpr std::array roots{0};
    constexpr std::array<std::size_t, 1> units{5};
    const CallShape shape = test::shapes_for(*candidate.algorithm, size, roots, units).front();
    return test::build_all(candidate, shape, size,
                           test::random_tree(candidate.parameters.tree, size, shape.root));
}

bool fits(const Candidate& candidate, int size) {
    return candidate.algorithm->fits == nullptr || candidate.algorithm->fits(size);
}

/// Where every rank has one.
bool has_straight_lines(const Candidate& candidate, int size) {
    const std::vector<Schedule> schedules = schedules_of(candidate, size);
    for (int rank = 0; rank < size; ++rank) {
        const Schedule& schedule = schedules[static_cast<std::size_t>(rank)];
        if (plan_of(schedule, rank, size).straight_line().empty()) return false;
    }
    return true;
}

TEST(StraightLine, BeginsEverythingWhenItCanBegin) {
    std::mt19937 random(1);
    int lines = 0;
    for (const Candidate& candidate : test::candidates_in_one_piece()) {
        for (const int size : {2, 3, 5, 8}) {
            if (!fits(candidate, size)) continue;
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
    for (const char* const name : {"allreduce/recursive_doubling", "allgather/recursive_doubling",
                                   "broadcast/binomial", "barrier/dissemination", "reduce/chain"}) {
        int found = 0;
        for (const Candidate& candidate : test::candidates_in_one_piece()) {
            const std::string its_name = std::string(row_of(candidate.algorithm->collective).name) +
                                         "/" + std::string(candidate.algorithm->name);
            if (its_name != name) continue;
            ++found;
            EXPECT_TRUE(has_straight_lines(candidate, 2) && has_straight_lines(candidate, 8)) << name;
        }
        EXPECT_GT(found, 0) << name;
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
