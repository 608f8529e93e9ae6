#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "commands.h"

namespace mutirao::tool {
namespace {

std::string replay(const std::string& trace, std::vector<std::string> options = {}) {
    const std::string path =
        testing::TempDir() + "mutirao-replay-" +
        testing::UnitTest::GetInstance()->current_test_info()->name() + ".trace";
    std::ofstream(path) << trace;
    options.insert(options.begin(), path);
    std::ostringstream out;
    replay_trace(options, out);
    std::filesystem::remove(path);
    return out.str();
}

void expect_parts(const std::string& text, const std::vector<std::string>& parts) {
    std::size_t at = 0;
    for (const std::string& part : parts) {
        at = text.find(part, at);
        ASSERT_NE(at, text.npos) << part << " in its place in\n" << text;
    }
}

TEST(Replay, RefusesWhatIsNoTrace) {
    for (const std::string trace : {"", "1 x 3\n", "1 2 -3\n", "1 2 3\n1 2\n"}) {
        EXPECT_THROW(replay(trace), UsageError) << trace;
    }
}

// By hand: 0-2 gets ten times worse in the second slice, so 2 is better reached by way of 1; in the
// third it carries nothing, and in the fourth nothing reaches 2.
TEST(Replay, FollowsASmallNetwork) {
    expect_parts(replay("1000 2000 3000\n1000 20000 3000\nnan inf 3000\n1000 inf inf\n1000 2000 3000\n",
                        {"--threshold", "10"}),
                 {R"("slice":0,"changed_links":0,"announcements":3)", R"("bound_us":2000,)",
                  R"("slice":1,"changed_links":1,"announcements":1)", R"("bound_us":4000,)",
                  R"("adapting_exchanged":1)", R"("always_exchanged":1)",
                  R"("slice":2,"changed_links":1,"announcements":1)", R"("bound_us":4000,)", R"("first_us":null)",
                  R"("slice":3,"changed_links":1,"announcements":1)", R"("bound_us":null,)",
                  R"("slice":4,"changed_links":2,"announcements":2)", R"("bound_us":2000,)",
                  R"("adapting_exchanged":1)"});
}

// A change by 40% is no news with a threshold of 50, but what is measured counts for the bound.
TEST(Replay, KnowsWhatWasAnnouncedAndWhatIs) {
    expect_parts(replay("1000\n1400\nnan\ninf\ninf\n1200\n", {"--threshold", "50"}),
                 {R"(0,"changed_links":0,"announcements":1,)", R"("bound_us":1000,)",
                  R"(1,"changed_links":1,"announcements":0,)", R"("bound_us":1400,)",
                  R"(2,"changed_links":0,"announcements":0,)", R"("bound_us":1400,)",
                  R"(3,"changed_links":1,"announcements":1,)", R"("bound_us":null,)",
                  R"(4,"changed_links":0,"announcements":0,)", R"("bound_us":null,)",
                  R"(5,"changed_links":1,"announcements":1,)", R"("bound_us":1200,)"});
}

// Also when hosts leave and come back. Caught when planted: changes since another network than
// that of the last round.
TEST(Replay, KeepsKruskalsTree) {
    int traces_with_absent_hosts = 0;
    for (unsigned seed = 0; seed < 20; ++seed) {
        std::mt19937 random(seed);
        std::vector<std::string> links(9 * 8 / 2);
        for (std::string& link : links) link = std::to_string(1 + random() % 1000);
        std::ostringstream trace;
        for (int slice = 0; slice < 30; ++slice) {
            for (int change = 0; change < 5; ++change) {
                links[random() % links.size()] = random() % 3 > 0 ? "inf" : std::to_string(random() % 1000);
            }
            for (const std::string& link : links) trace << link << ' ';
            trace << '\n';
        }
        const std::string said = replay(trace.str(), {"--threshold", "0"});
        EXPECT_EQ(said.find(R"("tree_is_kruskals":false)"), said.npos) << seed;
        traces_with_absent_hosts += said.find(R"("bound_us":null)") != said.npos ? 1 : 0;
    }
    EXPECT_GT(traces_with_absent_hosts, 10);
}

}  // namespace
}  // namespace mutirao::tool
