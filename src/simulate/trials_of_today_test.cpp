// What the trials of today do to programs, against what was measured of them.
#include "simulate/trials_of_today.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "simulate/loops.h"
#include "simulate/scenarios.h"

namespace mutirao::simulate {
namespace {

void expect_within(double share, double measured, double simulated) {
    EXPECT_GE(simulated, measured * (1 - share));
    EXPECT_LE(simulated, measured * (1 + share));
}

/// As decide() chooses, of what a scenario foresees.
TrialsOfToday::Predict by_what_is_foreseen(const ProgramScenario& scenario) {
    return [&scenario](const CallShape& shape, const RankNetwork& network) {
        constexpr double clear_ratio = 1.1;
        const std::vector<SyntheticArm>& arms = scenario.foreseen(shape, network).arms;
        Decision made{arms.front().arm.candidate, "foreseen"};
        for (const SyntheticArm& each : arms)
            made.considered.push_back({each.arm.candidate, each.predicted.cold_us, true, each.predicted.cold_us});
        std::stable_sort(made.considered.begin(), made.considered.end(),
                         [](const Evaluated& a, const Evaluated& b) { return a.predicted_us < b.predicted_us; });
        const Evaluated& best = made.considered.front();
        if (best.predicted_us * clear_ratio < arms.front().predicted.cold_us) made.chosen = best.candidate;
        return made;
    };
}

Outcome with_trials(Program program, const std::shared_ptr<const RankNetwork>& network, std::uint64_t seed) {
    WalkedTruth truth({{0, network}}, open_mpi_5());
    TrialsOfToday chooser(*network, Settings{});
    program.news = news_of(network, 250'000, seed);
    return run(program, truth, chooser);
}

// On a quiet machine; with other load beside it sgd of 16 steps took from 4.3 to 7.9 s.
TEST(TrialsOfToday, TakeWhatWasMeasured) {
    const auto a = network_of(round_trips_of_a());
    expect_within(0.2, 3.6, with_trials(sgd(16), a, 1).elapsed_us / 1e6);
    expect_within(0.1, 6.3, with_trials(k_means(60), a, 1).elapsed_us / 1e6);
    expect_within(0.15, 5.65, with_trials(fft(60), a, 1).elapsed_us / 1e6);
}

TEST(TrialsOfToday, AreAFunctionOfTheirArguments) {
    const auto a = network_of(round_trips_of_a());
    const Outcome once = with_trials(sgd(16), a, 3), again = with_trials(sgd(16), a, 3);
    EXPECT_EQ(once.elapsed_us, again.elapsed_us);
    EXPECT_EQ(once.in_calls_us, again.in_calls_us);
}

// Hopeless arms are held against the program's own wait for the slow trunk, and so they are not seen to be.
TEST(TrialsOfToday, MakeSlowCallsWhenALinkHasChanged) {
    constexpr double change_us = 25e6, news_us = 1.5e6, watched_us = 40e6, old_bound_us = 350'600;
    const auto good = network_of(round_trips_of_six_sites()), bad = network_of(round_trips_of_six_sites(3310));
    Program program;
    program.ranks = 24;
    program.steps = {{0, {.collective = Collective::broadcast, .root = 12, .length_bytes = 24}}};
    program.rounds = 1000;
    program.until_us = change_us + watched_us;
    program.synchronous = true;
    program.news = {{2e6, good}, {change_us + news_us, bad}};
    WalkedTruth truth({{0, good}, {change_us, bad}}, open_mpi_5());
    TrialsOfToday chooser(*good, Settings{});
    const Outcome outcome = run(program, truth, chooser);
    const auto slow = std::count_if(outcome.calls.begin(), outcome.calls.end(), [](const Outcome::Called& call) {
        return call.begin_us > change_us && call.took_us() > 1.25 * old_bound_us;
    });
    EXPECT_GE(slow, 9);
    EXPECT_LE(slow, 13);
}

TEST(TrialsOfToday, RunInScenarios) {
    std::vector<double> shares;
    for (std::uint64_t seed = 1; seed <= 500; ++seed) {
        const ProgramScenario scenario = scenario_of(seed);
        TrialsOfToday chooser(scenario.network(), Settings{}, by_what_is_foreseen(scenario));
        const auto share = judge(scenario, chooser).share_won(200 * scenario.program.steps.size());
        if (share) shares.push_back(*share);
    }
    ASSERT_GE(shares.size(), 200u);
    std::sort(shares.begin(), shares.end());
    EXPECT_GE(shares[shares.size() / 2], 0.5);
}

}  // namespace
}  // namespace mutirao::simulate
