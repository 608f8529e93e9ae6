// Predicted times against times computed by hand from the model, and on random networks against a recursion that knows
// nothing of events (bounds that nothing beats: bounds_test.cpp). All times are small whole numbers, so the comparisons
// are exact.
#include "core/schedule/predictor.h"

#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <random>

#include "core/network/test_networks.h"
#include "core/schedule/test_schedules.h"

namespace mutirao {
namespace {

using test::messages;
using test::output;
using test::predict;
using test::schedules_of;

constexpr double unlimited = std::numeric_limits<double>::infinity();

TEST(Predictor, FlatSerialisesAtTheRootsPort) {
    const Network network = test::uniform_network(6, {100, unlimited}, {1, 2, 10});
    const Prediction prediction = predict(test::flat_broadcast(6, 50), network);
    // The port begins when the first send's overhead is over and is then never idle.
    for (int k = 1; k < 6; ++k)
        EXPECT_EQ(prediction.rank_complete_us[static_cast<std::size_t>(k)], 1 + 5 * k + 100 + 2);
    EXPECT_EQ(prediction.rank_complete_us[0], 1 + 5 * 5);
    EXPECT_EQ(prediction.completion_us, 128);
    EXPECT_FALSE(prediction.stuck);
}

// TCP sends 1000 bytes at once, 2000 more when these are acknowledged, and 4000 after another trip.
TEST(Predictor, AConnectionThatWasIdleWaitsForAcknowledgements) {
    Network network = test::uniform_network(2, {100, unlimited});
    network.transport.initial_window_bytes = 1000;
    const std::array<std::pair<std::size_t, int>, 6> trips_of{
        {{1000, 0}, {1001, 1}, {3000, 1}, {3001, 2}, {7000, 2}, {7001, 3}}};
    for (const auto& [bytes, trips] : trips_of) {
        EXPECT_EQ(predict(test::flat_broadcast(2, bytes), network).completion_us, 100 + 200 * trips);
    }
    // The sender's kernel holds the rest; and what was sent before counts.
    EXPECT_EQ(predict(test::flat_broadcast(2, 7001), network).rank_complete_us[0], 0);
    network.transport.initial_window_bytes = 2 * Transport::packet_bytes;
    EXPECT_EQ(predict(test::chain_broadcast(2, 10, 1448), network).completion_us, 100 + 200 * 2);
}

// Seen on Open MPI: 14,000 bytes left at once as one message, and a round trip later as 8192 and the rest.
TEST(Predictor, EachMessageBeginsWithAPacketOfItsOwn) {
    Network network = test::uniform_network(2, {100, unlimited});
    network.transport.initial_window_bytes = Transport::ten_packets_bytes;
    network.transport.header_bytes = 64;
    EXPECT_EQ(predict(test::flat_broadcast(2, 14'000), network).completion_us, 100);
    EXPECT_EQ(predict(test::flat_broadcast(2, 14'480), network).completion_us, 300);
    EXPECT_EQ(predict(test::chain_broadcast(2, 2, 7000), network).completion_us, 100);
    EXPECT_EQ(predict(test::chain_broadcast(2, 3, 4667), network).completion_us, 300);
}

// Measured over 175 ms one way on Linux 6.18 with Open MPI: the median of the first three after the one that connects. Of
// 128 KiB, for which that asks first, it is MPICH's, of two messages that cross.
TEST(Predictor, BbrSpreadsWhatItSends) {
    Network network = test::uniform_network(2, {175'000, unlimited});
    network.transport.bbr = true;
    EXPECT_EQ(predict(test::flat_broadcast(2, 24), network).completion_us, 175'000);
    const std::array<std::pair<std::size_t, double>, 7> measured_us_of{{{8 << 10, 231'000},
                                                                         {14 << 10, 280'000},
                                                                         {15 << 10, 289'000},
                                                                         {23 << 10, 343'000},
                                                                         {30 << 10, 350'000},
                                                                         {60 << 10, 367'000},
                                                                         {128 << 10, 358'000}}};
    for (const auto& [bytes, measured_us] : measured_us_of) {
        EXPECT_NEAR(predict(test::flat_broadcast(2, bytes), network).completion_us, measured_us, 0.05 * measured_us)
            << bytes;
    }
    // In pieces it takes as long.
    constexpr std::size_t piece = 4 * Transport::packet_bytes;
    const double whole_us = predict(test::chain_broadcast(2, 1, 8 * piece), network).completion_us;
    EXPECT_NEAR(predict(test::chain_broadcast(2, 8, piece), network).completion_us, whole_us, 1);
}

// Seen on MPICH over TCP: of a reply of ten packets only nine left at once.
TEST(Predictor, WhatAcknowledgesAMessageTakesAPacketOfTheReplysWindow) {
    constexpr std::size_t window = 3000, packet = 1448;
    const auto answered_us = [&](std::size_t reply_bytes, std::size_t buffered_limit_bytes) {
        Network network = test::uniform_network(2, {100, unlimited});
        network.transport.initial_window_bytes = window;
        network.transport.buffered_limit_bytes = buffered_limit_bytes;
        const std::string reply = "output[1000," + std::to_string(1000 + reply_bytes) + ")";
        const std::string steps = "0 send output[0,1000) to 1; 0 receive " + reply + " from 1;"
                                  "1 receive output[0,1000) from 0; 1 send " + reply + " to 0 after 0";
        return predict(schedules_of(2, steps), network).rank_complete_us[0];
    };
    EXPECT_EQ(answered_us(window, Transport::unlimited), 200);
    EXPECT_EQ(answered_us(window - packet, 128), 200);
    EXPECT_EQ(answered_us(window - packet + 1, 128), 400);
    EXPECT_EQ(answered_us(window, 1000), 200);
}

// A pause of a wait of 200.2 ms or more leaves half of the 8000 bytes that the window has in the end, three of them what it
// had at first.
TEST(Predictor, AWindowClosesInALongPause) {
    const auto schedules =
        schedules_of(3, "0 send output[0,7000) to 1; 0 send output[0,1) to 2; 0 receive output[8000,8001) from 2;"
                        "0 send output[0,4500) to 1 after 2; 1 receive output[0,7000) from 0;"
                        "1 receive output[8000,12500) from 0; 2 receive output[0,1) from 0; 2 send output[0,1) to 0 after 0");
    for (const auto& [away_us, trips] : {std::pair{1000, 0}, {150'000, 1}, {400'000, 2}}) {
        Network network = test::uniform_network(3, {100, unlimited});
        network.transport.initial_window_bytes = 1000;
        network.set_both(0, 2, {static_cast<double>(away_us), unlimited});
        EXPECT_EQ(predict(schedules, network).completion_us, 2 * away_us + 100 + 200 * trips) << away_us;
    }
}

// A window that is hardly used does not grow: of 3200 bytes 1000 leave at once after 400 have gone, and 1600 after 600. What
// is not yet acknowledged takes its room. Fault: it grew with time.
TEST(Predictor, AWindowGrowsByWhatUsesIt) {
    for (const auto& [first_bytes, pause_us, done_us] :
         {std::tuple{400, 150'000, 150'500}, {600, 150'000, 150'300}, {600, 25, 500}}) {
        const std::string first = "[0," + std::to_string(first_bytes) + ")";
        const auto schedules =
            schedules_of(3, "0 send output" + first + " to 1; 0 send output[0,1) to 2; 0 receive output[8000,8001) from 2;"
                            "0 send output[0,3200) to 1 after 2; 1 receive output" + first + " from 0;"
                            "1 receive output[4000,7200) from 0; 2 receive output[0,1) from 0; 2 send output[0,1) to 0 after 0");
        Network network = test::uniform_network(3, {100, unlimited});
        network.transport.initial_window_bytes = 1000;
        network.set_both(0, 2, {static_cast<double>(pause_us) / 2, unlimited});
        EXPECT_EQ(predict(schedules, network).completion_us, done_us) << first_bytes << ' ' << pause_us;
    }
}

// Transmission over the link and through both ports overlaps, so ports as fast as the link or
// faster change nothing.
TEST(Predictor, ChainFillsThenStreams) {
    const int hops = 4;
    const int segments = 8;
    for (const double port : {10.0, 20.0, unlimited}) {
        const Network network = test::uniform_network(hops + 1, {100, 10}, {0, 0, port});
        const Prediction prediction =
            predict(test::chain_broadcast(hops + 1, segments, 50), network);
        EXPECT_EQ(prediction.completion_us, hops * (100 + 5) + (segments - 1) * 5) << port;
    }
}

TEST(Predictor, RendezvousAddsOneRoundTripToAnEarlyReceive) {
    Network network = test::uniform_network(2, {100, 10}, {3, 4, unlimited});
    network.set_link(1, 0, {150, 10});
    const auto schedules = test::flat_broadcast(2, 50);
    EXPECT_EQ(predict(schedules, network).completion_us, 3 + 100 + 5 + 4);
    network.transport.eager_limit_bytes = 50;
    EXPECT_EQ(predict(schedules, network).completion_us, 3 + 100 + 5 + 4);
    network.transport.eager_limit_bytes = 49;
    EXPECT_EQ(predict(schedules, network).completion_us, 3 + (100 + 150) + 100 + 5 + 4);
}

/// Rank 1 starts its receive from rank 0 only once rank 2's message is there, at 1000.
constexpr const char* late_receive = "0 send output[0,50) to 1; 2 send output[50,51) to 1;"
                                     "1 receive output[50,51) from 2; 1 receive output[0,50) from 0 after 0";

TEST(Predictor, ALateReceiveMakesItsMessageWait) {
    Network network = test::uniform_network(3, {100, 10}, {0, 4, unlimited});
    network.set_link(2, 1, {996, unlimited});
    const auto times_us = [&] { return predict(schedules_of(3, late_receive), network).rank_complete_us; };
    EXPECT_EQ(times_us(), (std::vector<double>{5, 1000 + 4, 0})) << "an eager send does not wait for the receive";
    network.transport.eager_limit_bytes = 10;
    EXPECT_EQ(times_us(), (std::vector<double>{1000 + 100 + 5, 1000 + 100 + 5 + 100 + 4, 0}));
}

// Catches a walk that takes "no time has passed" for "has not happened".
TEST(Predictor, RendezvousEndsOnLinksThatCostNothing) {
    Network network(4);
    network.transport.eager_limit_bytes = 0;
    const Prediction prediction = predict(test::chain_broadcast(4, 1, 8), network);
    EXPECT_FALSE(prediction.stuck);
    EXPECT_EQ(prediction.completion_us, 0);
}

TEST(Predictor, ASlowLinkDoesNotHoldThePort) {
    Network network = test::uniform_network(4, {100, unlimited}, {0, 0, 10});
    network.set_link(0, 1, {100, 0.5});
    const Prediction prediction = predict(messages(4, {{0, 1}, {0, 1}, {0, 2}}, 50), network);
    EXPECT_EQ(prediction.rank_complete_us[1], 2 * 100 + 100) << "the link itself serialises";
    EXPECT_EQ(prediction.rank_complete_us[2], 3 * 5 + 100) << "the port sends at full rate";
}

TEST(Predictor, TheIncomingPortAndProcessorSerialise) {
    const auto both = messages(3, {{1, 0}, {2, 0}}, 50);
    const Network ports = test::uniform_network(3, {100, unlimited}, {0, 0, 10});
    EXPECT_EQ(predict(both, ports).rank_complete_us[0], 100 + 2 * 5);
    const Network processors = test::uniform_network(3, {100, unlimited}, {0, 9, unlimited});
    EXPECT_EQ(predict(both, processors).rank_complete_us[0], 100 + 2 * 9);
}

TEST(Predictor, OneProcessorDoesBothSendsAndReceives) {
    // Rank 1's message to rank 0 arrives while rank 0's processor is still busy sending to 2 and 3.
    const Network network = test::uniform_network(4, {10, unlimited}, {30, 5, unlimited});
    EXPECT_EQ(predict(messages(4, {{1, 0}, {0, 2}, {0, 3}}, 1), network).rank_complete_us[0], 2 * 30 + 5);
}

TEST(Predictor, StepsStartInOrderPerPeer) {
    // Rank 0's second send to 1 is free to go, but may not overtake the first, which waits for 2.
    const Network network = test::uniform_network(3, {100, unlimited});
    const auto ranks = schedules_of(3, "0 receive output[0,1) from 2; 0 send output[0,1) to 1 after 0; 0 send output[1,2) to 1;"
                                       "1 receive output[0,1) from 0; 1 receive output[1,2) from 0; 2 send output[0,1) to 0");
    const Prediction prediction = predict(ranks, network, {.record_messages = true});
    ASSERT_EQ(prediction.messages.size(), 3u);
    EXPECT_EQ(prediction.messages[0].from, 2);
    EXPECT_EQ(prediction.messages[2].start_us, 100);
    EXPECT_EQ(prediction.messages[2].arrive_us, 200);
}

// Catches steps that start in the order in which they became free: the second send to 2 becomes
// free only through the start of the first, after the send to 3 did.
TEST(Predictor, WhatOneMessageSetsFreeStartsInStepOrder) {
    const Network network = test::uniform_network(4, {100, unlimited}, {7, 0, unlimited});
    const auto ranks =
        schedules_of(4, "0 send output[0,1) to 1; 1 receive output[0,1) from 0; 1 send output[0,1) to 2 after 0;"
                        "1 send output[0,1) to 2 after 0; 1 send output[0,1) to 3 after 0; 2 receive output[0,1) from 1;"
                        "2 receive output[0,1) from 1; 3 receive output[0,1) from 1");
    const Prediction prediction = predict(ranks, network);
    EXPECT_EQ(prediction.rank_complete_us[2], 107 + 2 * 7 + 100);
    EXPECT_EQ(prediction.rank_complete_us[3], 107 + 3 * 7 + 100);
}

TEST(Predictor, WhatComesAfterASendWaitsUntilItsBytesLeft) {
    const Network network = test::uniform_network(3, {100, 10}, {1, 0, unlimited});
    const auto ranks =
        schedules_of(3, "0 send output[0,50) to 1; 0 copy scratch[0,50) into output[0,50) after 0;"
                        "0 send output[0,50) to 2 after 1; 1 receive output[0,50) from 0; 2 receive output[0,50) from 0");
    const Prediction prediction = predict(ranks, network);
    EXPECT_EQ(prediction.rank_complete_us[1], 1 + 5 + 100);
    EXPECT_EQ(prediction.rank_complete_us[2], (1 + 5) + (1 + 5) + 100);
}

TEST(Predictor, SaysThatAnUnusableLinkStops) {
    Network network = test::uniform_network(4, {100, unlimited});
    network.set_link(0, 2, {unlimited, unlimited});
    const Prediction prediction = predict(test::flat_broadcast(4, 8), network);
    EXPECT_TRUE(prediction.stuck);
    EXPECT_EQ(prediction.completion_us, unlimited);
    EXPECT_EQ(prediction.rank_complete_us, (std::vector{unlimited, 100.0, unlimited, 100.0}));
    network.set_link(0, 2, {100, 0});
    EXPECT_TRUE(predict(test::flat_broadcast(4, 8), network).stuck);
    EXPECT_FALSE(predict(test::flat_broadcast(4, 0), network).stuck) << "no bytes to carry";
    network.set_link(0, 2, {100, unlimited});
    network.set_link(2, 0, {unlimited, unlimited});
    EXPECT_FALSE(predict(test::flat_broadcast(4, 8), network).stuck);
    network.transport.eager_limit_bytes = 7;
    EXPECT_TRUE(predict(test::flat_broadcast(4, 8), network).stuck) << "no way for the consent";
}

TEST(Predictor, SaysThatAFaultyScheduleStops) {
    EXPECT_TRUE(predict(schedules_of(2, "1 receive output[0,8) from 0"), Network(2)).stuck);
    EXPECT_TRUE(predict(schedules_of(2, "1 receive output[0,8) from 0; 0 send output[0,8) to 5"), Network(2)).stuck);
}

TEST(PredictorDeathTest, RefusesAnotherNumberOfHosts) {
    EXPECT_DEATH(predict(std::vector<Schedule>(3), Network(2)), "3 against 2");
}

// --- random networks -----------------------------------------------------------------------------

Network random_network(int hosts, std::mt19937& random) {
    const auto up_to = [&](unsigned most) { return static_cast<double>(1 + random() % most); };
    Network network(hosts);
    for (int a = 0; a < hosts; ++a) {
        network.set_host(a, {up_to(20), up_to(20), unlimited});
        for (int b = 0; b < hosts; ++b)
            if (a != b) network.set_link(a, b, {up_to(1000), unlimited});
    }
    return network;
}

// Down a tree, the k-th child has its message k send overheads after its parent has it.
TEST(Predictor, AgreesWithTheRecursionOnRandomTrees) {
    for (unsigned seed = 0; seed < 40; ++seed) {
        std::mt19937 random(seed);
        const int size = 2 + static_cast<int>(random() % 30);
        const Network network = random_network(size, random);
        std::vector<Schedule> ranks(static_cast<std::size_t>(size));
        std::vector<double> expected(ranks.size(), 0);
        std::vector<int> children(ranks.size(), 0);
        std::vector<StepId> received(ranks.size(), -1);
        for (int rank = 1; rank < size; ++rank) {
            const int parent = static_cast<int>(random() % static_cast<unsigned>(rank));
            const auto above = static_cast<std::size_t>(parent);
            const auto own = static_cast<std::size_t>(rank);
            received[own] = ranks[own].receive(parent, output(0, 8));
            ranks[above].send(rank, output(0, 8),
                              parent == 0 ? Schedule::After{} : std::array{received[above]});
            const double sends_us = ++children[above] * network.host(parent).send_overhead_us;
            expected[own] = expected[above] + sends_us + network.link(parent, rank).latency_us +
                            network.host(rank).receive_overhead_us;
        }
        const Prediction prediction = predict(ranks, network, {.record_messages = true});
        for (std::size_t rank = 1; rank < ranks.size(); ++rank) {
            // A rank completes later than it has the message where it passes it on.
            const double sends_us =
                children[rank] * network.host(static_cast<int>(rank)).send_overhead_us;
            EXPECT_EQ(prediction.rank_complete_us[rank], expected[rank] + sends_us);
        }
        ASSERT_EQ(prediction.messages.size(), ranks.size() - 1);
        for (std::size_t i = 0; i < prediction.messages.size(); ++i) {
            const TimedMessage& message = prediction.messages[i];
            EXPECT_EQ(message.arrive_us, expected[static_cast<std::size_t>(message.to)]);
            EXPECT_EQ(message.length_bytes, 8u);
            if (i == 0) continue;
            EXPECT_GE(message.arrive_us, prediction.messages[i - 1].arrive_us);
        }
    }
}

// Ranks on hosts: what they share and what each has for itself, by hand-computed times.

constexpr MemoryCosts memory{.message_latency_us = 2, .message_overhead_us = 1,
                             .copy_bytes_per_us = 100, .reduce_bytes_per_us = 50};

RankNetwork on_hosts(Network network, std::vector<int> host_of_rank, MemoryCosts costs = memory) {
    return {{std::move(network), {}, {}}, Placement(std::move(host_of_rank)), costs};
}

TEST(PredictorRanks, MessagesShareWhatTheirHostsHave) {
    const auto apart = [](int hosts, Link link, HostCosts costs, std::vector<int> host_of_rank) {
        return on_hosts(test::uniform_network(hosts, link, costs), std::move(host_of_rank));
    };
    MemoryCosts shared = memory;
    shared.shared_bytes_per_us = 50;
    const RankNetwork two = apart(2, {100, 10}, {}, {0, 0, 1, 1}), busy = apart(2, {100}, {10, 20}, {0, 0, 1, 1});
    const RankNetwork one = on_hosts(Network(1), {0, 0, 0}), sharing = on_hosts(Network(1), {0, 0, 0, 0}, shared);
    const HostCosts port{0, 0, 10};
    const struct {
        const char* what;
        RankNetwork network;
        std::vector<std::pair<int, int>> ways;
        double us;
        std::size_t length_bytes = 1000;
    } cases[] = {
        {"a link", two, {{0, 2}}, 200},
        {"a link for two pairs", two, {{0, 2}, {1, 3}}, 300},
        {"there and back", two, {{0, 2}, {3, 1}}, 200},
        {"links to two hosts", apart(3, {100, 10}, {}, {0, 0, 1, 2}), {{0, 2}, {1, 3}}, 200},
        {"the outgoing port of host 0", apart(3, {100}, port, {0, 0, 1, 2}), {{0, 2}, {1, 3}}, 300},
        {"the incoming port of host 2", apart(3, {100}, port, {0, 1, 2, 2}), {{0, 2}, {1, 3}}, 300},
        {"ports of their own", apart(4, {100}, port, {0, 1, 2, 3}), {{0, 2}, {1, 3}}, 200},
        {"processors of their own", busy, {{0, 2}, {1, 3}}, 130},
        {"one sender, one message after the other", busy, {{0, 2}, {0, 3}}, 140},
        {"overhead 1, then the receiver follows 2 behind with 1 of its own and 10 for 1000 bytes", one, {{0, 1}},
         1 + 2 + 1 + 10},
        {"no bytes", one, {{0, 1}}, 1 + 2 + 1, 0},
        {"the second waits until the sender has moved the first", one, {{0, 1}, {0, 2}}, 11 + 1 + 2 + 1 + 10},
        {"the receiver's processor takes in one after the other", one, {{0, 2}, {1, 2}}, 3 + 11 + 11},
        {"overhead 1, 20 in the memory, latency 2 and overhead 1", sharing, {{0, 2}}, 24},
        {"what a host's memory carries", sharing, {{0, 2}, {1, 3}}, 44},
        {"each on a host of its own", on_hosts(Network(2), {0, 1, 0, 1}, shared), {{0, 2}, {1, 3}}, 24},
    };
    for (const auto& [what, network, ways, us, length_bytes] : cases)
        EXPECT_EQ(predict(messages(network.rank_count(), ways, length_bytes), network).completion_us, us) << what;
}

TEST(PredictorRanks, CopiesAndReductionsKeepTheProcessorBusy) {
    const auto ranks = schedules_of(1, "0 copy output[0,1000) into scratch[0,1000);"
                                       "0 reduce scratch[0,1000) into output[0,1000) after 0");
    EXPECT_EQ(predict(ranks, on_hosts(Network(1), {0})).completion_us, 10 + 20);
    EXPECT_EQ(predict(ranks, Network(1)).completion_us, 0) << "free memory";
}

}  // namespace
}  // namespace mutirao
