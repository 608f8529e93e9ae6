// Executions of three hosts told in full, beside the told ones in testdata/. After a change that is
// meant, MUTIRAO_UPDATE=1 writes them anew: read the difference before committing it.
#include "simulate/transcript.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "simulate/golden.h"

namespace mutirao::simulate {
namespace {

using Choice = GhsWorld::Choice;

const Graph triangle = weighted(3, {{0, 1}, {1, 2}, {0, 2}}, {1, 2, 4});

/// First the wakes in their order, then always the smallest (from, to) by `less`.
std::vector<Choice> play(const std::vector<int>& wakes,
                         const std::function<bool(const Choice&, const Choice&)>& less) {
    GhsWorld world = ghs_world(triangle);
    std::vector<Choice> path;
    for (int host : wakes) {
        path.push_back({Choice::Kind::wake, -1, host});
        world.apply(path.back());
    }
    while (world.delivery_count() > 0) {
        std::vector<Choice> choices;
        for (std::size_t i = 0; i < world.delivery_count(); ++i)
            choices.push_back(world.delivery(i));
        path.push_back(*std::ranges::min_element(choices, less));
        world.apply(path.back());
    }
    return path;
}

TEST(Transcript, AllHostsWakeByThemselves) {
    compare_with_golden(transcript(ghs_world(triangle), play({0, 1, 2}, std::less<>())),
                        "triangle_all_wake.txt");
}

// The host of the two heavier links wakes first and its messages are the last to arrive, so a
// connect and a test have to wait.
TEST(Transcript, OneHostWakesTheOthers) {
    compare_with_golden(transcript(ghs_world(triangle), play({2}, std::greater<>())),
                        "triangle_one_wakes.txt");
}

TEST(Transcript, CanStopBeforeTheLastChoice) {
    const Choice wake{Choice::Kind::wake, -1, 0};
    const Choice deliver{Choice::Kind::deliver, 0, 1};
    EXPECT_EQ(transcript(ghs_world(triangle), {wake, deliver}, true),
              "0 wakes up\n0: sleeping -> found\n0: link to 1 basic -> branch\n"
              "0 -> 1 connect(level 0, knows 0)\n");
}

}  // namespace
}  // namespace mutirao::simulate
