#include "core/network/uplinks.h"

#include <gtest/gtest.h>

#include "core/schedule/predictor.h"

namespace mutirao {
namespace {

constexpr double without_limit = std::numeric_limits<double>::infinity();

/// Two hosts in each of three sites; what lies between sites is as fast as the slower of their uplinks.
Network three_sites(const std::vector<double>& uplink_bytes_per_us, const std::vector<int>& site_of) {
    Network network(6);
    for (int a = 0; a < 6; ++a) {
        for (int b = 0; b < a; ++b) {
            const int site_a = site_of[static_cast<std::size_t>(a)];
            const int site_b = site_of[static_cast<std::size_t>(b)];
            const double slower =
                std::min(uplink_bytes_per_us[static_cast<std::size_t>(site_a)],
                         uplink_bytes_per_us[static_cast<std::size_t>(site_b)]);
            network.set_both(a, b, {.latency_us = site_a == site_b ? 50.0 : 10'000.0,
                                    .bandwidth_bytes_per_us =
                                        site_a == site_b ? without_limit : slower});
        }
    }
    return network;
}

const std::vector<int> in_pairs = {0, 0, 1, 1, 2, 2};

TEST(Uplinks, AreAsFastAsTheFastestWay) {
    const auto uplinks = uplinks_of(three_sites({1, 2, 5}, in_pairs), in_pairs);
    EXPECT_EQ(uplinks.of_host, in_pairs);
    EXPECT_EQ(uplinks.bytes_per_us, (std::vector<double>{1, 2, 2}));  // no way shows the 5
}

TEST(Uplinks, AreNoneWhereNothingIsLimitedOrThereIsOneSite) {
    EXPECT_TRUE(uplinks_of(three_sites({without_limit, without_limit, without_limit}, in_pairs),
                           in_pairs).of_host.empty());
    EXPECT_TRUE(uplinks_of(Network(4), {0, 0, 0, 0}).of_host.empty());
}

/// Two messages of 100,000 bytes, at once, from one site to hosts in different sites.
double time_of_two_us(const Network& network, int first_sender, int second_sender) {
    const Region message{Buffer::output, 0, 100'000};
    std::vector<Schedule> schedules(6);
    schedules[static_cast<std::size_t>(first_sender)].send(2, message);
    schedules[2].receive(first_sender, message);
    schedules[static_cast<std::size_t>(second_sender)].send(4, message);
    schedules[4].receive(second_sender, message);
    return predict(schedules, network).completion_us;
}

TEST(Uplinks, AreSharedByAllHostsOfASite) {
    Network network = three_sites({1, 2, 2}, in_pairs);
    EXPECT_DOUBLE_EQ(time_of_two_us(network, 0, 1), 110'000);
    network.uplinks = uplinks_of(network, in_pairs);
    EXPECT_DOUBLE_EQ(time_of_two_us(network, 0, 1), 210'000);
    EXPECT_DOUBLE_EQ(time_of_two_us(network, 0, 0), 210'000);
}

TEST(Uplinks, AreSharedByWhatComesIn) {
    Network network = three_sites({2, 1, 2}, in_pairs);
    network.uplinks = uplinks_of(network, in_pairs);
    const Region message{Buffer::output, 0, 100'000};
    std::vector<Schedule> schedules(6);
    schedules[0].send(2, message);
    schedules[2].receive(0, message);
    schedules[4].send(3, message);
    schedules[3].receive(4, message);
    EXPECT_DOUBLE_EQ(predict(schedules, network).completion_us, 210'000);
}

TEST(Uplinks, AreNotUsedInsideASite) {
    Network network = three_sites({1, 1, 1}, in_pairs);
    network.uplinks = uplinks_of(network, in_pairs);
    const Region message{Buffer::output, 0, 100'000};
    std::vector<Schedule> schedules(6);
    schedules[0].send(1, message);
    schedules[1].receive(0, message);
    EXPECT_DOUBLE_EQ(predict(schedules, network).completion_us, 50);
}

}  // namespace
}  // namespace mutirao
