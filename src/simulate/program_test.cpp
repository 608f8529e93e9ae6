// Simulated programs against what was measured of them: seconds of loops on network A and B, Open MPI 5.
#include "simulate/program.h"

#include <gtest/gtest.h>

#include <map>

#include "core/selection/selection.h"
#include "simulate/loops.h"

namespace mutirao::simulate {
namespace {

/// All calls by what is predicted to be fastest on a network that is known from the beginning.
class ByPrediction : public Chooser {
  public:
    explicit ByPrediction(std::shared_ptr<const RankNetwork> network) : network_(std::move(network)) {}

    Way enter(int, const Call& call, double now_us) override {
        const auto [entry, fresh] = arms_.try_emplace(class_of(call.shape));
        if (fresh) {
            Decision decision = decide(call.shape, network_, Settings{});
            entry->second = {decision.chosen, std::move(decision.tree)};
        }
        return {entry->second, now_us};
    }
    void leave(int, const Call&, double, double) override {}
    void hear_network(std::shared_ptr<const RankNetwork>, double) override {}

  private:
    std::shared_ptr<const RankNetwork> network_;
    std::map<ShapeClass, Arm> arms_;
};

double run_s(const Program& program, const std::shared_ptr<const RankNetwork>& network, Chooser& chooser) {
    WalkedTruth truth({{0, network}}, open_mpi_5());
    return run(program, truth, chooser).elapsed_us / 1e6;
}

double native_s(const Program& program, const std::shared_ptr<const RankNetwork>& network) {
    NativeChooser native;
    return run_s(program, network, native);
}

double known_s(const Program& program, const std::shared_ptr<const RankNetwork>& network) {
    ByPrediction known(network);
    return run_s(program, network, known);
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
    expect_within(0.1, 5.5, known_s(sgd(40), a));
    expect_within(0.1, 6.1, known_s(k_means(60), a));
    expect_within(0.1, 5.35, known_s(fft(60), a));
    expect_within(0.2, 7.8, known_s(sgd(40), network_of(round_trips_of_b())));
}

}  // namespace
}  // namespace mutirao::simulate
