// Sets of hosts against std::set.
#include "core/spanning_tree/values.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

namespace mutirao {
namespace {

TEST(HostSet, BehavesAsASet) {
    std::mt19937 random(3);
    for (int round = 0; round < 200; ++round) {
        HostSet set, other;
        std::set<int> expected, expected_other;
        const int bound = 1 + static_cast<int>(random() % 300);
        for (std::uint32_t more = random() % 40; more > 0; --more) {
            const int host = static_cast<int>(random() % static_cast<unsigned>(bound));
            const int other_host = static_cast<int>(random() % 64U);
            set.insert(host);
            expected.insert(host);
            other.insert(other_host);
            expected_other.insert(other_host);
        }
        EXPECT_EQ(set == other, expected == expected_other);
        HostSet reversed = other;
        reversed.unite(set);
        set.unite(other);
        expected.merge(expected_other);
        EXPECT_TRUE(std::ranges::equal(set.hosts(), expected));
        EXPECT_TRUE(set == reversed);
        EXPECT_EQ(set.count(), std::ssize(expected));
        EXPECT_EQ(set.empty(), expected.empty());
        for (int host = -1; host < 400; ++host)
            EXPECT_EQ(set.contains(host), expected.contains(host)) << host;
    }
}

TEST(HostSet, ComesBackFromItsWords) {
    const HostSet set{1, 64, 200};
    const auto copy = HostSet::from_words({set.words().begin(), set.words().end()});
    ASSERT_TRUE(copy);
    EXPECT_TRUE(*copy == set);
    EXPECT_TRUE(HostSet::from_words({}));
    EXPECT_FALSE(HostSet::from_words({1, 0}));
    EXPECT_TRUE(HostSet::from_words(std::vector<std::uint64_t>(1024, 1)));
    EXPECT_FALSE(HostSet::from_words(std::vector<std::uint64_t>(1025, 1)));
}

TEST(HostSetDeathTest, HostsBeyondTheBoundAbort) {
    HostSet set;
    set.insert(HostSet::most_hosts - 1);
    EXPECT_DEATH(set.insert(HostSet::most_hosts), "host of how many: 65536 against 65536");
    EXPECT_DEATH(set.insert(-1), "host of how many: -1 against 65536");
}

}  // namespace
}  // namespace mutirao
