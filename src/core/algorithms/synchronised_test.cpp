// What gather and scatter gain by empty messages. The proofs of the catalogue would do without them.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "core/algorithms/test_requests.h"
#include "core/schedule/predictor.h"

namespace mutirao {
namespace {

constexpr int size = 9;
constexpr int root = 4;
constexpr std::size_t block_bytes = 3000;

std::vector<Schedule> schedules_of(Collective collective, std::string_view text) {
    const Candidate candidate = parse_candidate(collective, text).candidate.value();
    return test::build_all(
        candidate, {.collective = collective, .root = root, .length_bytes = block_bytes}, size, {});
}

/// The most blocks that are on their way to the root at once: one that nobody asked for is from the start.
int most_on_their_way(const std::vector<Schedule>& schedules, const Network& network) {
    struct Way {
        double begin_us = 0;
        double end_us = 0;
    };
    std::map<int, Way> ways;
    for (const TimedMessage& message :
         predict(schedules, network, {.record_messages = true}).messages) {
        if (message.to == root) ways[message.from].end_us = message.arrive_us;
        if (message.from == root) ways[message.to].begin_us = message.start_us;
    }
    int most = 0;
    for (const auto& [rank, way] : ways) {
        const auto count = std::count_if(ways.begin(), ways.end(), [&](const auto& other) {
            return other.second.begin_us <= way.begin_us && way.begin_us < other.second.end_us;
        });
        most = std::max(most, static_cast<int>(count));
    }
    return most;
}

// Seen to fail with an answer that does not wait for the question, and with a root that only waits
// for first segments.
TEST(Synchronised, NoMoreThanTwoBlocksAreOnTheirWayToTheRootOfAGather) {
    for (unsigned seed = 0; seed < 10; ++seed) {
        const Network network = test::random_network(seed, size);
        for (const auto& [text, most] : {std::pair{"linear", size - 1}, {"synchronised", 1},
                                         {"synchronised:segment_bytes=256", 2}}) {
            EXPECT_EQ(most_on_their_way(schedules_of(Collective::gather, text), network), most)
                << text << ", seed " << seed;
        }
    }
}

// Seen to fail with a block that does not wait.
TEST(Synchronised, NoBlockLeavesTheRootOfAScatterBeforeItsRankIsReady) {
    const Schedule schedule = schedules_of(Collective::scatter, "synchronised")[root];
    int blocks = 0;
    for (const Step& step : schedule.steps()) {
        if (step.kind != StepKind::send) continue;
        ++blocks;
        ASSERT_EQ(schedule.dependencies(step).size(), 1u);
        const auto id = static_cast<std::size_t>(schedule.dependencies(step).front());
        EXPECT_EQ(schedule.steps()[id].kind, StepKind::receive);
        EXPECT_EQ(schedule.steps()[id].peer, step.peer);
    }
    EXPECT_EQ(blocks, size - 1);
}

}  // namespace
}  // namespace mutirao
