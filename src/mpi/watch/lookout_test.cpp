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

class SitesOfALookout : public testing::Test {
  protected:
    std::vector<int> sites_with(double first_link_us) {
        source_->set_first_link(first_link_us);
        return lookout_.look()->topology->site_of;
    }

    const std::shared_ptr<TwoSites> source_ = std::make_shared<TwoSites>();
    Lookout lookout_{source_, {0, 1, 2, 3}, 0, {}, Settings{}, SocketLimits{}};
};

const std::vector<int> both{0, 0, 1, 1}, first_apart{0, 1, 2, 2};

// Fault: what a program's own messages make slow for a moment takes a site apart. Seen in a training loop.
TEST_F(SitesOfALookout, StayTogetherWhereLoadMakesALinkSlow) {
    EXPECT_EQ(sites_with(50), both);
    EXPECT_EQ(sites_with(3000), both);
    EXPECT_EQ(sites_with(60), both);
}

TEST_F(SitesOfALookout, AreTakenTogetherAtOnceWhereTheFirstMeasurementsWereUnderLoad) {
    EXPECT_EQ(sites_with(3000), first_apart);
    EXPECT_EQ(sites_with(50), both);
}

TEST_F(SitesOfALookout, AreTakenApartAtOnceByALinkThatIsDead) {
    EXPECT_EQ(sites_with(50), both);
    EXPECT_EQ(sites_with(std::numeric_limits<double>::infinity()), first_apart);
}

}  // namespace
}  // namespace mutirao::mpi
