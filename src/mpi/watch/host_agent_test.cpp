// A standing agent that is started anew while a job runs.
#include "mpi/watch/host_agent.h"

#include <gtest/gtest.h>

#include <unistd.h>

#include <chrono>
#include <string>
#include <thread>

#include "agent/segment.h"

namespace mutirao::mpi {
namespace {

constexpr int hosts = 2;

std::unique_ptr<agent::Segment> agent_of(const std::string& name, std::uint64_t job) {
    std::string why_not;
    std::unique_ptr<agent::Segment> segment = agent::Segment::make({name, 0, hosts, job}, why_not);
    EXPECT_TRUE(segment) << why_not;
    return segment;
}

void publish(agent::Segment& segment, double latency_us, int unknown_links) {
    NetworkView view;
    view.host_count = hosts;
    view.latency_us.assign(hosts * hosts, latency_us);
    view.last_known_us = view.latency_us;
    view.tree = {{0, 1}};
    view.unknown_links = unknown_links;
    view.bandwidth_bytes_per_us.assign(hosts * hosts, 1);
    view.host_speeds.assign(hosts, {1, 1, 1});
    segment.publish(view);
}

TEST(StandingAgent, OfTheSameHostsTakesOverOnceItKnowsTheNetwork) {
    const std::string name = agent::full_segment_name("test-anew-" + std::to_string(getpid()));
    HostAgent ranks{name};
    std::uint64_t seen = 0;
    // The latency that ranks are told, in some seconds; 0: nothing new.
    const auto told_us = [&] {
        for (int look = 0; look < 60; ++look) {
            if (const auto view = ranks.newer_than(seen)) {
                seen = view->changes;
                return view->latency_us[1];
            }
            std::this_thread::sleep_for(std::chrono::milliseconds(50));
        }
        return 0.0;
    };
    auto first = agent_of(name, 7);
    publish(*first, 10, 0);
    EXPECT_EQ(told_us(), 10);
    first.reset();
    auto other = agent_of(name, 8);
    publish(*other, 20, 0);
    EXPECT_EQ(told_us(), 0);
    other.reset();
    auto second = agent_of(name, 7);
    publish(*second, 20, 1);
    EXPECT_EQ(told_us(), 0);
    publish(*second, 30, 0);
    EXPECT_EQ(told_us(), 30);
    publish(*second, 40, 0);
    EXPECT_EQ(told_us(), 40);
}

TEST(OneHost, IsMeasuredOnceAndIsNoNewsAgain) {
    OneHost source;
    const auto view = source.newer_than(0);
    ASSERT_TRUE(view);
    EXPECT_EQ(view->host_count, 1);
    EXPECT_EQ(view->unknown_links, 0);
    EXPECT_EQ(view->latency_us, std::vector<double>{0.0});
    ASSERT_EQ(view->host_speeds.size(), 1u);
    EXPECT_FALSE(source.newer_than(view->changes)) << "deciders would decide anew at every look";
    const auto again = source.newer_than(0);
    ASSERT_TRUE(again);
    EXPECT_EQ(again->changes, view->changes);
}

}  // namespace
}  // namespace mutirao::mpi
