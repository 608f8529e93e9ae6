// Simulated programs against what was measured of them: seconds of loops on network A and B (Open MPI 5), and what
// a change of a link costs a synchronous program under the trials of today.
#include "simulate/program.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "simulate/loops.h"
#include "simulate/trials_of_today.h"

namespace mutirao::simulate {
namespace {

double native_s(const Program& program, const std::shared_ptr<const RankNetwork>& network) {
    WalkedTruth truth({{0, network}}, open_mpi_5());
    NativeChooser native;
    return run(program, truth, native).elapsed_us / 1e6;
}

double known_s(Program program, const std::shared_ptr<const RankNetwork>& network) {
    WalkedTruth truth({{0, network}}, open_mpi_5());
    Settings settings;
    settings.trials = Trials::off;
    TrialsOfToday chooser(*network, settings);
    program.news = {{-1, network}};
    return run(program, truth, chooser).elapsed_us / 1e6;
}

void expect_within(double share, double measured, double simulated) {
    EXPECT_GE(simulated, measured * (1 - share));
    EXPECT_LE(simulated, measured * (1 + share));
}

TEST(Program, TakesNativelyWhatWasMeasured) {
    const auto a = network_of(round_trips_of_a());
    expect_within(0.1, 10.1, native_s(sgd(40), a));
    expect_within(0.1, 4.4, native_s(sgd(16), a));
    expect_within(0.1, 4.9, native_s(fft(60), a));
    expect_within(0.1, 7.7, native_s(k_means(60), a));
    expect_within(0.2, 7.8, native_s(sgd(40), network_of(round_trips_of_b())));
}

TEST(Program, TakesByWhatIsPredictedWhatWasMeasured) {
    const auto a = network_of(round_trips_of_a());
    expect_within(0.1, 5.9, known_s(sgd(40), a));
    expect_within(0.1, 6.1, known_s(k_means(60), a));
    expect_within(0.2, 7.8, known_s(sgd(40), network_of(round_trips_of_b())));
}

Outcome with_trials(Program program, const std::shared_ptr<const RankNetwork>& network, std::uint64_t seed) {
    WalkedTruth truth({{0, network}}, open_mpi_5());
    TrialsOfToday chooser(*network, Settings{});
    program.news = news_of(network, 250'000, seed);
    return run(program, truth, chooser);
}

// On a quiet machine; with other load beside it sgd of 16 steps took from 4.3 to 7.9 s.
TEST(Program, TakesWithTrialsWhatWasMeasured) {
    const auto a = network_of(round_trips_of_a());
    expect_within(0.2, 3.6, with_trials(sgd(16), a, 1).elapsed_us / 1e6);
    expect_within(0.1, 6.3, with_trials(k_means(60), a, 1).elapsed_us / 1e6);
    expect_within(0.15, 5.65, with_trials(fft(60), a, 1).elapsed_us / 1e6);
}

TEST(Program, IsAFunctionOfItsArguments) {
    const auto a = network_of(round_trips_of_a());
    const Outcome once = with_trials(sgd(16), a, 3), again = with_trials(sgd(16), a, 3);
    EXPECT_EQ(once.elapsed_us, again.elapsed_us);
    EXPECT_EQ(once.in_calls_us, again.in_calls_us);
}

// Trials hold hopeless arms against the program's own wait for the slow trunk.
TEST(Program, MakesSlowCallsWhenALinkHasChangedAndTrialsBegin) {
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

}  // namespace
}  // namespace mutirao::simulate
