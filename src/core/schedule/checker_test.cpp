// The checker must accept right collectives of every kind and name each planted fault.
#include "core/schedule/checker.h"

#include <gtest/gtest.h>

#include <array>
#include <numeric>

#include "core/schedule/test_schedules.h"

namespace mutirao {
namespace {

using testing::broadcast_promise;
using testing::input;
using testing::output;
using testing::scratch;

std::vector<int> all_ranks(int size) {
    std::vector<int> ranks(static_cast<std::size_t>(size));
    std::iota(ranks.begin(), ranks.end(), 0);
    return ranks;
}

Promise allreduce_promise(int size, std::size_t length) {
    Promise promise;
    for (int rank = 0; rank < size; ++rank) {
        promise.before.push_back({{input(0, length), {rank}, 0}});
        promise.after.push_back({{output(0, length), all_ranks(size), 0}});
    }
    return promise;
}

Promise allgather_promise(int size, std::size_t block) {
    Promise promise;
    promise.after.resize(static_cast<std::size_t>(size));
    for (int rank = 0; rank < size; ++rank) {
        promise.before.push_back({{input(0, block), {rank}, 0}});
        for (auto& after : promise.after)
            after.push_back({output(static_cast<std::size_t>(rank) * block, block), {rank}, 0});
    }
    return promise;
}

void expect_fault(const std::vector<Schedule>& schedules, const Promise& promise,
                  const std::string& part, const std::string& other_part = "") {
    const CheckResult result = check(schedules, promise);
    EXPECT_FALSE(result.ok);
    EXPECT_NE(result.reason.find(part), std::string::npos) << result.reason;
    EXPECT_NE(result.reason.find(other_part), std::string::npos) << result.reason;
}

TEST(Checker, AcceptsBroadcasts) {
    for (int size = 1; size <= 33; ++size)
        for (const std::size_t length : {0u, 1u, 13u}) {
            const Promise promise = broadcast_promise(size, 0, length);
            EXPECT_EQ(check(testing::flat_broadcast(size, length), promise).reason, "");
            EXPECT_EQ(check(testing::binomial_broadcast(size, length), promise).reason, "");
            EXPECT_EQ(check(testing::chain_broadcast(size, 5, length),
                            broadcast_promise(size, 0, 5 * length))
                          .reason,
                      "");
        }
}

TEST(Checker, AcceptsAllreduce) {
    for (const int size : {1, 2, 4, 64, 128})
        EXPECT_EQ(check(testing::doubling_allreduce(size, 24), allreduce_promise(size, 24)).reason,
                  "");
}

TEST(Checker, AcceptsRingAllgatherThroughScratch) {
    for (const int size : {1, 2, 3, 6, 17})
        EXPECT_EQ(check(testing::ring_allgather(size, 24), allgather_promise(size, 24)).reason, "");
}

TEST(Checker, FollowsBytesCutDifferentlyOnEachSide) {
    // Two pieces leave, are joined by a copy into scratch at another offset, and come back shifted
    // and cut elsewhere.
    std::vector<Schedule> ranks(2);
    ranks[0].send(1, output(0, 3));
    ranks[0].send(1, output(3, 7));
    ranks[0].receive(1, scratch(100, 6));
    const StepId first = ranks[1].receive(0, output(5, 3));
    const StepId second = ranks[1].receive(0, output(8, 7));
    const StepId joined = ranks[1].copy(output(5, 10), scratch(1, 10), std::array{first, second});
    ranks[1].send(0, scratch(3, 6), std::array{joined});
    Promise promise;
    promise.before = {{{output(0, 10), {0}, 0}}, {}};
    promise.after = {{{scratch(100, 6), {0}, 2}}, {{output(5, 10), {0}, 0}}};
    EXPECT_EQ(check(ranks, promise).reason, "");
    promise.after[0][0].source_offset_bytes = 3;
    expect_fault(ranks, promise, "wrong final contents: rank 0 scratch[100,106)",
                 "expected bytes [3,9) of ranks {0}, found bytes [2,8) of ranks {0}");
}

TEST(Checker, NamesUnmatchedSend) {
    auto ranks = testing::flat_broadcast(3, 8);
    ranks[0].send(2, output(0, 8));
    expect_fault(ranks, broadcast_promise(3, 0, 8), "unmatched send: rank 0 step 2",
                 "no partner at rank 2");
}

TEST(Checker, NamesUnmatchedReceive) {
    auto ranks = testing::flat_broadcast(3, 8);
    ranks[2].receive(1, output(0, 8), std::array{StepId{0}});
    expect_fault(ranks, broadcast_promise(3, 0, 8), "unmatched receive: rank 2 step 1");
}

TEST(Checker, NamesDifferentLengths) {
    std::vector<Schedule> ranks(2);
    ranks[0].send(1, output(0, 8));
    ranks[1].receive(0, output(0, 7));
    expect_fault(ranks, broadcast_promise(2, 0, 8), "lengths differ: rank 0 step 0",
                 "rank 1 step 0 (receive output[0,7) from 0)");
}

TEST(Checker, NamesPeerOutOfRangeAndMessageToItself) {
    std::vector<Schedule> ranks(2);
    ranks[1].send(2, output(0, 0));
    expect_fault(ranks, broadcast_promise(2, 0, 0), "peer out of range: rank 1 step 0",
                 "there are 2 ranks");
    ranks.assign(2, {});
    ranks[1].send(1, output(0, 0));
    ranks[1].receive(1, output(0, 0));
    expect_fault(ranks, broadcast_promise(2, 0, 0), "message to itself: rank 1 step 0");
}

TEST(Checker, NamesDeadlockOfSynchronousSends) {
    // Both send first and receive after: works with eager sends only.
    std::vector<Schedule> ranks(2);
    for (const int rank : {0, 1}) {
        Schedule& own = ranks[static_cast<std::size_t>(rank)];
        const StepId sent = own.send(1 - rank, input(0, 8));
        own.receive(1 - rank, output(0, 8), std::array{sent});
    }
    Promise promise = allreduce_promise(2, 8);
    expect_fault(ranks, promise, "deadlock under synchronous sends: rank 0 step 0",
                 "rank 0 step 0 (send input[0,8) to 1) waits for rank 1 step 1");
}

TEST(Checker, NamesDeadlockOfMessagesInTheWrongOrder) {
    // The second message to rank 1 cannot start before the first, which waits for rank 1's answer
    // to the second.
    std::vector<Schedule> ranks(2);
    const StepId answer = ranks[0].receive(1, output(8, 8));
    ranks[0].send(1, output(0, 4), std::array{answer});
    ranks[0].send(1, output(4, 4));
    ranks[1].receive(0, scratch(0, 4));
    ranks[1].send(0, output(0, 8), std::array{ranks[1].receive(0, scratch(4, 4))});
    Promise promise;
    promise.before = {{{output(0, 8), {0}, 0}}, {{output(0, 8), {1}, 0}}};
    promise.after = {{{output(0, 16), {0}, 0}}, {{output(0, 8), {0}, 0}}};
    expect_fault(ranks, promise, "deadlock",
                 "rank 0 step 2 (send output[4,8) to 1) waits for rank 0 step 1");
}

TEST(Checker, NamesRaces) {
    std::vector<Schedule> ranks(3);
    ranks[0].send(1, output(0, 8));
    ranks[1].receive(0, output(0, 8));
    ranks[1].send(2, output(4, 2));
    ranks[2].receive(1, output(4, 2));
    const Promise promise = broadcast_promise(3, 0, 8);
    expect_fault(ranks, promise, "race: rank 1 step 0 (receive output[0,8) from 0)",
                 "rank 1 step 1 (send output[4,6) to 2)");

    // A later write over bytes that an unfinished send still reads.
    ranks.assign(2, {});
    ranks[0].send(1, output(0, 8));
    ranks[0].receive(1, output(7, 1));
    ranks[1].send(0, output(7, 1), std::array{ranks[1].receive(0, output(0, 8))});
    expect_fault(ranks, broadcast_promise(2, 0, 8), "race: rank 0 step 0", "rank 0 step 1");
}

TEST(Checker, SeesOrderThroughLongPathsOfDependencies) {
    std::vector<Schedule> ranks;
    const auto build = [&](bool broken) {
        ranks.assign(2, {});
        ranks[0].send(1, output(0, 8));
        StepId at = ranks[1].receive(0, output(0, 8));
        for (std::size_t i = 0; i < 50; ++i)
            at = ranks[1].copy(output(0, 8), scratch(8 * i, 8),
                               broken && i == 20 ? Schedule::After{} : std::array{at});
        ranks[1].copy(scratch(0, 8), output(0, 8), std::array{at});
    };
    build(false);
    EXPECT_EQ(check(ranks, broadcast_promise(2, 0, 8)).reason, "");
    build(true);
    expect_fault(ranks, broadcast_promise(2, 0, 8), "race: rank 1 step 0", "rank 1 step 21");
}

TEST(Checker, NamesReadOfUndefinedBytes) {
    std::vector<Schedule> ranks(2);
    ranks[0].send(1, output(0, 9));
    ranks[1].receive(0, scratch(0, 9));
    expect_fault(ranks, broadcast_promise(2, 0, 8), "read of undefined bytes: rank 0 step 0",
                 "at output byte 8");
}

TEST(Checker, NamesWrongAndMissingFinalContents) {
    expect_fault({2, Schedule()}, broadcast_promise(2, 0, 8),
                 "wrong final contents: rank 1 output[0,8)", "found undefined bytes");
    auto ranks = testing::ring_allgather(3, 4);
    ranks[1].copy(output(0, 4), output(4, 4), std::vector<StepId>{6, 0, 1, 4});
    expect_fault(ranks, allgather_promise(3, 4), "wrong final contents: rank 1 output[4,8)",
                 "expected bytes [0,4) of ranks {1}, found bytes [0,4) of ranks {0}");
}

TEST(Checker, NamesContributionsCountedTwice) {
    // Both exchange their input twice and add both copies.
    std::vector<Schedule> ranks(2);
    for (const int rank : {0, 1}) {
        Schedule& own = ranks[static_cast<std::size_t>(rank)];
        const StepId copied = own.copy(input(0, 8), output(0, 8));
        own.send(1 - rank, input(0, 8));
        own.send(1 - rank, input(0, 8));
        const StepId first = own.receive(1 - rank, scratch(0, 8));
        const StepId second = own.receive(1 - rank, scratch(8, 8));
        const StepId once = own.reduce(scratch(0, 8), output(0, 8), std::array{first, copied});
        own.reduce(scratch(8, 8), output(0, 8), std::array{second, once});
    }
    expect_fault(ranks, allreduce_promise(2, 8), "contribution counted twice: rank 1 step 6",
                 "combines ranks {0,1} with ranks {0}");
}

TEST(Checker, NamesReductionOfBytesThatDoNotBelongTogether) {
    std::vector<Schedule> ranks(2);
    ranks[0].send(1, input(0, 4));
    const StepId copied = ranks[1].copy(input(4, 4), output(4, 4));
    const StepId received = ranks[1].receive(0, scratch(0, 4));
    ranks[1].reduce(scratch(0, 4), output(4, 4), std::array{copied, received});
    expect_fault(ranks, allreduce_promise(2, 8), "do not belong together: rank 1 step 2",
                 "byte 4 of some ranks with byte 0");
}

TEST(Checker, NamesWritesWhereTheyMustNotBe) {
    std::vector<Schedule> ranks(1);
    ranks[0].copy(input(0, 4), input(4, 4));
    expect_fault(ranks, allreduce_promise(1, 8), "write to the input: rank 0 step 0");
    ranks.assign(1, {});
    ranks[0].copy(input(0, 8), output(1, 8));
    expect_fault(ranks, allreduce_promise(1, 8), "write outside the output", "rank 0 step 0");
    ranks.assign(1, {});
    ranks[0].copy(output(0, 4), output(2, 4));
    expect_fault(ranks, broadcast_promise(1, 0, 8), "source and target overlap: rank 0 step 0");
}

TEST(CheckerDeathTest, RefusesPromisesForOtherSizes) {
    EXPECT_DEATH(check(std::vector<Schedule>(3), broadcast_promise(2, 0, 8)), "2 against 3");
}

}  // namespace
}  // namespace mutirao
