#include <gtest/gtest.h>

#include "core/settings/settings.h"

namespace mutirao {
namespace {

using Names = std::vector<std::string>;
const Names some_names = {"binomial", "chain", "flat", "native", "scatter_ring", "tree"};

TEST(Nearest, OrdersByDistance) {
    EXPECT_EQ(nearest_names("binomail", some_names, 1), Names{"binomial"});
    EXPECT_EQ(nearest_names("tre", some_names, 1), Names{"tree"});
    EXPECT_EQ(nearest_names("FLAT", some_names, 1), Names{"flat"});
    EXPECT_EQ(nearest_names("x", some_names, 99).size(), some_names.size());
}

// Catches a swap counted as two changes: "abxc" would then be nearer to "abdc" than "abcd" is.
TEST(Nearest, SwappedNeighboursCountOnce) {
    EXPECT_EQ(nearest_names("abdc", {"abxc", "abcd"}, 1), Names{"abcd"});
    EXPECT_EQ(nearest_names("abcdfe", {"abcdxy", "abcdef"}, 1), Names{"abcdef"});
}

// Catches a result that depends on the order of the input, which would let ranks differ.
TEST(Nearest, TiesByName) {
    EXPECT_EQ(nearest_names("ac", {"ab", "aa"}, 2), (Names{"aa", "ab"}));
    EXPECT_EQ(nearest_names("ac", {"aa", "ab"}, 2), (Names{"aa", "ab"}));
}

TEST(Nearest, TheEmptyWord) {
    EXPECT_EQ(nearest_names("", {"abc", "a"}, 1), Names{"a"});
    EXPECT_TRUE(nearest_names("a", {}).empty());
    EXPECT_EQ(did_you_mean("", {"binomial"}), "");
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
