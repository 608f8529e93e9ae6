// Against std::set.
#include "core/text/number_set.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

namespace mutirao {
namespace {

TEST(NumberSet, BehavesAsASet) {
    std::mt19937 random(3);
    for (int round = 0; round < 200; ++round) {
        NumberSet set, other;
        std::set<int> expected, expected_other;
        const int bound = 1 + static_cast<int>(random() % 300);
        for (std::uint32_t more = random() % 40; more > 0; --more) {
            const int number = static_cast<int>(random() % static_cast<unsigned>(bound));
            const int other_number = static_cast<int>(random() % 64U);
            set.insert(number);
            expected.insert(number);
            other.insert(other_number);
            expected_other.insert(other_number);
        }
        EXPECT_EQ(set == other, expected == expected_other);
        NumberSet reversed = other;
        reversed.unite(set);
        set.unite(other);
        expected.merge(expected_other);
        EXPECT_TRUE(std::ranges::equal(set.numbers(), expected));
        EXPECT_TRUE(set == reversed);
        EXPECT_EQ(set.count(), std::ssize(expected));
        EXPECT_EQ(set.empty(), expected.empty());
        for (int number = -1; number < 400; ++number)
            EXPECT_EQ(set.contains(number), expected.contains(number)) << number;
    }
}

}  // namespace
}  // namespace mutirao
