#include <gtest/gtest.h>

#include "core/settings/settings.h"

namespace mutirao {
namespace {

using Names = std::vector<std::string>;
const Names some_names = {"binomial", "chain", "flat", "native", "scatter_ring", "tree"};

TEST(DidYouMean, TheNearestFirst) {
    EXPECT_EQ(did_you_mean("binomail", some_names), "; did you mean binomial?");
    EXPECT_EQ(did_you_mean("FLAT", some_names), "; did you mean flat?");
    EXPECT_EQ(did_you_mean("trea", {"treb", "tree", "tre"}), "; did you mean tre, treb or tree?");
    EXPECT_EQ(did_you_mean("", {"binomial"}), "");
}

// Catches a swap counted as two changes.
TEST(DidYouMean, SwappedNeighboursCountOnce) {
    EXPECT_EQ(did_you_mean("abdc", {"abxy", "abcd"}), "; did you mean abcd?");
}

// Catches a result that depends on the order of the input, which would let ranks differ.
TEST(DidYouMean, TiesByName) {
    EXPECT_EQ(did_you_mean("ac", {"ab", "aa"}), did_you_mean("ac", {"aa", "ab"}));
}

TEST(WhichAreValid, AllWhereNothingIsNear) {
    EXPECT_EQ(which_are_valid("chian", some_names), did_you_mean("chian", some_names));
    EXPECT_EQ(which_are_valid("quicksort", {"a", "b"}, "--"), "; valid are --a, --b");
    EXPECT_EQ(which_are_valid("quicksort", {}), "");
}

TEST(DidYouMean, SaysNothingIfNothingIsNear) {
    EXPECT_EQ(did_you_mean("quicksort", some_names), "");
}

TEST(DidYouMean, NamesOneTwoOrThree) {
    EXPECT_EQ(did_you_mean("chian", some_names), "; did you mean chain?");
    EXPECT_EQ(did_you_mean("aa", {"ab", "ac"}), "; did you mean ab or ac?");
    EXPECT_EQ(did_you_mean("aa", {"ab", "ac", "ad", "ae"}), "; did you mean ab, ac or ad?");
}

TEST(DidYouMean, KnowsAbbreviationsAndHyphens) {
    EXPECT_EQ(did_you_mean("scatter", some_names), "; did you mean scatter_ring?");
    EXPECT_EQ(did_you_mean("scatter-ring", some_names), "; did you mean scatter_ring?");
}

}  // namespace
}  // namespace mutirao
