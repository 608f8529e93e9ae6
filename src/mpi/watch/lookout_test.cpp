// Which hosts are sites for a decider, while the latencies that it is told of change.
#include "mpi/watch/lookout.h"

#include <gtest/gtest.h>

#include <limits>

#include "core/network/test_networks.h"

namespace mutirao::mpi {
namespace {

constexpr int all_hosts = 4;

/// Two sites of two hosts, but for the link inside the first one.
class TwoSites final : public NetworkSource {
  public:
    void set_first_link(double latency_us) {
        ++view_.changes;
        view_.host_count = all_hosts;
        view_.latency_us = mutirao::test::network_of_sites(all_hosts, 2, {50}, {20'000}).latency_us();
        view_.latency_us[1] = view_.latency_us[all_hosts] = latency_us;
        view_.last_known_us = view_.latency_us;
        view_.tree = {{0, 1}, {1, 2}, {2, 3}};
    }
    std::optional<NetworkView> newer_than(std::uint64_t seen) override {
        return view_.changes == seen ? std::nullopt : std::optional(view_);
    }

  private:
    NetworkView view_;
};

TEST(Lookout, TakesSitesApartWhereNoLoadExplainsIt) {
    const std::vector<int> both{0, 0, 1, 1}, first_apart{0, 1, 2, 2};
    const struct {
        const char* why;
        std::vector<std::pair<double, std::vector<int>>> sites_by_link_us;
    } cases[] = {
        // Seen in a training loop.
        {"a program's own messages make a link slow for a moment", {{50, both}, {3000, both}, {60, both}}},
        {"the first measurements were under load", {{3000, first_apart}, {50, both}}},
        {"a link is dead", {{50, both}, {std::numeric_limits<double>::infinity(), first_apart}}},
    };
    for (const auto& [why, sites_by_link_us] : cases) {
        const auto source = std::make_shared<TwoSites>();
        Lookout lookout{source, {0, 1, 2, 3}, 0, {}, Settings{}, SocketLimits{}};
        for (const auto& [first_link_us, sites] : sites_by_link_us) {
            source->set_first_link(first_link_us);
            EXPECT_EQ(lookout.look()->topology->site_of, sites) << why << ": " << first_link_us;
        }
    }
}

}  // namespace
}  // namespace mutirao::mpi
