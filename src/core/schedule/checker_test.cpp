// The checker must name each planted fault. That it accepts what is right, and nothing that goes wrong in any order of events,
// is shown of the whole catalogue (catalogue_test.cpp).
#include "core/schedule/test_checker.h"

#include <gtest/gtest.h>

#include <array>
#include <numeric>

#include "core/schedule/test_schedules.h"

namespace mutirao {
namespace {

using test::input;
using test::output;
using test::schedules_of;
using test::scratch;

/// From rank 0.
Promise broadcast_promise(int size, std::size_t length) {
    const std::vector<Piece> message{{output(0, length), {0}, 0}};
    std::vector<std::vector<Piece>> before(static_cast<std::size_t>(size)), after(before.size(), message);
    before[0] = message;
    return {before, after};
}

Promise allreduce_promise(int size, std::size_t length) {
    std::vector<int> all(static_cast<std::size_t>(size));
    std::iota(all.begin(), all.end(), 0);
    Promise promise;
    for (const int rank : all) {
        promise.before.push_back({{input(0, length), {rank}, 0}});
        promise.after.push_back({{output(0, length), all, 0}});
    }
    return promise;
}

/// Of an operator that does not commute, with one result, over elements of 4 bytes.
Promise strict_allreduce(int size, std::size_t length) {
    Promise promise = allreduce_promise(size, length);
    promise.unit_bytes = 4;
    promise.commutes = false;
    promise.one_result = true;
    return promise;
}

void expect_fault(const std::vector<Schedule>& schedules, const Promise& promise,
                  const std::string& part, const std::string& other_part = "") {
    const CheckResult result = check(schedules, promise);
    EXPECT_FALSE(result.ok);
    EXPECT_NE(result.reason.find(part), std::string::npos) << result.reason;
    EXPECT_NE(result.reason.find(other_part), std::string::npos) << result.reason;
}

TEST(Checker, NamesWhatIsWrong) {
    const struct {
        const char* steps;
        Promise promise;
        const char* part;
        const char* other_part = "";
    } cases[] = {
        {"0 send output[0,8) to 1; 1 receive output[0,8) from 0; 0 send output[0,8) to 1", broadcast_promise(2, 8),
         "unmatched send: rank 0 step 1", "no partner at rank 1"},
        {"0 send output[0,8) to 1; 1 receive output[0,7) from 0", broadcast_promise(2, 8),
         "lengths differ: rank 0 step 0", "rank 1 step 0 (receive output[0,7) from 0)"},
        {"1 send output[0,0) to 2", broadcast_promise(2, 0), "peer out of range: rank 1 step 0", "there are 2 ranks"},
        {"1 send output[0,0) to 1; 1 receive output[0,0) from 1", broadcast_promise(2, 0),
         "message to itself: rank 1 step 0"},
        // Both send first and receive after: works with eager sends only.
        {"0 send input[0,8) to 1; 0 receive output[0,8) from 1 after 0;"
         "1 send input[0,8) to 0; 1 receive output[0,8) from 0 after 0",
         allreduce_promise(2, 8), "deadlock under synchronous sends",
         "rank 0 step 0 (send input[0,8) to 1), rank 1 step 0 (send input[0,8) to 0)"},
        // The second message to rank 1 cannot start before the first, which waits for rank 1's answer to the second.
        {"0 receive output[8,16) from 1; 0 send output[0,4) to 1 after 0; 0 send output[4,8) to 1;"
         "1 receive scratch[0,4) from 0; 1 receive scratch[4,8) from 0; 1 send output[0,8) to 0 after 1",
         {{{{output(0, 8), {0}, 0}}, {{output(0, 8), {1}, 0}}}, {{{output(0, 16), {0}, 0}}, {{output(0, 8), {0}, 0}}}},
         "deadlock", "rank 0 step 0 (receive output[8,16) from 1), rank 1 step 0 (receive scratch[0,4) from 0)"},
        {"0 send output[0,8) to 1; 1 receive output[0,8) from 0; 1 send output[4,6) to 2; 2 receive output[4,6) from 1",
         broadcast_promise(3, 8), "race: rank 1 step 0 (receive output[0,8) from 0)",
         "rank 1 step 1 (send output[4,6) to 2)"},
        // A later write over bytes that an unfinished send still reads.
        {"0 send output[0,8) to 1; 0 receive output[7,8) from 1;"
         "1 receive output[0,8) from 0; 1 send output[7,8) to 0 after 0",
         broadcast_promise(2, 8), "race: rank 0 step 0", "rank 0 step 1"},
        {"0 send output[0,9) to 1; 1 receive scratch[0,9) from 0", broadcast_promise(2, 8),
         "read of undefined bytes: rank 0 step 0", "at output byte 8"},
        {"", broadcast_promise(2, 8), "wrong final contents: rank 1 output[0,8)", "found undefined bytes"},
        {"0 send output[0,8) to 1; 1 receive output[0,8) from 0; 1 copy output[0,4) into output[4,8) after 0",
         broadcast_promise(2, 8), "wrong final contents: rank 1 output[4,8)",
         "expected bytes [4,8) of ranks {0}, found bytes [0,4) of ranks {0}"},
        {"0 send input[0,4) to 1; 1 copy input[4,8) into output[4,8); 1 receive scratch[0,4) from 0;"
         "1 reduce scratch[0,4) into output[4,8) after 0 1",
         allreduce_promise(2, 8), "do not belong together: rank 1 step 2", "byte 4 of some ranks with byte 0"},
        {"0 copy input[0,4) into input[4,8)", allreduce_promise(1, 8), "write to the input: rank 0 step 0"},
        {"0 copy input[0,8) into output[1,9)", allreduce_promise(1, 8), "write outside the output", "rank 0 step 0"},
        {"0 copy output[0,4) into output[2,6)", broadcast_promise(1, 8),
         "source and target overlap: rank 0 step 0"},
    };
    for (const auto& [steps, promise, part, other_part] : cases)
        expect_fault(schedules_of(static_cast<int>(promise.before.size()), steps), promise, part, other_part);
}

TEST(Checker, NamesARankThatIsDoneBeforeAnotherHasBegun) {
    std::vector<Schedule> ranks = test::messages(3, {{0, 1}, {1, 2}, {2, 0}}, 0);
    Promise promise{std::vector<std::vector<Piece>>(3), std::vector<std::vector<Piece>>(3)};
    promise.synchronizes = true;
    expect_fault(ranks, promise, "not synchronised: rank 0 may be done before rank 1 has begun");
    for (const auto& [from, to] : {std::pair{0, 2}, {1, 0}, {2, 1}}) {
        ranks[static_cast<std::size_t>(from)].send(to, output(0, 0));
        ranks[static_cast<std::size_t>(to)].receive(from, output(0, 0));
    }
    EXPECT_EQ(check(ranks, promise).reason, "");
}

TEST(CheckerDeathTest, RefusesPromisesForOtherSizes) {
    EXPECT_DEATH(check(std::vector<Schedule>(3), broadcast_promise(2, 8)), "2 against 3");
}

// What is proved of reductions: every contribution once, in the order that the operator demands,
// in one way on all ranks where bits must be equal, and no element cut.

/// What a rank combines its own operand with, one after the other.
struct Operand {
    int from;
    bool before = false;  ///< it comes first
};

/// Each rank sends its input to all that combine with it, as often as they do.
std::vector<Schedule> combining(const std::vector<std::vector<Operand>>& operands) {
    std::vector<Schedule> ranks(operands.size());
    for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
        for (const Operand& each : operands[rank])
            ranks[static_cast<std::size_t>(each.from)].send(static_cast<int>(rank), input(0, 8));
        StepId latest = ranks[rank].copy(input(0, 8), output(0, 8));
        for (std::size_t i = 0; i < operands[rank].size(); ++i) {
            const Region landing = scratch(8 * i, 8);
            const std::array after{ranks[rank].receive(operands[rank][i].from, landing), latest};
            latest = operands[rank][i].before ? ranks[rank].reduce_before(landing, output(0, 8), after)
                                              : ranks[rank].reduce(landing, output(0, 8), after);
        }
    }
    return ranks;
}

TEST(CheckerReductions, NameContributionsCountedTwice) {
    for (const Promise& promise : {allreduce_promise(2, 8), strict_allreduce(2, 8)})
        expect_fault(combining({{{1}, {1}}, {{0}, {0}}}), promise, "contribution counted twice: rank 1 step 6",
                     "combines ranks {0,1} with ranks {0}");
}

TEST(CheckerReductions, NameSwappedOperands) {
    const auto ranks = combining({{{1}}, {{0}}});
    Promise promise = strict_allreduce(2, 8);
    expect_fault(ranks, promise, "operands out of order: rank 1 ends with (1 op 0)");
    promise.commutes = true;
    EXPECT_EQ(check(ranks, promise).reason, "") << "the same bits";
}

TEST(CheckerReductions, NameAnotherAssociationOnAnotherRank) {
    // ((0 op 1) op 2) on ranks 0 and 1, (0 op (1 op 2)) on rank 2: in order, but not the same.
    const auto ranks = combining({{{1}, {2}}, {{0, true}, {2}}, {{1, true}, {0, true}}});
    Promise promise = strict_allreduce(3, 8);
    expect_fault(ranks, promise, "results may differ in their bits: rank 0 ends with "
                                 "((0 op 1) op 2), rank 2 with (0 op (1 op 2))");
    promise.commutes = true;
    expect_fault(ranks, promise, "results may differ in their bits");
    promise.one_result = false;
    EXPECT_EQ(check(ranks, promise).reason, "");
    promise.commutes = false;
    EXPECT_EQ(check(ranks, promise).reason, "") << "in order, and nobody promised more";
    promise.from_first = true;
    expect_fault(ranks, promise, "operands out of order: rank 2 ends with (0 op (1 op 2))");
}

TEST(CheckerReductions, NameAMissingContribution) {
    expect_fault(combining({{{1}, {2}}, {{0, true}, {2}}, {{1, true}}}), strict_allreduce(3, 8),
                 "wrong final contents: rank 2", "of ranks {0,1,2}, found bytes [0,8) of ranks {1,2}");
}

/// Two ranks exchange their inputs and combine them in pieces of `piece` bytes.
std::vector<Schedule> in_pieces(std::size_t length, std::size_t piece) {
    std::vector<Schedule> ranks(2);
    for (const int rank : {0, 1}) {
        Schedule& own = ranks[static_cast<std::size_t>(rank)];
        const StepId copied = own.copy(input(0, length), output(0, length));
        for (std::size_t at = 0; at < length; at += piece) {
            const std::size_t bytes = std::min(piece, length - at);
            own.send(1 - rank, input(at, bytes));
            const StepId received = own.receive(1 - rank, scratch(at, bytes));
            const std::array after{received, copied};
            rank == 0 ? own.reduce(scratch(at, bytes), output(at, bytes), after)
                      : own.reduce_before(scratch(at, bytes), output(at, bytes), after);
        }
    }
    return ranks;
}

TEST(CheckerReductions, NameAnElementThatIsCut) {
    const Promise promise = strict_allreduce(2, 24);
    for (const std::size_t piece : {4u, 8u, 12u, 20u, 24u})
        EXPECT_EQ(check(in_pieces(24, piece), promise).reason, "");
    for (const std::size_t piece : {3u, 6u, 10u})
        expect_fault(in_pieces(24, piece), promise, "element cut: ", "of elements of 4 bytes");
    expect_fault(in_pieces(10, 12), strict_allreduce(2, 10), "element cut: ", "bytes [0,10)");
    const auto moved =
        schedules_of(2, "0 copy input[0,8) into output[0,8); 0 receive scratch[0,3) from 1; 0 receive scratch[3,8) from 1;"
                        "0 reduce scratch[0,8) into output[0,8) after 1 2 0; 0 send output[0,8) to 1 after 3;"
                        "1 send input[0,3) to 0; 1 send input[3,8) to 0; 1 receive output[0,8) from 0");
    EXPECT_EQ(check(moved, strict_allreduce(2, 8)).reason, "") << "what only moves may be cut anywhere";
}

}  // namespace
}  // namespace mutirao
