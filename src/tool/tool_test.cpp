#include "tool/tool.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

#include "core/algorithms/algorithm.h"
#include "core/settings/settings.h"

namespace mutirao::tool {
namespace {

struct Outcome {
    int exit_code;
    std::string out;
    std::string err;
};

/// With the words of a command line.
Outcome run_tool(const std::string& line) {
    std::istringstream words(line);
    std::ostringstream out;
    std::ostringstream err;
    const int exit_code = run({std::istream_iterator<std::string>(words), {}}, out, err);
    return {exit_code, out.str(), err.str()};
}

bool contains(const std::string& text, std::string_view part) {
    return text.find(part) != text.npos;
}

/// A file that is gone when the test ends.
class NetworkOnDisk {
  public:
    explicit NetworkOnDisk(const std::string& text) { std::ofstream(path_) << text; }
    ~NetworkOnDisk() { std::filesystem::remove(path_); }

    const std::string& path() const { return path_; }

  private:
    std::string path_ = testing::TempDir() + "mutirao-" +
                        testing::UnitTest::GetInstance()->current_test_info()->name() + ".txt";
};

// A line 0 - 1 - 2 with a slow direct link 0 - 2.
constexpr const char* three_hosts =
    "hosts 3\n"
    "link 0 1 1000 100\nlink 1 0 1000 100\n"
    "link 1 2 1000 100\nlink 2 1 1000 100\n"
    "link 0 2 9000 100\nlink 2 0 9000 100\n";

TEST(Tool, ListsEveryAlgorithmAndSetting) {
    const Outcome algorithms = run_tool("algorithms");
    for (const Algorithm& row : catalogue()) {
        EXPECT_TRUE(contains(algorithms.out, "\"" + std::string(row.name) + "\"")) << row.name;
    }
    const Outcome settings = run_tool("settings");
    for (const SettingRow& row : setting_rows()) {
        EXPECT_TRUE(contains(settings.out, environment_name(row.name))) << row.name;
    }
}

TEST(Tool, SaysWhatAnAlgorithmIsRestrictedTo) {
    const std::string listed = run_tool("algorithms").out;
    for (const Algorithm& row : catalogue()) {
        if (row.native() || !row_of(row.collective).reduces) continue;
        const char* said =
            row.keeps_order ? "keeps the operands' order" : "operators that commute only";
        EXPECT_TRUE(contains(listed, said)) << row.name;
    }
}

TEST(Tool, TitlesSayWhoseMessageItIs) {
    for (const Algorithm& row : catalogue()) {
        if (!row.has_schedule()) continue;
        const CollectiveRow& collective = row_of(row.collective);
        const std::string name = std::string(collective.name) + "/" + std::string(row.name);
        const std::string ranks = row.fits == nullptr || row.fits(8) ? "8" : "2";
        const Outcome shown = run_tool("show " + name + " --ranks " + ranks + " --format text");
        ASSERT_EQ(shown.exit_code, 0) << name << shown.err;
        const std::string title = shown.out.substr(0, shown.out.find('\n'));
        EXPECT_EQ(contains(title, " B a rank "), collective.in_blocks != InBlocks::none) << title;
        EXPECT_EQ(contains(title, "rank 0 of " + ranks), collective.rooted) << title;
        EXPECT_EQ(contains(title, " among " + ranks + " ranks"), !collective.rooted) << title;
    }
}

TEST(Tool, ChecksSettingsAndSaysWhichAreGone) {
    const Outcome good = run_tool("check-settings ranks_per_host=5 broadcast=auto");
    EXPECT_EQ(good.exit_code, 0) << good.err;
    EXPECT_EQ(good.out, "");
    const Outcome gone = run_tool("check-settings probe_count=5");
    EXPECT_EQ(gone.exit_code, 0) << gone.err;
    EXPECT_EQ(gone.out, "setting probe_count is gone: three round trips are measured on each link\n");
    EXPECT_EQ(run_tool("check-settings ranks_per_host=5 ranks_per_hots=5").err,
              "mutirao-core: unknown setting \"ranks_per_hots\"; did you mean ranks_per_host?\n");
}

TEST(Tool, WrongUsageIsOneLineAndExitCodeTwo) {
    for (const char* shown : {
             "",
             "shwo",
             "algorithms extra",
             "check-settings ranks_per_host",
             "check-settings enabled=maybe",
             "show",
             "show broadcast",
             "show bcast/flat",
             "show broadcast/chian",
             "show broadcast/native",
             "show broadcast/flat --ranks",
             "show broadcast/flat --ranks 0",
             "show broadcast/flat --root 8",
             "show broadcast/flat --bytes 1k",
             "show broadcast/flat --format pdf",
             "show broadcast/flat --network /nonexistent",
             "show broadcast/flat --rank 3",
             "show broadcast/flat --root=1 --root=1",
             "show broadcast/flat broadcast/flat",
             "show broadcast/chain:segment_bytes=256 --bytes 1099511627776",
             "predict",
             "show scan/native --root 1",
             "predict broadcast chian",
             "predict allreduce --root 1",
             "predict gather --root 8",
             "predict barrier --bytes 8",
             "tree oak",
         }) {
        const Outcome outcome = run_tool(shown);
        EXPECT_EQ(outcome.exit_code, 2) << shown;
        EXPECT_EQ(outcome.out, "") << shown;
        EXPECT_EQ(outcome.err.find('\n') + 1, outcome.err.size()) << shown << outcome.err;
    }
}

TEST(Tool, ShowsAScheduleInEveryFormat) {
    for (const auto& [format, part] : std::vector<std::pair<std::string, std::string>>{
             {"text", "predicted "}, {"json", "\"schedules\":{"}}) {
        const Outcome outcome = run_tool("show broadcast/binomial --ranks 6 --format=" + format);
        EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
        EXPECT_TRUE(contains(outcome.out, part)) << outcome.out;
    }
}

// The minimum spanning tree of the line is the line, and so is the shortest way.
TEST(Tool, TreesFollowTheNetworkFile) {
    const NetworkOnDisk file(three_hosts);
    for (const std::string kind : {"mst", "shortest_path"}) {
        const Outcome outcome = run_tool("tree " + kind + " --root 2 --network " + file.path());
        ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
        std::string flat = outcome.out;
        std::erase_if(flat, [](char c) { return c == ' ' || c == '\n'; });
        EXPECT_TRUE(contains(flat, "{\"parent\":2,\"child\":1,\"latency_us\":1000},"
                                   "{\"parent\":1,\"child\":0,\"latency_us\":1000}"))
            << outcome.out;
    }
}

TEST(Tool, PredictsWhatIsAskedOrAllOfIt) {
    const NetworkOnDisk file(three_hosts);
    const std::string base = "predict broadcast --bytes 0 --network " + file.path();
    const Outcome all = run_tool(base);
    EXPECT_EQ(all.exit_code, 0) << all.err;
    EXPECT_TRUE(contains(all.out, "\"reason\"")) << all.out;
    EXPECT_TRUE(contains(all.out, "\"native\"")) << all.out;
    const Outcome two = run_tool(base + " flat chain");
    EXPECT_EQ(two.exit_code, 0) << two.err;
    EXPECT_LT(two.out.find("\"flat\""), two.out.find("\"chain\"")) << two.out;
    EXPECT_FALSE(contains(two.out, "\"binomial\"")) << two.out;
}

// Host 2's block of 1000 bytes is 2000 us away from host 0, which takes it over two links at most.
TEST(Tool, PutsTheLowerBoundsBesidePredictions) {
    const NetworkOnDisk file(three_hosts);
    const std::string options = " --bytes 1000 --network " + file.path();
    const Outcome predicted = run_tool("predict gather" + options);
    EXPECT_TRUE(contains(predicted.out, "\"latency_bound_us\": 2000,\n"
                                        "  \"bandwidth_bound_us\": 2005,\n"
                                        "  \"reduction_bound_us\": 0,\n"
                                        "  \"bound_us\": 2005,"))
        << predicted.out;
    EXPECT_TRUE(contains(run_tool("show gather/linear --format=text" + options).out,
                         " x the lower bound of 2.005 ms\n"));
}

TEST(Tool, SaysWhenThereIsNoTree) {
    const NetworkOnDisk file("hosts 3\nlink 0 1 5 5\nlink 1 0 5 5\n");
    for (const std::string kind : {"mst", "shortest_path", "greedy", "two_level"}) {
        const Outcome outcome = run_tool("tree " + kind + " --network " + file.path());
        EXPECT_EQ(outcome.exit_code, 1) << kind;
        EXPECT_EQ(outcome.err,
                  "mutirao-core: there is no tree: the links do not reach every host\n");
    }
    const Outcome decision = run_tool("predict broadcast --network " + file.path());
    EXPECT_EQ(decision.exit_code, 0) << decision.err;
    EXPECT_TRUE(contains(decision.out, "no spanning tree")) << decision.out;
    EXPECT_TRUE(contains(decision.out, "\"bound_us\": null")) << decision.out;
}

TEST(Tool, RanksShareHosts) {
    const NetworkOnDisk file(three_hosts);
    const std::string on_file = " --network " + file.path();
    const std::string base = "show broadcast/tree:inside=flat --root 4 --ranks-per-host=3" + on_file;
    const Outcome json = run_tool(base + " --ranks 8");
    ASSERT_EQ(json.exit_code, 0) << json.err;
    EXPECT_TRUE(contains(json.out, "\"host_of\":[0,0,0,1,1,1,2,2]")) << json.out;
    EXPECT_TRUE(contains(json.out, "of 8 on 3 hosts")) << json.out;
    const Outcome text = run_tool(base + " --ranks 8 --format=text");
    // Rank 4 leads its host: to the others' lowest ranks, then to the ranks beside it.
    EXPECT_TRUE(contains(text.out, "host 1\n"
                                   "  rank 3  step 0  receive output[0,24) from 4\n"
                                   "  rank 4  step 0  send output[0,24) to 0\n"
                                   "  rank 4  step 1  send output[0,24) to 6\n"
                                   "  rank 4  step 2  send output[0,24) to 5\n"
                                   "  rank 4  step 3  send output[0,24) to 3\n"))
        << text.out;
    const Outcome too_many = run_tool(base + " --ranks 10");
    EXPECT_EQ(too_many.exit_code, 2);
    EXPECT_TRUE(contains(too_many.err, "has 3 hosts")) << too_many.err;
    for (const std::string command : {"predict broadcast", "tree mst"}) {
        const Outcome other = run_tool(command + " --ranks-per-host 4 --root 11" + on_file);
        EXPECT_EQ(other.exit_code, 0) << other.err;
        EXPECT_TRUE(contains(other.out, "\"root\": ")) << other.out;
    }
}

TEST(Tool, RanksGoRoundTheHosts) {
    const NetworkOnDisk file(three_hosts);
    const std::string base = "show broadcast/flat --ranks 8 --ranks-per-host 3 --network " + file.path();
    const Outcome outcome = run_tool(base + " --placement cyclic");
    EXPECT_TRUE(contains(outcome.out, "\"host_of\":[0,1,2,0,1,2,0,1]")) << outcome.out << outcome.err;
    const Outcome refused = run_tool(base + " --placement cyclical");
    EXPECT_EQ(refused.exit_code, 2);
    EXPECT_TRUE(contains(refused.err, "did you mean cyclic")) << refused.err;
}

}  // namespace
}  // namespace mutirao::tool
