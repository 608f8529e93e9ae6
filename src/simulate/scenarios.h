// Scenarios from a seed: programs whose calls take what the scenario says, so that thousands of them can be run with
// whoever chooses, natively, and by the arm that a chooser who knew everything would take. They hold what makes
// choosing hard: predictions that are wrong, connections that cool while others are tried, noise, late ranks, calls
// of 1 us and of 5 s beside each other, and links that change once, recover or flap.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "simulate/program.h"

namespace mutirao::simulate {

/// One way to run a class of calls: what it takes and what it is predicted to take.
struct SyntheticArm {
    struct Regimes {
        double cold_us = 0;  ///< over connections that were idle
        double warm_us = 0;  ///< over such as have just been used
    };
    Arm arm;
    Regimes predicted, taken;
};

struct SyntheticClass {
    CallShape shape;
    std::vector<SyntheticArm> arms;  ///< native first, then the fastest by prediction first
};

/// Until the next one begins: with a call, so that the same calls meet it whatever they are run by.
struct SyntheticState {
    std::uint64_t since_call = 0;
    std::shared_ptr<const RankNetwork> network;  ///< another one for each state
    std::vector<SyntheticClass> classes;
};

/// As a Truth.
class SyntheticTruth {
  public:
    /// `noise`: standard deviation of the logarithm of a call's time.
    SyntheticTruth(std::shared_ptr<const std::vector<SyntheticState>> states, double noise, std::uint64_t seed);

    std::vector<double> operator()(const Call& call, const Arm& arm, const std::vector<double>& begin_us);

  private:
    /// Of what an arm sends over, in one class.
    struct Connection {
        bool used = false;
        double cold = 1;  ///< in its last call: share of what slow start costs at most
        double last_us = 0;
    };
    double call_us(const Call& call, const Arm& arm, double begin_us);

    std::shared_ptr<const std::vector<SyntheticState>> states_;
    double noise_;
    std::uint64_t seed_;
    std::vector<std::vector<Connection>> connections_;  ///< by class and arm
};

enum class Change : std::uint8_t { none, once, recovers, flaps };

struct ProgramScenario {
    std::uint64_t seed = 0;
    Change change = Change::none;
    double noise = 0;
    Program program;
    std::shared_ptr<const std::vector<SyntheticState>> states;

    const RankNetwork& network() const { return *states->front().network; }
    /// What is predicted by whoever knows that network, one of the states'.
    const SyntheticClass& foreseen(const CallShape& shape, const RankNetwork& network) const;
    SyntheticTruth truth() const { return {states, noise, seed}; }
    /// One line, for a failure to be understood by.
    std::string text() const;
};

ProgramScenario scenario_of(std::uint64_t seed);

/// What a chooser made of a scenario. Times are means of the ranks.
struct Judgement {
    Outcome natively, chosen, known;  ///< known: each class by the arm that serves it best in each state

    double lost_us() const { return chosen.elapsed_us - natively.elapsed_us; }
    /// Of the time in calls that could be saved from call `from` on; nothing where that is less than 5% of it.
    std::optional<double> share_won(std::size_t from) const;
};

Judgement judge(const ProgramScenario& scenario, Chooser& chooser);

}  // namespace mutirao::simulate
