// The promise, over programs of all kinds: what the decider may lose a program, and what it wins.
#include "simulate/decided.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>

namespace mutirao::simulate {
namespace {

constexpr double opening_us = 100'000;

/// For each class and state of the network one probe of two calls by whatever is slowest, and the calls after it that
/// are the probe's as well.
double misjudged_us(const ProgramScenario& scenario) {
    double sum_us = 0;
    for (const SyntheticState& state : *scenario.states) {
        for (const SyntheticClass& each : state.classes) {
            double slowest_us = 0;
            for (const SyntheticArm& arm : each.arms) slowest_us = std::max(slowest_us, arm.taken.cold_us);
            constexpr double probe_us = 200;
            sum_us += std::max(2 * slowest_us, probe_us * slowest_us / each.arms.front().taken.warm_us);
        }
    }
    return sum_us;
}

TEST(DecidedPrograms, LoseNoMoreThanIsPromised) {
    constexpr std::uint64_t scenarios = 500;
    constexpr std::size_t learnt_after = 200;
    std::vector<double> shares;
    for (std::uint64_t seed = 1; seed <= scenarios; ++seed) {
        const ProgramScenario scenario = scenario_of(seed);
        DecidedChooser chooser(scenario, opening_us);
        const Judgement judgement = judge(scenario, chooser);
        const double promised_us =
            Ledger::income_share * judgement.chosen.in_calls_us + opening_us + misjudged_us(scenario);
        EXPECT_LE(judgement.lost_us(), promised_us) << scenario.text();
        const std::size_t from = learnt_after * scenario.program.steps.size();
        if (const auto share = judgement.share_won(from)) shares.push_back(*share);
    }
    ASSERT_GT(shares.size(), 100u);
    std::sort(shares.begin(), shares.end());
    std::printf("share of what was to be won after %zu calls: median %.3f, lowest quarter %.3f, lowest tenth %.3f\n",
                learnt_after, shares[shares.size() / 2], shares[shares.size() / 4], shares[shares.size() / 10]);
    EXPECT_GE(shares[shares.size() / 2], 0.9);
}

}  // namespace
}  // namespace mutirao::simulate
