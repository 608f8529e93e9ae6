// Sets and expressions of ranks: stored once, and what they say of order and association.
#include "core/schedule/expressions.h"

#include <gtest/gtest.h>

#include <random>

namespace mutirao {
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
}  // namespace mutirao
