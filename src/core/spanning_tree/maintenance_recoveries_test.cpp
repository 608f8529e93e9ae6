// Recovered links against Kruskal's algorithm over all links at once.
// Planted and caught: the lightest link of the cycle goes; a recovered link taken whatever its
// weight; the worst link of all instead of the cycle's; ties not broken by host numbers; only one
// link treated; the tree not hung anew after a swap; the wrong end climbing.
#include "core/spanning_tree/maintenance_recoveries.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>

#include "core/network/test_networks.h"
#include "core/spanning_tree/kruskal.h"

namespace mutirao::maintenance {
namespace {

EdgeList ends(const std::vector<Weight>& links) {
    EdgeList list;
    for (const Weight& link : links) list.emplace_back(link.low, link.high);
    return list;
}

TEST(Recoveries, TakeThePlaceOfTheWorstLinkOfTheirCycle) {
    const std::vector<Weight> tree = {{5, 0, 1}, {9, 1, 2}, {7, 2, 3}};
    EXPECT_EQ(ends(with_recoveries(tree, {{8, 0, 3}})), (EdgeList{{0, 1}, {0, 3}, {2, 3}}));
    EXPECT_EQ(ends(with_recoveries(tree, {{9, 0, 2}})), (EdgeList{{0, 1}, {0, 2}, {2, 3}}))
        << "of two links of weight 9 the one with the lower ends stays";
    EXPECT_EQ(ends(with_recoveries(tree, {{9, 1, 3}})), (EdgeList{{0, 1}, {1, 2}, {2, 3}}));
}

TEST(Recoveries, NothingIsTakenTwice) {
    const std::vector<Weight> tree = {{5, 0, 1}, {9, 1, 2}};
    EXPECT_EQ(with_recoveries(tree, {{5, 0, 1}}), tree);
    EXPECT_EQ(with_recoveries({}, {{5, 0, 1}}), std::vector<Weight>{});
}

TEST(RecoveriesDeathTest, LinksOfACycleAreNoTree) {
    EXPECT_DEATH(with_recoveries({{1, 0, 1}, {1, 0, 2}, {1, 1, 2}}, {{2, 0, 3}}),
                 "tree links close a cycle");
}

// Where `tree` is minimal among its own links, as any tree is, the result is among all links.
TEST(Recoveries, LeaveAMinimumSpanningTree) {
    std::mt19937 random(3);
    for (int round = 0; round < 2000; ++round) {
        const int hosts = 2 + static_cast<int>(random() % 20);
        std::vector<WeightedEdge> edges;
        std::vector<Weight> tree, recovered;
        const auto weight = [&](int a, int b) {
            return Weight{static_cast<double>(random() % 12), std::min(a, b), std::max(a, b)};
        };
        for (const auto& [a, b] : test::random_spanning_edges(random, hosts))
            tree.push_back(weight(a, b));
        for (std::uint32_t links = random() % 30; links > 0; --links) {
            const int a = static_cast<int>(random() % static_cast<unsigned>(hosts));
            const int b = static_cast<int>(random() % static_cast<unsigned>(hosts));
            if (a != b) recovered.push_back(weight(a, b));
        }
        sort_by_ends(tree);
        // A link has one weight: those of the tree, and repeated ones, are left out.
        std::ranges::sort(recovered);
        std::vector<Weight> distinct;
        for (const Weight& link : recovered) {
            const auto same = [&](const Weight& other) {
                return other.low == link.low && other.high == link.high;
            };
            if (std::ranges::none_of(tree, same) && std::ranges::none_of(distinct, same))
                distinct.push_back(link);
        }
        for (const auto* list : {&tree, &distinct})
            for (const Weight& link : *list) edges.push_back({link.low, link.high, link});
        EXPECT_EQ(ends(with_recoveries(tree, distinct)), kruskal(hosts, edges)) << round;
    }
}

}  // namespace
}  // namespace mutirao::maintenance
