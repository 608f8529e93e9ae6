// Ranks on hosts: what they share and what each has for itself, by hand-computed times, and bounds
// that no schedule can beat, counted from the schedules alone.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "core/network/test_networks.h"
#include "core/schedule/predictor.h"
#include "core/schedule/test_schedules.h"

namespace mutirao {
namespace {

using testing::output;
using testing::scratch;

constexpr MemoryCosts memory{.message_latency_us = 2, .message_overhead_us = 1,
                             .copy_bytes_per_us = 100, .reduce_bytes_per_us = 50};

RankNetwork on_hosts(Network network, std::vector<int> host_of_rank) {
    return {{std::move(network), {}, {}}, Placement(std::move(host_of_rank)), memory};
}

Network hosts_alike(int count, Link link, HostCosts costs = {}) {
    Network network(count);
    for (int a = 0; a < count; ++a) {
        network.set_host(a, costs);
        for (int b = 0; b < count; ++b)
            if (a != b) network.set_link(a, b, link);
    }
    return network;
}

/// senders[i] sends `length` bytes to receivers[i], all at once.
std::vector<Schedule> pairs(int size, const std::vector<int>& senders,
                            const std::vector<int>& receivers, std::size_t length) {
    std::vector<Schedule> ranks(static_cast<std::size_t>(size));
    for (std::size_t i = 0; i < senders.size(); ++i) {
        ranks[static_cast<std::size_t>(senders[i])].send(receivers[i], output(0, length));
        ranks[static_cast<std::size_t>(receivers[i])].receive(senders[i], output(0, length));
    }
    return ranks;
}

TEST(PredictorRanks, PairsOnTheSameHostsShareTheLinkPerDirection) {
    const Network network = hosts_alike(2, {100, 10});
    const std::vector<int> place = {0, 0, 1, 1};
    EXPECT_EQ(predict(pairs(4, {0}, {2}, 1000), on_hosts(network, place)).completion_us, 200);
    EXPECT_EQ(predict(pairs(4, {0, 1}, {2, 3}, 1000), on_hosts(network, place)).completion_us, 300);
    EXPECT_EQ(predict(pairs(4, {0, 3}, {2, 1}, 1000), on_hosts(network, place)).completion_us, 200)
        << "there and back";
    EXPECT_EQ(predict(pairs(4, {0, 1}, {2, 3}, 1000), on_hosts(hosts_alike(3, {100, 10}),
                                                               {0, 0, 1, 2}))
                  .completion_us,
              200)
        << "to two hosts";
}

TEST(PredictorRanks, RanksShareTheirHostsPorts) {
    const double unlimited = std::numeric_limits<double>::infinity();
    const Network network = hosts_alike(3, {100, unlimited}, {0, 0, 10});
    const auto time_us = [&](std::vector<int> place) {
        return predict(pairs(4, {0, 1}, {2, 3}, 1000), on_hosts(network, std::move(place)))
            .completion_us;
    };
    EXPECT_EQ(time_us({0, 0, 1, 2}), 300) << "the outgoing port of host 0";
    EXPECT_EQ(time_us({0, 1, 2, 2}), 300) << "the incoming port of host 2";
    const Network four = hosts_alike(4, {100, unlimited}, {0, 0, 10});
    EXPECT_EQ(predict(pairs(4, {0, 1}, {2, 3}, 1000), on_hosts(four, {0, 1, 2, 3})).completion_us,
              200);
}

TEST(PredictorRanks, RanksShareWhatTheirHostsMemoryCarries) {
    MemoryCosts shared = memory;
    shared.shared_bytes_per_us = 50;
    const auto time_us = [&](std::vector<int> senders, std::vector<int> receivers, int hosts,
                             std::vector<int> place) {
        const RankNetwork network{{hosts_alike(hosts, {100, 10}), {}, {}}, Placement(std::move(place)),
                                  shared};
        return predict(pairs(4, senders, receivers, 1000), network).completion_us;
    };
    // Overhead 1, 20 in the memory, latency 2 and overhead 1.
    EXPECT_EQ(time_us({0}, {2}, 1, {0, 0, 0, 0}), 24);
    EXPECT_EQ(time_us({0, 1}, {2, 3}, 1, {0, 0, 0, 0}), 44);
    EXPECT_EQ(time_us({0, 1}, {2, 3}, 2, {0, 1, 0, 1}), 24) << "each on a host of its own";
}

TEST(PredictorRanks, EachRankHasItsOwnProcessor) {
    const Network network = hosts_alike(2, {100}, {10, 20});
    EXPECT_EQ(predict(pairs(4, {0, 1}, {2, 3}, 8), on_hosts(network, {0, 0, 1, 1})).completion_us,
              130);
    EXPECT_EQ(predict(pairs(4, {0, 0}, {2, 3}, 8), on_hosts(network, {0, 0, 1, 1})).completion_us,
              140)
        << "one sender, one message after the other";
}

TEST(PredictorRanks, AMessageInsideAHostCostsWhatMemoryCosts) {
    const RankNetwork network = on_hosts(Network(1), {0, 0, 0});
    // Overhead 1, then the receiver follows 2 behind: 1 of its own and 10 for 1000 bytes.
    EXPECT_EQ(predict(pairs(3, {0}, {1}, 1000), network).completion_us, 1 + 2 + 1 + 10);
    EXPECT_EQ(predict(pairs(3, {0}, {1}, 0), network).completion_us, 1 + 2 + 1);
    // The second waits until the sender has moved the first.
    EXPECT_EQ(predict(pairs(3, {0, 0}, {1, 2}, 1000), network).completion_us, 11 + 1 + 2 + 1 + 10);
    // Two messages to one receiver: its processor takes in one after the other.
    EXPECT_EQ(predict(pairs(3, {0, 1}, {2, 2}, 1000), network).completion_us, 3 + 11 + 11);
}

TEST(PredictorRanks, CopiesAndReductionsKeepTheProcessorBusy) {
    std::vector<Schedule> ranks(1);
    const StepId copied = ranks[0].copy(output(0, 1000), scratch(0, 1000));
    ranks[0].reduce(scratch(0, 1000), output(0, 1000), std::array{copied});
    EXPECT_EQ(predict(ranks, on_hosts(Network(1), {0})).completion_us, 10 + 20);
    EXPECT_EQ(predict(ranks, Network(1)).completion_us, 0) << "free memory";
}

TEST(PredictorRanks, OneRankAHostIsTheSameBitForBit) {
    for (unsigned seed = 0; seed < 10; ++seed) {
        const Network network = test::random_network(seed, 9);
        const RankNetwork ranks = one_rank_per_host({network, {}, {}});
        for (const auto& schedules : {testing::flat_broadcast(9, 500),
                                      testing::binomial_broadcast(9, 500),
                                      testing::chain_broadcast(9, 20, 500)}) {
            const Prediction plain = predict(schedules, network, {.record_messages = true});
            const Prediction placed = predict(schedules, ranks, {.record_messages = true});
            EXPECT_EQ(plain.rank_complete_us, placed.rank_complete_us);
            EXPECT_EQ(plain.messages.size(), placed.messages.size());
        }
    }
}

/// What the schedules alone say about how long it must take.
double bandwidth_bound_us(const std::vector<Schedule>& schedules, const RankNetwork& network) {
    const Network& between = network.between_hosts();
    std::map<std::pair<int, int>, double> link_bytes;
    std::map<int, double> outgoing_bytes, incoming_bytes;
    for (int rank = 0; rank < network.rank_count(); ++rank)
        for (const Step& step : schedules[static_cast<std::size_t>(rank)].steps()) {
            const int from = network.placement().host_of(rank);
            if (step.kind != StepKind::send || network.placement().host_of(step.peer) == from)
                continue;
            const int to = network.placement().host_of(step.peer);
            const auto bytes = static_cast<double>(step.source.length_bytes);
            link_bytes[{from, to}] += bytes;
            outgoing_bytes[from] += bytes;
            incoming_bytes[to] += bytes;
        }
    double bound_us = 0;
    for (const auto& [pair, bytes] : link_bytes) {
        const Link link = between.link(pair.first, pair.second);
        bound_us = std::max(bound_us, link.latency_us + bytes / link.bandwidth_bytes_per_us);
    }
    for (const auto* side : {&outgoing_bytes, &incoming_bytes})
        for (const auto& [host, bytes] : *side)
            bound_us = std::max(bound_us, bytes / between.host(host).port_bytes_per_us);
    return bound_us;
}

TEST(PredictorRanks, NothingIsFasterThanTheBounds) {
    for (unsigned seed = 0; seed < 20; ++seed) {
        std::mt19937 random(seed);
        const int hosts = 2 + static_cast<int>(seed % 5);
        std::vector<int> place;
        for (int rank = 0; rank < 4 * hosts; ++rank) place.push_back(rank % hosts);
        std::shuffle(place.begin() + 1, place.end(), random);
        const RankNetwork network = on_hosts(test::random_network(seed, hosts), place);
        const int size = network.rank_count();
        for (const auto& schedules : {testing::flat_broadcast(size, 5000),
                                      testing::binomial_broadcast(size, 5000),
                                      testing::chain_broadcast(size, 10, 500)}) {
            const Prediction prediction = predict(schedules, network);
            EXPECT_FALSE(prediction.stuck);
            const double latency_us = *latency_bound_us(network.between_hosts(), place[0]);
            EXPECT_GE(prediction.completion_us, latency_us);
            EXPECT_GE(prediction.completion_us * (1 + 1e-9),
                      bandwidth_bound_us(schedules, network));
        }
    }
}

}  // namespace
}  // namespace mutirao
