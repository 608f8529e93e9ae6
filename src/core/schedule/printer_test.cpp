// Text and JSON against hand-written ones.
#include "core/schedule/printer.h"

#include <gtest/gtest.h>

#include "core/schedule/test_schedules.h"

namespace mutirao {
namespace {

const std::vector<Schedule> one_of_each =
    test::schedules_of(2, "0 copy input[0,8) into output[8,16); 0 receive scratch[0,8) from 1;"
                          "0 reduce scratch[0,8) into output[8,16) after 0 1; 1 send input[0,8) to 0");

TEST(Printer, TextHasOneLinePerStep) {
    EXPECT_EQ(to_text(one_of_each),
              "rank 0  step 0  copy input[0,8) into output[8,16)\n"
              "rank 0  step 1  receive scratch[0,8) from 1\n"
              "rank 0  step 2  reduce scratch[0,8) into output[8,16)  after 0, 1\n"
              "rank 1  step 0  send input[0,8) to 0\n");
    EXPECT_EQ(to_text(std::vector<Schedule>(1)), "rank 0  nothing to do\n");
    EXPECT_EQ(to_text(test::flat_broadcast(12, 8)).substr(0, 40),
              "rank  0  step  0  send output[0,8) to 1\n");
}

TEST(Printer, JsonHasEveryField) {
    EXPECT_EQ(
        to_json(one_of_each),
        R"({"ranks":[{"rank":0,"scratch_bytes":8,"steps":[)"
        R"({"id":0,"kind":"copy",)"
        R"("source":{"buffer":"input","offset_bytes":0,"length_bytes":8},)"
        R"("target":{"buffer":"output","offset_bytes":8,"length_bytes":8},"after":[]},)"
        R"({"id":1,"kind":"receive","peer":1,"buffer":"scratch","offset_bytes":0,)"
        R"("length_bytes":8,"after":[]},)"
        R"({"id":2,"kind":"reduce",)"
        R"("source":{"buffer":"scratch","offset_bytes":0,"length_bytes":8},)"
        R"("target":{"buffer":"output","offset_bytes":8,"length_bytes":8},)"
        R"("source_first":false,"after":[0,1]}]},)"
        R"({"rank":1,"scratch_bytes":0,"steps":[)"
        R"({"id":0,"kind":"send","peer":0,"buffer":"input","offset_bytes":0,)"
        R"("length_bytes":8,"after":[]}]}]})");
    EXPECT_EQ(to_json({}), R"({"ranks":[]})");
}

// Hosts with several ranks: host by host, ranks under their own numbers.
TEST(Printer, TextGroupsRanksByHost) {
    const std::string text = to_text(test::flat_broadcast(5, 8), Placement({0, 1, 0, 1, 0}));
    EXPECT_EQ(text.substr(0, 8), "host 0\n ");
    EXPECT_NE(text.find("host 1\n  rank 1  step 0  receive output[0,8) from 0\n  rank 3"), std::string::npos) << text;
}

}  // namespace
}  // namespace mutirao
