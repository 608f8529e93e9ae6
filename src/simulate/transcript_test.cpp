#include "simulate/transcript.h"

#include <gtest/gtest.h>

namespace mutirao::simulate {
namespace {

using Choice = GhsWorld::Choice;

const Graph triangle = weighted(3, {{0, 1}, {1, 2}, {0, 2}}, {1, 2, 4});

TEST(Transcript, TellsWhatHappensAndCanStopBeforeTheLastChoice) {
    const Choice wake{Choice::Kind::wake, -1, 0};
    const Choice deliver{Choice::Kind::deliver, 0, 1};
    EXPECT_EQ(transcript(ghs_world(triangle), {wake, deliver}, true),
              "0 wakes up\n0: sleeping -> found\n0: link to 1 basic -> branch\n"
              "0 -> 1 connect(level 0, knows 0)\n");
}

}  // namespace
}  // namespace mutirao::simulate
