#include "replay.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <set>
#include <limits>
#include <random>
#include <sstream>

#include "core/network/test_networks.h"
#include "core/network/tree.h"

namespace mutirao::tool {
namespace {

constexpr double never = std::numeric_limits<double>::infinity();

/// What the tool says of a trace: exit code, output or error line.
struct Outcome {
    int exit_code;
    std::string out;
    std::string err;
};

Outcome replay(const std::string& trace, std::vector<std::string> options = {}) {
    const std::string path =
        testing::TempDir() + "mutirao-replay-" +
        testing::UnitTest::GetInstance()->current_test_info()->name() + ".trace";
    std::ofstream(path) << trace;
    options.insert(options.begin(), {"replay", path});
    std::ostringstream out;
    std::ostringstream err;
    const int exit_code = run_program("mutirao-studies", {{"replay", "", replay_trace}}, options, out, err);
    std::filesystem::remove(path);
    return {exit_code, out.str(), err.str()};
}

bool contains(const std::string& text, std::string_view part) {
    return text.find(part) != text.npos;
}

TEST(Replay, RefusesWhatIsNoTraceInOneLine) {
    const std::vector<std::pair<std::string, std::string>> wrong = {
        {"", "hosts COUNT"},
        {"slice 1 2 3\n", ":1: the first line"},
        {"hosts 1\n", "2..1000"},
        {"hosts 1001\n", "2..1000"},
        {"hosts 3\n", "no slice"},
        {"hosts 3\nslice 1 2\n", ":2: 2 latencies where 3 belong"},
        {"hosts 3\nslice 1 2 3 4\n", ":2: 4 latencies where 3 belong"},
        {"hosts 3\n# fine\nslice 1 2 x\n", ":3: \"x\""},
        {"hosts 3\nslice 1 2 -3\n", "\"-3\""},
        {"hosts 3\nslice 1 2 nan\n", "\"nan\""},
        {"hosts 3\nslices 1 2 3\n", "unknown line \"slices\""},
    };
    for (const auto& [trace, named] : wrong) {
        const Outcome outcome = replay(trace);
        EXPECT_EQ(outcome.exit_code, 2) << trace;
        EXPECT_TRUE(contains(outcome.err, named)) << outcome.err;
        EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1);
        EXPECT_EQ(outcome.out, "");
    }
}

// By hand: 0-2 gets ten times worse in the second slice, so 2 is better reached by way of 1; in the
// third it carries nothing, and in the fourth nothing reaches 2.
TEST(Replay, FollowsASmallNetwork) {
    const Outcome outcome = replay(
        "hosts 3\nslice 1000 2000 3000\nslice 1000 20000 3000\nslice - inf 3000\n"
        "slice 1000 inf inf\nslice 1000 2000 3000\n",
        {"--threshold", "10"});
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    for (const std::string_view part :
         {"\"slice\":0,\"changed_links\":0,\"announcements\":3",
          "\"slice\":1,\"changed_links\":1,\"announcements\":1",
          "\"slice\":2,\"changed_links\":1,\"announcements\":1",
          "\"slice\":3,\"changed_links\":1,\"announcements\":1",
          "\"slice\":4,\"changed_links\":2,\"announcements\":2",
          "\"fastest\":{\"first\":{\"near_bound\":2,\"switches\":0,\"exchanged_links\":0}",
          "\"bound_us\":2000,", "\"bound_us\":4000,", "\"bound_us\":null,",
          "\"slices\":5,\"reachable_slices\":4,", "\"trees_unlike_kruskal\":0",
          "\"adapting\":{\"near_bound\":4,\"switches\":2,\"exchanged_links\":2}"}) {
        EXPECT_TRUE(contains(outcome.out, part)) << part << "\n" << outcome.out;
    }
}

// A change by 40% is no news with a threshold of 50, but what is measured counts for the bound.
TEST(Replay, KnowsWhatWasAnnouncedAndWhatIs) {
    const Outcome outcome = replay(
        "hosts 2\nslice 1000\nslice 1400\nslice -\nslice inf\nslice inf\nslice 1200\n", {"--threshold", "50"});
    for (const std::string_view part :
         {"0,\"changed_links\":0,\"announcements\":1,", "1,\"changed_links\":1,\"announcements\":0,",
          "2,\"changed_links\":0,\"announcements\":0,", "3,\"changed_links\":1,\"announcements\":1,",
          "4,\"changed_links\":0,\"announcements\":0,", "5,\"changed_links\":1,\"announcements\":1,",
          "\"bound_us\":1000,", "\"bound_us\":1400,", "\"bound_us\":null,", "\"bound_us\":1200,"}) {
        EXPECT_TRUE(contains(outcome.out, part)) << part << "\n" << outcome.out;
    }
}

/// Kruskal's forest, the part that joins `host`.
EdgeList tree_around(int host, const Network& network) {
    const EdgeList forest = minimum_spanning_tree(network);
    std::set<int> joined = {host};
    for (std::size_t before = 0; before != joined.size();) {
        before = joined.size();
        for (const auto& [a, b] : forest) {
            if (joined.contains(a) || joined.contains(b)) joined.insert({a, b});
        }
    }
    EdgeList part;
    for (const auto& edge : forest) {
        if (joined.contains(edge.first)) part.push_back(edge);
    }
    return part;
}

// Also when hosts leave and come back. Caught when planted: changes since another network than
// that of the last round.
TEST(MaintainedTree, IsKruskalsAfterEveryRound) {
    std::mt19937 random(1);
    for (unsigned seed = 0; seed < 20; ++seed) {
        Network network = test::random_network(seed, 9);
        for (int a = 0; a < 9; ++a) {
            for (int b = a + 1; b < 9; ++b) network.set_both(a, b, network.link(a, b));
        }
        MaintainedTree maintained;
        EXPECT_GT(maintained.adapt(network, 0), 0);
        EXPECT_EQ(maintained.adapt(network, 0), 0) << "nothing has changed";
        for (int round = 0; round < 30; ++round) {
            for (int change = 0; change < 5; ++change) {
                const int a = static_cast<int>(random() % 9);
                const int b = (a + 1 + static_cast<int>(random() % 8)) % 9;
                const bool dead = random() % 2 == 0;
                network.set_both(a, b, {dead ? never : static_cast<double>(random() % 1000)});
            }
            maintained.adapt(network, 0);
            ASSERT_EQ(maintained.tree(), tree_around(0, network)) << seed << ", round " << round;
            ASSERT_TRUE(maintained.equals_kruskals());
        }
    }
}

// Three hosts; the way to the last one is direct or over the middle one.
Network direct_or_over_one(double direct_us, double over_one_us) {
    Network network(3);
    network.set_both(0, 1, {over_one_us / 2});
    network.set_both(1, 2, {over_one_us / 2});
    network.set_both(0, 2, {direct_us});
    return network;
}

// Caught when planted: slices taken as they are, so that the longest one alone counts.
TEST(Foresight, ATreeLastsAsLongAsItIsNearTheBound) {
    const Network direct = direct_or_over_one(1000, 4000);
    const Network over_one = direct_or_over_one(4000, 1000);
    const Network either = direct_or_over_one(4000, 4200);
    const auto trees = [](const std::vector<Network>& slices, double near_percent) {
        return trees_with_foresight(slices, {}, near_percent);
    };
    EXPECT_EQ(trees({direct, direct, direct}, 0), 1);
    EXPECT_EQ(trees({direct, over_one, direct}, 10), 3);
    EXPECT_EQ(trees({direct, over_one, direct}, 300), 1);
    EXPECT_EQ(trees({over_one, either, over_one, direct}, 10), 2);
    EXPECT_EQ(trees({over_one, either, over_one, direct}, 1), 4);
    const Network slow = direct_or_over_one(400'000, 380'000);
    EXPECT_EQ(trees({slow, direct}, 10), 1) << "each slice counts by its own bound";
    const Network broken = direct_or_over_one(never, never);
    EXPECT_EQ(trees({direct, broken, direct}, 10), 1) << "no tree reaches all in that slice";
    EXPECT_EQ(trees({broken}, 10), 0);
}

// Nobody who cannot look ahead does with fewer.
TEST(Foresight, IsNeverBeatenByATreeOutOfThePast) {
    for (unsigned seed = 0; seed < 20; ++seed) {
        std::mt19937 random(seed);
        Network network(8);
        for (int a = 0; a < 8; ++a) {
            for (int b = a + 1; b < 8; ++b) {
                network.set_both(a, b, {1 + static_cast<double>(random() % 1000)});
            }
        }
        std::vector<Network> slices;
        int trees = 0;
        std::optional<Tree> present;
        for (int slice = 0; slice < 30; ++slice) {
            for (int change = 0; change < 3; ++change) {
                const int a = static_cast<int>(random() % 8);
                const int b = (a + 1 + static_cast<int>(random() % 7)) % 8;
                network.set_both(a, b, {1 + static_cast<double>(random() % 1000)});
            }
            slices.push_back(network);
            const Tree best = *shortest_path_tree(network, 0, 1);
            const double most_us = 1.1 * *predict_tree(best, network, 1);
            if (present && *predict_tree(*present, network, 1) <= most_us) continue;
            present = best;
            ++trees;
        }
        EXPECT_LE(trees_with_foresight(slices, {}, 10), trees) << seed;
        EXPECT_GE(trees, 2);
    }
}

TEST(Track, CountsHostsWithAnotherParent) {
    Track track;
    EXPECT_EQ(track.use(Tree{0, {-1, 0, 0, 0}, {{1, 2, 3}, {}, {}, {}}}), 0);
    EXPECT_EQ(track.use(Tree{0, {-1, 0, 0, 0}, {{3, 2, 1}, {}, {}, {}}}), 0) << "order is none";
    EXPECT_EQ(track.use(std::nullopt), 0) << "the tree stays";
    EXPECT_EQ(track.use(Tree{0, {-1, 0, 1, 1}, {{1}, {2, 3}, {}, {}}}), 2);
    EXPECT_EQ(track.switches, 1);
    EXPECT_EQ(track.exchanged_links, 2);
}

}  // namespace
}  // namespace mutirao::tool
