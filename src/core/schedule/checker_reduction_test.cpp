// What is proved of reductions: every contribution once, in the order that the operator demands,
// in one way on all ranks where bits must be equal, and no element cut. Each check is shown a
// schedule that keeps the rule and one with the fault.
#include <gtest/gtest.h>

#include <numeric>

#include "core/schedule/checker.h"
#include "core/schedule/test_schedules.h"

namespace mutirao {
namespace {

using testing::input;
using testing::output;
using testing::scratch;

std::vector<int> all_ranks(int size) {
    std::vector<int> ranks(static_cast<std::size_t>(size));
    std::iota(ranks.begin(), ranks.end(), 0);
    return ranks;
}

/// Of an operator that does not commute, with one result, over elements of 4 bytes.
Promise strict_allreduce(int size, std::size_t length) {
    Promise promise;
    for (int rank = 0; rank < size; ++rank) {
        promise.before.push_back({{input(0, length), {rank}, 0}});
        promise.after.push_back({{output(0, length), all_ranks(size), 0}});
    }
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

/// Recursive doubling that puts the lower ranks' data first; but not rank `wrong`, in its last
/// round.
std::vector<Schedule> ordered_doubling(int size, std::size_t length, int wrong = -1) {
    std::vector<Schedule> ranks(static_cast<std::size_t>(size));
    for (int rank = 0; rank < size; ++rank) {
        Schedule& own = ranks[static_cast<std::size_t>(rank)];
        StepId latest = own.copy(input(0, length), output(0, length));
        std::size_t round = 0;
        for (int bit = 1; bit < size; bit <<= 1, ++round) {
            const Region incoming = scratch(round * length, length);
            const StepId sent = own.send(rank ^ bit, output(0, length), std::array{latest});
            const StepId received = own.receive(rank ^ bit, incoming);
            const std::array after{sent, received, latest};
            bool before = (rank & bit) != 0;
            if (rank == wrong && 2 * bit >= size) before = !before;
            latest = before ? own.reduce_before(incoming, output(0, length), after)
                            : own.reduce(incoming, output(0, length), after);
        }
    }
    return ranks;
}

TEST(CheckerReductions, AcceptWhatKeepsTheOrderOfRanks) {
    for (const int size : {1, 2, 4, 8, 32})
        EXPECT_EQ(check(ordered_doubling(size, 24), strict_allreduce(size, 24)).reason, "");
}

TEST(CheckerReductions, NameSwappedOperands) {
    for (const int wrong : {0, 3, 7})
        expect_fault(ordered_doubling(8, 24, wrong), strict_allreduce(8, 24),
                     "operands out of order: rank " + std::to_string(wrong) +
                         " ends with (((4 op 5) op (6 op 7)) op ((0 op 1) op (2 op 3)))");
    Promise commuting = strict_allreduce(8, 24);
    commuting.commutes = true;
    EXPECT_EQ(check(ordered_doubling(8, 24, 3), commuting).reason, "") << "the same bits";
}

/// All send their input to all; every rank combines in its own way: the order of `others` on each.
std::vector<Schedule> all_to_all(const std::vector<std::vector<int>>& others,
                                 const std::vector<std::vector<bool>>& before) {
    const int size = static_cast<int>(others.size());
    std::vector<Schedule> ranks(others.size());
    for (int rank = 0; rank < size; ++rank) {
        const auto self = static_cast<std::size_t>(rank);
        Schedule& own = ranks[self];
        for (int peer = 0; peer < size; ++peer)
            if (peer != rank) own.send(peer, input(0, 8));
        StepId latest = own.copy(input(0, 8), output(0, 8));
        for (std::size_t i = 0; i < others[self].size(); ++i) {
            const int peer = others[self][i];
            const Region landing = scratch(8 * static_cast<std::size_t>(peer), 8);
            const std::array after{own.receive(peer, landing), latest};
            latest = before[self][i] ? own.reduce_before(landing, output(0, 8), after)
                                     : own.reduce(landing, output(0, 8), after);
        }
    }
    return ranks;
}

TEST(CheckerReductions, NameAnotherAssociationOnAnotherRank) {
    // ((0 op 1) op 2) on ranks 0 and 1, (0 op (1 op 2)) on rank 2: in order, but not the same.
    const auto ranks = all_to_all({{1, 2}, {0, 2}, {1, 0}},
                                  {{false, false}, {true, false}, {true, true}});
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

TEST(CheckerReductions, NameContributionsCountedTwice) {
    const auto ranks = all_to_all({{1, 2}, {0, 2}, {1, 0}},
                                  {{false, false}, {true, false}, {true, true}});
    std::vector<Schedule> twice = ranks;
    const auto last = static_cast<StepId>(twice[1].size()) - 1;
    twice[1].reduce(scratch(0, 8), output(0, 8), std::array{last});
    expect_fault(twice, strict_allreduce(3, 8), "contribution counted twice: rank 1",
                 "combines ranks {0,1,2} with ranks {0}");
}

TEST(CheckerReductions, NameAMissingContribution) {
    const auto ranks = all_to_all({{1, 2}, {0, 2}, {1}}, {{false, false}, {true, false}, {true}});
    Promise promise = strict_allreduce(3, 8);
    std::vector<Schedule> without = ranks;
    without[2].receive(0, scratch(0, 8));
    expect_fault(without, promise, "wrong final contents: rank 2",
                 "of ranks {0,1,2}, found bytes [0,8) of ranks {1,2}");
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
    // What only moves may be cut anywhere.
    std::vector<Schedule> moved(2);
    StepId latest = moved[0].copy(input(0, 8), output(0, 8));
    const StepId first = moved[0].receive(1, scratch(0, 3));
    const StepId second = moved[0].receive(1, scratch(3, 5));
    latest = moved[0].reduce(scratch(0, 8), output(0, 8), std::array{first, second, latest});
    moved[0].send(1, output(0, 8), std::array{latest});
    moved[1].send(0, input(0, 3));
    moved[1].send(0, input(3, 5));
    moved[1].receive(0, output(0, 8));
    EXPECT_EQ(check(moved, strict_allreduce(2, 8)).reason, "");
}

}  // namespace
}  // namespace mutirao
