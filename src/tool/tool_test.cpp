#include "tool/tool.h"

#include <gtest/gtest.h>
#include <unistd.h>

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

TEST(Tool, ListsEveryAlgorithmAndSetting) {
    const std::string algorithms = run_tool("algorithms").out, settings = run_tool("settings").out;
    for (const Algorithm& row : catalogue())
        EXPECT_TRUE(contains(algorithms, '"' + std::string(row.name) + '"')) << row.name;
    for (const char* restriction : {"keeps the operands' order", "operators that commute only"})
        EXPECT_TRUE(contains(algorithms, restriction)) << restriction;
    for (const SettingRow& row : setting_rows())
        EXPECT_TRUE(contains(settings, environment_name(row.name))) << row.name;
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

/// A file that is gone when the test ends.
class NetworkOnDisk {
  public:
    NetworkOnDisk(const std::string& name, const std::string& text)
        : path_(testing::TempDir() + "mutirao-" + name + "-" + std::to_string(getpid())) {
        std::ofstream(path_) << text;
    }
    ~NetworkOnDisk() { std::filesystem::remove(path_); }

    const std::string& path() const { return path_; }

  private:
    std::string path_;
};

struct Answer {
    std::string asked;
    std::vector<std::string> parts;
    int exit_code = 0;
    std::string error = "";
};

// JSON is compared without white space.
void expect_answer(const Answer& expected) {
    const auto& [asked, parts, exit_code, error] = expected;
    SCOPED_TRACE(asked);
    const Outcome outcome = run_tool(asked);
    EXPECT_EQ(outcome.exit_code, exit_code);
    EXPECT_TRUE(contains(outcome.err, error) && outcome.err.empty() == error.empty()) << outcome.err;
    std::string flat = outcome.out;
    if (flat.starts_with('{')) std::erase_if(flat, [](char c) { return c == ' ' || c == '\n'; });
    for (const std::string& part : parts)
        EXPECT_TRUE(contains(flat, part) || contains(outcome.out, part)) << part << " in " << outcome.out;
    EXPECT_EQ(outcome.out.empty(), parts.empty());
}

TEST(Tool, AnswersAreWhatIsAskedFor) {
    // A line 0 - 1 - 2 with a slow direct link 0 - 2; and host 2 of the other stands alone.
    const NetworkOnDisk line("line", "hosts 3\nlink 0 1 1000 100\nlink 1 0 1000 100\nlink 1 2 1000 100\n"
                                     "link 2 1 1000 100\nlink 0 2 9000 100\nlink 2 0 9000 100\n");
    const NetworkOnDisk cut("cut", "hosts 3\nlink 0 1 5 5\nlink 1 0 5 5\n");
    const std::string on_line = " --network " + line.path(), on_cut = " --network " + cut.path();
    const std::string in_threes = "show broadcast/tree:inside=flat --root 4 --ranks-per-host=3" + on_line;
    const std::string in_turns = "show broadcast/flat --ranks 8 --ranks-per-host 3" + on_line + " --placement ";
    const char* const along_the_line =
        R"({"parent":2,"child":1,"latency_us":1000},{"parent":1,"child":0,"latency_us":1000})";
    const std::string no_tree = "mutirao-core: there is no tree: the links do not reach every host\n";
    const Answer cases[] = {
        {"check-settings ranks_per_host=5 broadcast=auto", {}},
        {"check-settings probe_count=5", {"setting probe_count is gone: three round trips are measured on each link\n"}},
        {"check-settings reproducibility=bitwise allreduce=ring", {}, 2,
         "mutirao-core: allreduce: ring does not combine operands from the first rank on, as "
         "reproducibility=bitwise asks\n"},
        {"check-settings ranks_per_host=5 ranks_per_hots=5", {}, 2,
         "mutirao-core: unknown setting \"ranks_per_hots\"; did you mean ranks_per_host?\n"},
        {"show broadcast/binomial --ranks 6 --format=text", {"predicted "}},
        {"show broadcast/binomial --ranks 6 --format=json", {"\"schedules\":{"}},
        {"tree mst --root 2" + on_line, {along_the_line}},
        {"tree shortest_path --root 2" + on_line, {along_the_line}},
        {"predict broadcast --bytes 0" + on_line, {"\"native\"", "\"reason\""}},
        {"predict broadcast flat chain --bytes 0" + on_line,
         {R"("candidates":[{"candidate":"flat","predicted_us":0,"in_full":true},{"candidate":"chain",)"}},
        // Host 2's block of 1000 bytes is 2000 us away from host 0, which takes it over two links at most.
        {"predict gather --bytes 1000" + on_line,
         {R"("latency_bound_us":2000,"bandwidth_bound_us":2005,"reduction_bound_us":0,"bound_us":2005,)"}},
        {"show gather/linear --format=text --bytes 1000" + on_line, {" x the lower bound of 2.005 ms\n"}},
        {"tree mst" + on_cut, {}, 1, no_tree},
        {"tree shortest_path" + on_cut, {}, 1, no_tree},
        {"tree greedy" + on_cut, {}, 1, no_tree},
        {"tree two_level" + on_cut, {}, 1, no_tree},
        {"predict broadcast" + on_cut, {"no spanning tree", "\"bound_us\":null"}},
        {in_threes + " --ranks 8", {"\"host_of\":[0,0,0,1,1,1,2,2]", "of 8 on 3 hosts"}},
        // Rank 4 leads its host: to the others' lowest ranks, then to the ranks beside it.
        {in_threes + " --ranks 8 --format=text",
         {"host 1\n"
          "  rank 3  step 0  receive output[0,24) from 4\n"
          "  rank 4  step 0  send output[0,24) to 0\n"
          "  rank 4  step 1  send output[0,24) to 6\n"
          "  rank 4  step 2  send output[0,24) to 5\n"
          "  rank 4  step 3  send output[0,24) to 3\n"}},
        {in_threes + " --ranks 10", {}, 2, "has 3 hosts"},
        {"predict broadcast --ranks-per-host 4 --root 11" + on_line, {"\"root\":"}},
        {"tree mst --ranks-per-host 4 --root 11" + on_line, {"\"root\":"}},
        {in_turns + "cyclic", {"\"host_of\":[0,1,2,0,1,2,0,1]"}},
        {in_turns + "cyclical", {}, 2, "did you mean cyclic"},
    };
    for (const auto& each : cases) expect_answer(each);
}

}  // namespace
}  // namespace mutirao::tool
