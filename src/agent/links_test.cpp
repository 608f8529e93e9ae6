#include "agent/links.h"

#include <gtest/gtest.h>

#include "simulate/random.h"

namespace mutirao::agent {
namespace {

constexpr double period_us = 250'000;
constexpr double long_us = 200'000;
constexpr double short_us = 5'000;

NetworkView view_of(int host_count, const EdgeList& tree, const std::vector<double>& latency_us) {
    NetworkView view;
    view.host_count = host_count;
    const auto hosts = static_cast<std::size_t>(host_count);
    view.latency_us.assign(hosts * hosts, 0);
    view.tree = tree;
    for (std::size_t i = 0; i < tree.size(); ++i) {
        const auto low = static_cast<std::size_t>(tree[i].first);
        const auto high = static_cast<std::size_t>(tree[i].second);
        view.latency_us[low * hosts + high] = view.latency_us[high * hosts + low] = latency_us[i];
    }
    return view;
}

TEST(TreeShares, AChainHasTheFullRateAndLongLinksComeFirst) {
    const NetworkView chain = view_of(4, {{0, 1}, {1, 2}, {2, 3}}, {short_us, short_us, short_us});
    for (const auto& [low, high] : chain.tree) EXPECT_EQ(TreeShares(chain, period_us).stretch(low, high), 1);
    const NetworkView star = view_of(5, {{0, 1}, {0, 2}, {0, 3}, {0, 4}}, {long_us, short_us, short_us, short_us});
    const TreeShares shares(star, period_us);
    EXPECT_EQ(shares.stretch(0, 1), 1);
    EXPECT_EQ(shares.stretch(0, 2), 3);
}

// Fails if only one end of a link counts.
TEST(TreeShares, NoHostIsProbedMoreThanItsShare) {
    for (std::uint64_t seed = 0; seed < 500; ++seed) {
        simulate::Random random(seed);
        const int hosts = 2 + static_cast<int>(random.below(20));
        EdgeList tree;
        std::vector<double> latency_us;
        for (int host = 1; host < hosts; ++host) {
            tree.emplace_back(static_cast<int>(random.below(static_cast<std::size_t>(host))), host);
            latency_us.push_back(random.below(3) == 0 ? long_us : short_us);
        }
        const NetworkView view = view_of(hosts, tree, latency_us);
        const TreeShares shares(view, period_us);
        std::vector<double> rate(static_cast<std::size_t>(hosts));
        for (const auto& [low, high] : tree) {
            const double stretch = shares.stretch(low, high);
            ASSERT_GE(stretch, 1) << seed;
            rate[static_cast<std::size_t>(low)] += 1 / stretch;
            rate[static_cast<std::size_t>(high)] += 1 / stretch;
        }
        for (const double each : rate)
            ASSERT_LE(each, TreeShares::links_at_full_rate + 1e-9) << seed;
    }
}

}  // namespace
}  // namespace mutirao::agent
