#include "core/schedule/symbolic_memory.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <utility>

namespace mutirao {
namespace {

namespace {

TEST(RankSets, AreStoredOnce) {
    RankSets sets(130);
    const RankSets::Id some = sets.of({0, 64, 129});
    EXPECT_EQ(sets.of({129, 0, 64}), some);
    EXPECT_EQ(sets.of({7}), 7);
    EXPECT_EQ(sets.ranks(some), (std::vector<int>{0, 64, 129}));
    EXPECT_EQ(sets.to_string(some), "{0,64,129}");
    EXPECT_EQ(sets.ranks(sets.of({})), std::vector<int>{});
    EXPECT_EQ(sets.disjoint_union(sets.of({0, 129}), 64), some);
    EXPECT_EQ(sets.disjoint_union(64, sets.of({0, 129})), some);
    EXPECT_EQ(sets.disjoint_union(some, 64), std::nullopt);
    EXPECT_EQ(sets.disjoint_union(5, 5), std::nullopt);
    EXPECT_EQ(sets.disjoint_union(some, sets.of({})), some);
}

TEST(RankSetsDeathTest, RefuseRanksThatDoNotExist) {
    EXPECT_DEATH(RankSets(4).of({1, 4}), "4 against 4");
    EXPECT_DEATH(RankSets(4).of({-1}), "-1 against 4");
}

TEST(Expressions, AreStoredOnceAndKnowTheirOrder) {
    Expressions ordered(4, false);
    const auto low = ordered.combine(0, 1).value();
    const auto high = ordered.combine(2, 3).value();
    const auto all = ordered.combine(low, high).value();
    EXPECT_EQ(ordered.combine(0, 1), low);
    EXPECT_EQ(ordered.to_string(all), "((0 op 1) op (2 op 3))");
    EXPECT_TRUE(ordered.is_in_order(all));
    const auto swapped = ordered.combine(high, low).value();
    EXPECT_NE(swapped, all);
    EXPECT_FALSE(ordered.is_in_order(swapped));
    EXPECT_EQ(ordered.ranks(swapped), ordered.ranks(all));
    EXPECT_NE(ordered.of({0, 1, 2, 3}), all) << "another association";
    EXPECT_TRUE(ordered.is_in_order(ordered.of({0, 1, 2, 3})));
    EXPECT_FALSE(ordered.is_in_order(ordered.combine(ordered.of({0, 2}), 1).value()));
    EXPECT_EQ(ordered.combine(all, 2), std::nullopt);

    Expressions commuting(4, true);
    EXPECT_EQ(commuting.combine(2, 3), commuting.combine(3, 2));
    EXPECT_NE(commuting.of({0, 1, 2}), commuting.of({1, 2, 0}));
}

TEST(Expressions, OfManyRanksAreShownInPart) {
    Expressions expressions(1000, false);
    std::vector<int> ranks(1000);
    for (int rank = 0; rank < 1000; ++rank) ranks[static_cast<std::size_t>(rank)] = rank;
    const std::string text = expressions.to_string(expressions.of(ranks));
    EXPECT_LT(text.size(), 300u);
    EXPECT_EQ(text.substr(text.size() - 4), " ...");
}

// Against a comparison of all pairs.
TEST(Results, DisagreeWhereAnyTwoDo) {
    std::mt19937 random(1);
    int disagreements = 0;
    for (int run = 0; run < 2000; ++run) {
        std::vector<Result> results;
        for (int i = 0; i < 6; ++i) {
            const std::size_t begin = random() % 20;
            results.push_back({static_cast<RankSets::Id>(random() % 2), begin,
                               begin + 1 + random() % 6, static_cast<int>(random() % 8 / 7), i});
        }
        bool expected = false;
        for (const Result& a : results)
            for (const Result& b : results)
                expected = expected || (a.ranks == b.ranks && a.expression != b.expression &&
                                        a.begin_bytes < b.end_bytes && b.begin_bytes < a.end_bytes);
        disagreements += expected;
        EXPECT_EQ(first_disagreement(results).has_value(), expected);
    }
    EXPECT_GT(disagreements, 100);
}

}  // namespace

// Stretches against plain arrays with one entry per byte.
namespace {

constexpr std::size_t size_bytes = 40;
/// What a byte holds: (expression, source offset); expression -1 where undefined.
using Byte = std::pair<Expressions::Id, std::size_t>;

std::size_t stretch_count(const std::array<Byte, size_bytes>& bytes) {
    std::size_t count = 0;
    for (std::size_t i = 0; i < size_bytes; ++i) {
        const bool continues = i > 0 && bytes[i - 1].first == bytes[i].first &&
                               bytes[i - 1].second + 1 == bytes[i].second;
        count += bytes[i].first >= 0 && !continues;
    }
    return count;
}

// Catches parts beside a write that are lost or cut wrongly, and gaps that reads step over.
TEST(SymbolicMemory, AgreesWithOneEntryPerByte) {
    for (unsigned seed = 0; seed < 200; ++seed) {
        std::mt19937 random(seed);
        SymbolicMemory memory;
        std::array<Byte, size_bytes> expected;
        expected.fill({-1, 0});
        for (int turn = 0; turn < 60; ++turn) {
            const std::size_t begin = random() % size_bytes;
            const std::size_t end = begin + random() % (size_bytes - begin + 1);
            const std::size_t middle = begin + random() % (end - begin + 1);
            std::vector<Stretch> stretches;
            for (const auto& [from, to] : {std::pair(begin, middle), std::pair(middle, end)}) {
                const auto expression = static_cast<Expressions::Id>(random() % 2);
                const std::size_t shift = random() % 2;
                if (from < to) stretches.push_back({from, to, expression, shift});
                for (std::size_t i = from; i < to; ++i) expected[i] = {expression, i + shift};
            }
            memory.write(begin, end, stretches);

            const std::size_t first = random() % size_bytes;
            const std::size_t last = first + random() % (size_bytes - first + 1);
            std::vector<Stretch> found;
            const auto undefined = memory.read(first, last, found);
            const auto hole = std::find_if(expected.begin() + first, expected.begin() + last,
                                           [](const Byte& byte) { return byte.first < 0; });
            const auto end_defined = static_cast<std::size_t>(hole - expected.begin());
            ASSERT_EQ(undefined.value_or(last), end_defined) << "seed " << seed;
            std::size_t at = first;
            for (const Stretch& stretch : found) {
                ASSERT_EQ(stretch.begin_bytes, at);
                for (; at < stretch.end_bytes; ++at)
                    ASSERT_EQ(Byte(stretch.expression, at + stretch.shift_bytes), expected[at])
                        << "seed " << seed;
            }
            ASSERT_EQ(at, end_defined);
        }
        std::vector<Stretch> all;
        for (std::size_t i = 0; i < size_bytes;) {
            std::vector<Stretch> rest;
            const auto undefined = memory.read(i, size_bytes, rest);
            all.insert(all.end(), rest.begin(), rest.end());
            i = undefined.value_or(size_bytes) + 1;
        }
        EXPECT_EQ(all.size(), stretch_count(expected)) << "neighbours not joined, seed " << seed;
    }
}

}  // namespace

}  // namespace
}  // namespace mutirao
