// mutirao-profile as it is called.
#include "profile/commands.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "profile/profile_store.h"
#include "profile/test_files.h"

namespace mutirao::profile {
namespace {

using ProfileCommands = test::FileTest;

struct Answer {
    int code;
    std::string out, err;
};

Answer call(const std::vector<std::string>& words, const std::string& input = {}) {
    std::istringstream in(input);
    std::ostringstream out, err;
    const int code = run(words, in, out, err);
    return {code, out.str(), err.str()};
}

const std::string line =
    "4\t2\t2\tbroadcast\t1\t1\t24\twarm\ttuned\tchain:segment_bytes=4096\t90\t100.5\t120\t10\t1.75e9";

TEST_F(ProfileCommands, RowsAreRemembered) {
    const std::string network = path + ".network";
    std::ofstream(network) << "hosts 2\nlink 0 1 1000 inf\nlink 1 0 1200 inf\n";
    const Answer answer = call({"remember", path, "Some MPI", network}, line + "\n");
    EXPECT_EQ(answer.code, 0) << answer.err;
    EXPECT_EQ(answer.out, "1\n");
    const auto known = ProfileStore(path).rows_for({2, 1, {1100}, "", transport()}, "Some MPI");
    ASSERT_EQ(known.rows.size(), 1u) << known.why_none;
    EXPECT_EQ(known.rows[0].ranks, (Ranks{4, 2, 2}));
    EXPECT_EQ(known.rows[0].root, 1);
    EXPECT_EQ(known.rows[0].origin, Origin::tuned);
    EXPECT_EQ(known.rows[0].time_us.median, 100.5);
    EXPECT_EQ(to_string(known.rows[0].candidate), "chain:segment_bytes=4096");
    EXPECT_EQ(call({"remember", path, "Some MPI", "2", "2", "20000", "", "btl=tcp"}, line).code, 0);
    EXPECT_EQ(ProfileStore(path).rows_for({2, 2, {20000}, "", "btl=tcp"}, "Some MPI").rows.size(), 1u);
    EXPECT_EQ(call({"find", path, network}).out, "1\n");
    EXPECT_EQ(call({"find", path, "2", "2", "21000", "", "btl=tcp"}).out, "2\n");
    EXPECT_EQ(call({"find", path}).out, "0\n");
    EXPECT_EQ(call({"find", path + "none"}).out, "0\n");
}

TEST_F(ProfileCommands, WrongInputIsOneLineAndExitCodeTwo) {
    const std::vector<std::pair<Answer, std::string>> wrong{
        {call({}), "no command"},
        {call({"rember"}), "remember"},
        {call({"remember", path}), "FILE MPI"},
        {call({"remember", path, "M", "no-such-file"}), "no-such-file"},
        {call({"remember", path, "M", "2", "2", "20,x", "", ""}), "LATENCIES"},
        {call({"remember", path, "M"}, line + "\n" + line + "\t5\n"), "line 2"},
        {call({"remember", path, "M"}, "4\t2\n"), "line 1"},
        {call({"remember", path, "M"}, "x" + line + "\n"), "line 1"}};
    for (const auto& [answer, named] : wrong) {
        EXPECT_EQ(answer.code, 2) << named;
        EXPECT_NE(answer.err.find(named), std::string::npos) << answer.err;
        EXPECT_EQ(std::count(answer.err.begin(), answer.err.end(), '\n'), 1);
    }
    EXPECT_EQ(call({"remember", "/proc/none.db", "M"}, line + "\n").code, 1);
}

}  // namespace
}  // namespace mutirao::profile
