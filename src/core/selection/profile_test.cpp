// What a profile answers, held against sums done by hand.
#include "core/selection/profile.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <sstream>
#include <string>

#include "core/network/test_networks.h"

namespace mutirao {
namespace {

constexpr double week_s = 7 * 24 * 3600.0;

Candidate candidate(std::string_view text, Collective collective = Collective::broadcast) {
    return *parse_candidate(collective, text).candidate;
}

ProfileRow row(std::string_view name, std::size_t length_bytes, double median_us) {
    return {.ranks = {8, 4, 2},
            .root = 0,
            .length_bytes = length_bytes,
            .candidate = candidate(name),
            .time_us = {median_us * 0.9, median_us, median_us * 1.2},
            .windows = 10,
            .measured_s = 1000};
}

CallShape broadcast_of(std::size_t length_bytes, int root = 0) {
    return {.collective = Collective::broadcast, .root = root, .length_bytes = length_bytes};
}

std::vector<Remembered> at(const std::vector<ProfileRow>& rows, std::size_t length_bytes,
                           Ranks ranks = {8, 4, 2}) {
    return remembered(rows, broadcast_of(length_bytes), ranks);
}

Network sites_of_two(double near_us, double far_us) {
    return test::network_of_sites(4, 2, {.latency_us = near_us}, {.latency_us = far_us});
}

Fabric fabric_of(const Network& network) { return describe_fabric(network, "some model", ""); }

/// Of "NAME BYTES MEDIAN_US [tuned] [cold]; ...".
std::vector<ProfileRow> rows_of(const std::string& text, Ranks ranks = {8, 4, 2}) {
    std::vector<ProfileRow> rows;
    std::istringstream items(text);
    for (std::string item; std::getline(items, item, ';');) {
        std::istringstream words(item);
        std::string name, more;
        std::size_t length_bytes = 0;
        double median_us = 0;
        words >> name >> length_bytes >> median_us;
        ProfileRow& made = rows.emplace_back(row(name, length_bytes, median_us));
        made.ranks = ranks;
        while (words >> more) {
            if (more == "tuned") made.origin = Origin::tuned;
            if (more == "cold") made.buffers = Buffers::cold;
        }
    }
    return rows;
}

/// Candidates and their times; "about": interpolated.
std::string told(const std::vector<ProfileRow>& rows, std::size_t length_bytes, Ranks ranks = {8, 4, 2}) {
    std::ostringstream text;
    for (const Remembered& each : at(rows, length_bytes, ranks)) {
        EXPECT_EQ(each.row.length_bytes, length_bytes);
        EXPECT_EQ(each.row.ranks, ranks);
        text << (text.tellp() > 0 ? ", " : "") << (each.interpolated ? "about " : "") << to_string(each.row.candidate)
             << ' ' << each.row.time_us.median << " in " << each.row.time_us.low << ".." << each.row.time_us.high;
    }
    return text.str();
}

// A row's interval is from 0.9 to 1.2 of its median; intervals that are apart are spanned.
TEST(Profile, WhatWasMeasuredComesBackFastestFirst) {
    const std::string far_apart = "flat 1024 100; flat 1048576 400";
    const struct {
        const char* what;
        std::string rows;
        std::size_t length_bytes;
        const char* told;
    } cases[] = {
        {"of the same length", "flat 24 300; binomial 24 100; native 24 200", 24,
         "binomial 100 in 90..120, native 200 in 180..240, flat 300 in 270..360"},
        {"on a straight line in logarithms: half way from 1 KiB to 16 KiB, and from 100 to 400",
         "flat 1024 100; flat 16384 400", 4096, "about flat 200 in 180..240"},
        {"nothing is made up below", far_apart, 512, ""},
        {"nor above", far_apart, 2 << 20, ""},
        {"nor too far from either", far_apart, 32768, ""},
        {"nor for no bytes", far_apart, 0, ""},
        {"ruled alike", far_apart, 1500, "about flat 100 in 90..120"},
        {"cold buffers do not count", "flat 24 500 cold; flat 24 100", 24, "flat 100 in 90..120"},
        {"where anything else is known", "flat 24 500 cold", 24, "flat 500 in 450..600"},
        {"tuned and learned, as many windows and as old", "flat 24 100; flat 24 400 tuned", 24, "flat 200 in 90..480"},
        {"ratios to native are what compares",
         "native 24 1000; flat 24 500; native 24 100 tuned; binomial 24 60 tuned", 24,
         "flat 50 in 45..60, binomial 60 in 54..72, native 100 in 90..120"},
        {"without one no telling how flat compares", "flat 24 500; native 24 100 tuned; binomial 24 60 tuned", 24,
         "binomial 60 in 54..72, native 100 in 90..120"},
    };
    for (const auto& [what, rows, length_bytes, answer] : cases)
        EXPECT_EQ(told(rows_of(rows), length_bytes), answer) << what;
}

// Times of different numbers do not compare.
TEST(Profile, OfOtherNumbersOfRanksTheNearestServes) {
    std::vector<ProfileRow> rows = rows_of("flat 24 100");
    std::ranges::copy(rows_of("flat 24 700", {12, 4, 3}), std::back_inserter(rows));
    std::ranges::copy(rows_of("chain 24 50", {16, 4, 4}), std::back_inserter(rows));
    EXPECT_EQ(told(rows, 24, {11, 4, 3}), "about flat 700 in 630..840");
    EXPECT_EQ(told(rows, 24, {33, 4, 9}), "");
    EXPECT_EQ(told(rows, 24, {8, 8, 1}), "") << "on other hosts";
}

TEST(Profile, AnotherRootIsAnotherCallUnlessOnOneHost) {
    EXPECT_TRUE(remembered({row("flat", 24, 100)}, broadcast_of(24, 3), {8, 4, 2}).empty());
    ProfileRow on_one = row("flat", 24, 100);
    on_one.ranks = {8, 1, 8};
    const auto known = remembered({on_one}, broadcast_of(24, 3), on_one.ranks);
    ASSERT_EQ(known.size(), 1u);
    EXPECT_EQ(known[0].row.root, 3);
    EXPECT_FALSE(known[0].interpolated);
}

TEST(Profile, AnotherCollectiveOrOperatorIsAnotherCall) {
    ProfileRow sum = row("native", 24, 100);
    sum.candidate = candidate("recursive_doubling", Collective::allreduce);
    sum.root = any_root;
    CallShape shape{.collective = Collective::allreduce, .length_bytes = 24};
    EXPECT_EQ(remembered({sum}, shape, sum.ranks).size(), 1u);
    shape.op.commutes = false;
    EXPECT_TRUE(remembered({sum}, shape, sum.ranks).empty());
    EXPECT_TRUE(remembered({sum}, broadcast_of(24), sum.ranks).empty());
}

TEST(Profile, WhatIsNotForSoManyRanksIsLeftOut) {
    ProfileRow doubling = row("native", 24, 100);
    doubling.candidate = candidate("recursive_doubling", Collective::allgather);
    ASSERT_NE(doubling.candidate.algorithm->fits, nullptr);
    const CallShape shape{.collective = Collective::allgather, .length_bytes = 24};
    EXPECT_EQ(remembered({doubling}, shape, {8, 4, 2}).size(), 1u);
    EXPECT_TRUE(remembered({doubling}, shape, {7, 4, 2}).empty());
}

TEST(Profile, MoreWindowsAndNewerOnesWeighMore) {
    ProfileRow one = row("flat", 24, 100);
    ProfileRow other = row("flat", 24, 110);
    other.windows = 30;
    const double by_windows = std::exp((std::log(100.0) + 3 * std::log(110.0)) / 4);
    EXPECT_NEAR(merged(one, other).time_us.median, by_windows, 1e-9);
    EXPECT_NEAR(merged(other, one).time_us.median, by_windows, 1e-9);
    one.measured_s += 2 * week_s;  // the other's 30 windows count as 7.5
    const double by_age = std::exp((10 * std::log(100.0) + 7.5 * std::log(110.0)) / 17.5);
    EXPECT_NEAR(merged(one, other).time_us.median, by_age, 1e-9);
    EXPECT_EQ(merged(one, other).windows, 18u);
    EXPECT_EQ(merged(other, one).measured_s, one.measured_s);
}

TEST(Profile, NativeGoesOnlyForWhatIsClearlyFaster) {
    EXPECT_EQ(preferred(at({row("flat", 24, 10)}, 24)), nullptr);
    // Native is between 90 and 120; others take up to 1.2 of their medians.
    for (const auto& [others, expected] :
         {std::pair{"flat 24 98", "native"}, {"flat 24 96", "open"}, {"flat 24 84", "open"}, {"flat 24 83", "flat"},
          {"flat 24 300", "native"}, {"flat 24 72; chain 24 20", "chain"}}) {
        const auto known = at(rows_of(std::string("native 24 100; ") + others), 24);
        const Remembered* const best = preferred(known);
        EXPECT_EQ(best == nullptr ? "open" : to_string(best->row.candidate), expected) << others;
    }
}

// In a lab of six hosts a job had settled on these; the next one went back to native for half of its calls.
TEST(Profile, WhatATrialPreferredIsPreferredAgain) {
    ProfileRow native = row("native", 24, 0), other = row("flat", 24, 0);
    native.time_us = {26.1, 29.2, 41.6};
    other.time_us = {17.6, 20.3, 26.8};
    EXPECT_EQ(to_string(preferred(at({native, other}, 24))->row.candidate), "flat");
    native.time_us = {22.7, 24.5, 29.3};
    other.time_us = {16.6, 20.6, 24.3};
    EXPECT_EQ(to_string(preferred(at({native, other}, 24))->row.candidate), "flat");
}

TEST(Profile, WhatIsLearnedComesBack) {
    CallShape shape{.collective = Collective::allreduce, .root = 0, .length_bytes = 24};
    shape.op.commutes = false;
    const Candidate native = native_candidate(Collective::allreduce);
    const ProfileRow learned = learned_row(shape, {8, 4, 2}, native, {1, 2, 3}, 9, 1000);
    EXPECT_EQ(learned.root, any_root);
    EXPECT_FALSE(learned.commutes);
    ASSERT_EQ(remembered({learned}, shape, {8, 4, 2}).size(), 1u);
    const ProfileRow rooted = learned_row(broadcast_of(24, 3), {8, 4, 2}, candidate("flat"), {1, 2, 3}, 9, 1000);
    EXPECT_EQ(rooted.root, 3);
    EXPECT_EQ(remembered({rooted}, broadcast_of(24, 3), {8, 4, 2})[0].row.time_us.high, 3);
}

TEST(Profile, FabricsAreAlikeUpToAQuarter) {
    const Fabric here = fabric_of(sites_of_two(100, 20000));
    EXPECT_EQ(here.sites, 2);
    EXPECT_EQ(here.latencies_us, (std::vector<double>{100, 100, 20000, 20000, 20000, 20000}));
    EXPECT_EQ(here.processor, "") << "of one host only";
    EXPECT_FALSE(difference(here, fabric_of(sites_of_two(110, 24900))));
    EXPECT_TRUE(difference(here, fabric_of(sites_of_two(100, 25100))));
    EXPECT_TRUE(difference(fabric_of(sites_of_two(100, 25100)), here));
    EXPECT_TRUE(difference(fabric_of(sites_of_two(100, 200)), fabric_of(sites_of_two(126, 200))));
    EXPECT_FALSE(difference(here, fabric_of(sites_of_two(290, 20000)))) << "a hundredth of the longest";
    EXPECT_TRUE(difference(here, fabric_of(sites_of_two(310, 20000))));
    EXPECT_FALSE(difference(fabric_of(sites_of_two(5, 20000)), fabric_of(sites_of_two(24, 20000))))
        << "nearer than clocks tell";
}

TEST(Profile, ADifferenceIsNamed) {
    const Fabric here = fabric_of(sites_of_two(100, 20000));
    EXPECT_EQ(difference(here, fabric_of(Network(3))), "4 hosts in 2 sites, not 3 hosts in 1 sites");
    EXPECT_EQ(difference(here, fabric_of(sites_of_two(100, 50000))),
              "links of other latencies: 4 of 6");
    Network cut = sites_of_two(100, 20000);
    cut.set_both(0, 3, {.latency_us = std::numeric_limits<double>::infinity()});
    EXPECT_EQ(difference(here, fabric_of(cut)), "links of other latencies: 1 of 6");
    EXPECT_FALSE(difference(fabric_of(cut), fabric_of(cut)));
}

// A program's own messages delay probes.
TEST(Profile, OneLinkInEightMayHaveBeenMeasuredInABadMoment) {
    Network network = test::network_of_sites(8, 2, {100}, {20'000});
    const Fabric calm = fabric_of(network);
    for (const int first : {0, 2, 4}) network.set_both(first, first + 1, {.latency_us = 5000});
    EXPECT_FALSE(difference(fabric_of(network), calm));
    network.set_both(6, 7, {.latency_us = 5000});
    EXPECT_EQ(difference(fabric_of(network), calm), "links of other latencies: 4 of 28");
}

TEST(Profile, OneHostIsTheProcessorAndTheTransport) {
    const Network one(1);
    const Fabric here = describe_fabric(one, "2 x A", "");
    EXPECT_FALSE(difference(here, describe_fabric(one, "2 x A", "")));
    EXPECT_EQ(difference(here, describe_fabric(one, "4 x A", "")), "on 2 x A, not on 4 x A");
    EXPECT_EQ(difference(here, describe_fabric(one, "2 x A", "btl=tcp")),
              "over the MPI library's own choice, not over btl=tcp");
}

TEST(Profile, OfManyLinksSomeAreKept) {
    double next_us = 1000;
    const Fabric fabric = fabric_of(test::network_of(40, [&](int, int) { return Link{.latency_us = next_us++}; }));
    ASSERT_EQ(fabric.latencies_us.size(), 64u);
    EXPECT_EQ(fabric.latencies_us.front(), 1000);
    EXPECT_EQ(fabric.latencies_us.back(), 1000 + 779);
}

// When a private communicator is made, held against what it costs and wins by hand.

constexpr double s = 1e6;

ProgramRun run_of(double length_s, std::optional<double> saved_share) {
    return {.ranks = {8, 8, 1}, .length_s = length_s, .saved_share = saved_share};
}

TEST(Investment, PaysWhereMoreIsToBeWonUntilTheProgramEnds) {
    struct {
        const char* why;
        Investment made;
        bool pays;
    } const cases[] = {
        {"an unknown program is taken to be half way", {.cost_us = 1 * s, .ran_us = 10 * s, .gain_us = 2 * s}, true},
        {"a tenth may be lost", {.cost_us = 1 * s, .ran_us = 9.9 * s, .gain_us = 5 * s}, false},
        {"less than twice its cost", {.cost_us = 1 * s, .ran_us = 10 * s, .gain_us = 1.9 * s}, false},
        {"19 s at 0.3 win 5.7", {.cost_us = 1 * s, .ran_us = 1 * s, .before = run_of(20, 0.3)}, true},
        {"6 s at 0.3 win 1.8", {.cost_us = 1 * s, .ran_us = 1 * s, .before = run_of(7, 0.3)}, false},
        {"too late to win it back",
         {.cost_us = 1 * s, .ran_us = 15 * s, .gain_us = 9 * s, .before = run_of(20, 0.3)}, false},
        {"what won nothing before is tried later",
         {.cost_us = 1 * s, .ran_us = 39 * s, .gain_us = 10 * s, .before = run_of(300, 0)}, false},
        {"after forty times its cost",
         {.cost_us = 1 * s, .ran_us = 40 * s, .gain_us = 10 * s, .before = run_of(300, 0)}, true},
        {"half is over before it is made",
         {.cost_us = 1 * s, .ran_us = 10 * s, .gain_us = 9 * s, .before = run_of(24, {})}, false},
        {"of a known length", {.cost_us = 1 * s, .ran_us = 10 * s, .gain_us = 2 * s, .before = run_of(25, {})}, true},
        {"0.03 a second for 90 s",
         {.cost_us = 1 * s, .ran_us = 10 * s, .gain_us = 0.3 * s, .before = run_of(100, {})}, true},
        {"it ends any moment", {.cost_us = 1 * s, .ran_us = 10 * s, .gain_us = 5 * s, .before = run_of(9, {})}, false},
        {"it goes on longer than before: nothing is known of that",
         {.cost_us = 1 * s, .ran_us = 10 * s, .gain_us = 2 * s, .before = run_of(7.9, 0)}, true},
    };
    for (const auto& [why, made, expected] : cases) EXPECT_EQ(pays(made), expected) << why;
}

// Of ten calls of 20 s five ran natively, then five took 5 s each.
TEST(Investment, ARunThatSavedSaysHowLongTheNextOneTakesNatively) {
    const ProgramRun run = native_run(125 * s, {.saved_us = 70 * s, .probes_us = -5 * s}, 10 * 15.0 / 125);
    EXPECT_DOUBLE_EQ(run.length_s, 200);
    EXPECT_DOUBLE_EQ(run.saved_share.value_or(0), 0.75);
    const Investment twin{.cost_us = 5 * s, .ran_us = 60 * s, .gain_us = 45 * s, .before = run_of(run.length_s, {})};
    EXPECT_TRUE(pays(twin)) << "140 s are to go, of which the run before has won what it saved";
    EXPECT_EQ(native_run(10 * s, {.saved_us = 1 * s, .probes_us = 3 * s}, {}).length_s, 10) << "it lost";
}

TEST(Investment, WhatTheRunsOfAProgramSayTogether) {
    const ProgramRun again = newest(run_of(10, 0.4), run_of(12, {}));
    EXPECT_EQ(again.length_s, 12);
    EXPECT_EQ(again.saved_share, 0.4) << "nothing new was found out";
    EXPECT_EQ(newest(run_of(10, 0.4), run_of(12, 0.1)).saved_share, 0.1);
}

}  // namespace
}  // namespace mutirao
