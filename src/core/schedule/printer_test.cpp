// Text and JSON against hand-written ones; the picture by what can be counted and measured in it.
#include "core/schedule/printer.h"

#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <regex>

#include "core/schedule/test_schedules.h"

namespace mutirao {
namespace {

using testing::input;
using testing::output;
using testing::scratch;

std::vector<Schedule> one_of_each() {
    std::vector<Schedule> ranks(2);
    const StepId copied = ranks[0].copy(input(0, 8), output(8, 8));
    const StepId received = ranks[0].receive(1, scratch(0, 8));
    ranks[0].reduce(scratch(0, 8), output(8, 8), std::array{copied, received});
    ranks[1].send(0, input(0, 8));
    return ranks;
}

Network uniform(int hosts, double latency_us) {
    Network network(hosts);
    for (int a = 0; a < hosts; ++a)
        for (int b = 0; b < hosts; ++b)
            if (a != b) network.set_link(a, b, {latency_us});
    return network;
}

std::size_t count(const std::string& text, const std::string& part) {
    std::size_t found = 0;
    for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
        ++found;
    return found;
}

/// Every opened element is closed, in order; no stray "<" or "&".
bool well_formed(const std::string& xml) {
    static const std::regex token(
        R"(<(/?)([a-zA-Z]+)((?: [-a-zA-Z0-9]+="[^"<]*")*)\s*(/?)>|&(amp|lt|gt|quot);|[^<&])");
    std::vector<std::string> open;
    auto at = xml.cbegin();
    std::smatch match;
    while (at != xml.cend()) {
        if (!std::regex_search(at, xml.cend(), match, token,
                               std::regex_constants::match_continuous))
            return false;
        at = match[0].second;
        if (!match[2].matched) continue;
        if (match[1].length() > 0) {
            if (open.empty() || open.back() != match[2]) return false;
            open.pop_back();
        } else if (match[4].length() == 0) {
            open.push_back(match[2]);
        }
    }
    return open.empty();
}

TEST(Printer, TextHasOneLinePerStep) {
    EXPECT_EQ(to_text(one_of_each()),
              "rank 0  step 0  copy input[0,8) into output[8,16)\n"
              "rank 0  step 1  receive scratch[0,8) from 1\n"
              "rank 0  step 2  reduce scratch[0,8) into output[8,16)  after 0, 1\n"
              "rank 1  step 0  send input[0,8) to 0\n");
    EXPECT_EQ(to_text(std::vector<Schedule>(1)), "rank 0  nothing to do\n");
    EXPECT_EQ(to_text(testing::flat_broadcast(12, 8)).substr(0, 40),
              "rank  0  step  0  send output[0,8) to 1\n");
}

TEST(Printer, JsonHasEveryField) {
    EXPECT_EQ(
        to_json(one_of_each()),
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

TEST(Picture, HasAnArrowPerMessageAtItsTime) {
    Network network = uniform(4, 1000);
    network.set_link(0, 2, {4000});
    const std::string svg = to_svg(testing::flat_broadcast(4, 8), network, "flat");
    EXPECT_TRUE(well_formed(svg));
    EXPECT_EQ(count(svg, "<g>"), 3u);
    EXPECT_NE(svg.find("0 to 2: 8 B, 0.000 to 4.000 ms"), std::string::npos);
    // x1 is time 0 for all; the slow message ends four times as far from it as the others.
    const std::regex arrow(R"re(</title><line x1="([0-9.]+)" y1="[0-9.]+" x2="([0-9.]+)")re");
    std::vector<double> lengths;
    for (std::sregex_iterator i(svg.begin(), svg.end(), arrow), end; i != end; ++i)
        lengths.push_back(std::stod((*i)[2]) - std::stod((*i)[1]));
    ASSERT_EQ(lengths.size(), 3u);
    EXPECT_NEAR(lengths[2], 4 * lengths[0], 1);
    EXPECT_NEAR(lengths[1], lengths[0], 0.2);
}

TEST(Picture, ColoursByHopsAndMarksTheRoot) {
    const std::string broadcast =
        to_svg(testing::binomial_broadcast(8, 8), uniform(8, 1000), "binomial");
    EXPECT_EQ(count(broadcast, " hop"), 3u) << "1 hop, 2 hops, 3 hops";
    EXPECT_EQ(count(broadcast, ">root<"), 1u);
    EXPECT_EQ(count(broadcast, "font-weight=\"700\""), 1u);
    const std::string allreduce =
        to_svg(testing::doubling_allreduce(8, 8), uniform(8, 1000), "doubling");
    EXPECT_EQ(count(allreduce, " hop"), 3u);
    EXPECT_EQ(count(allreduce, ">root<"), 0u);
}

// Hosts with several ranks: rows stand host by host, under their own numbers.
TEST(Picture, GroupsRanksByHost) {
    const RankNetwork network{{uniform(2, 1000), {}, {}}, Placement({0, 1, 0, 1, 0}), {}};
    const auto schedules = testing::flat_broadcast(5, 8);
    const std::string svg = to_svg(schedules, network, "two hosts");
    EXPECT_TRUE(well_formed(svg));
    std::map<double, std::string> rows;
    const std::regex row(
        R"re( y="([0-9.]+)" text-anchor="end" font-size="1[0-9.]+"[^>]*>)re"
        R"re(((host [0-9], )?[0-9])<)re");
    for (std::sregex_iterator i(svg.begin(), svg.end(), row), end; i != end; ++i)
        rows[std::stod(i->str(1))] = i->str(2);
    std::string order;
    for (const auto& [y, label] : rows) order += label + ";";
    EXPECT_EQ(order, "host 0, 0;2;4;host 1, 1;3;");
    EXPECT_EQ(count(svg, "<rect x=\"8\""), 2u) << "host 1 and the root";
    const std::string text = to_text(schedules, network.placement());
    EXPECT_EQ(text.substr(0, 8), "host 0\n ");
    EXPECT_NE(text.find("host 1\n  rank 1  step 0  receive output[0,8) from 0\n  rank 3"),
              std::string::npos)
        << text;
}

// Catches text that is pasted into the SVG as it is.
TEST(Picture, EscapesTitleAndLabels) {
    const std::string svg =
        to_svg(testing::flat_broadcast(3, 8), uniform(3, 1), "a < b & \"c\"\x01",
               {"<rio>", "", "s\xC3\xA3o\xFF"});
    EXPECT_TRUE(well_formed(svg));
    EXPECT_NE(svg.find(">a &lt; b &amp; &quot;c&quot; <"), std::string::npos);
    EXPECT_NE(svg.find(">&lt;rio&gt; 0<"), std::string::npos);
    EXPECT_NE(svg.find(">1<"), std::string::npos);
    EXPECT_NE(svg.find(">s\xC3\xA3o\xEF\xBF\xBD 2<"), std::string::npos);
}

TEST(Picture, DrawsOnlyWhatStaysReadable) {
    const std::string chain = to_svg(testing::chain_broadcast(5, 1000, 8), uniform(5, 1), "chain");
    EXPECT_EQ(count(chain, "<g>"), 8u) << "the first and the last of each pair";
    EXPECT_NE(chain.find("4000 messages"), std::string::npos);
    EXPECT_NE(chain.find("drawn: 8 messages"), std::string::npos);
    const std::string wide =
        to_svg(testing::binomial_broadcast(3000, 8), uniform(3000, 1000), "wide");
    EXPECT_LE(count(wide, "<g>"), 2000u);
    EXPECT_GE(count(wide, "<g>"), 1000u);
    EXPECT_LT(count(wide, "<text"), 1000u);
}

TEST(Picture, SaysWhatNeverHappens) {
    Network network = uniform(4, 1000);
    network.set_link(0, 2, {std::numeric_limits<double>::infinity()});
    const std::string svg = to_svg(testing::flat_broadcast(4, 8), network, "flat");
    EXPECT_TRUE(well_formed(svg));
    EXPECT_EQ(count(svg, "<g>"), 2u);
    EXPECT_EQ(count(svg, ">never<"), 2u) << "rank 2, and rank 0, whose send does not complete";
    EXPECT_EQ(count(svg, "stuck"), 1u);
    EXPECT_EQ(count(svg, "inf") + count(svg, "nan"), 0u);
}

TEST(Picture, OfNothingIsStillAPicture) {
    EXPECT_TRUE(well_formed(to_svg({}, Network(0), "none")));
    EXPECT_TRUE(well_formed(to_svg(std::vector<Schedule>(1), Network(1), "one")));
    EXPECT_EQ(count(to_svg(std::vector<Schedule>(1), Network(1), "one"), "nan"), 0u);
}

}  // namespace
}  // namespace mutirao
