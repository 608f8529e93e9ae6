// Simulated programs against what was measured of them: seconds of loops on network A and B (Open MPI 5), and what
// a change of a link costs a synchronous program under the trials of today.
#include "simulate/program.h"

#include <gtest/gtest.h>

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
}

}  // namespace
}  // namespace mutirao::simulate
