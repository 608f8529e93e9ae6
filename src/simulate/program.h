// Programs on a virtual clock: ranks that compute and call collectives in a loop, over a network that may change,
// run by what a Chooser says. What a call truly takes is a Truth.
//
// A run is a pure function of the program, the truth, the chooser and the seed. Noise and lateness are functions of
// the seed and of the call, so that the same program run natively meets the same.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "core/network/topology.h"
#include "core/selection/ruling.h"

namespace mutirao::simulate {

// What a simulated program (program.h) asks of whoever chooses how its calls run: the decider and what each rank
// knows of its rulings, behind three functions.
//
// How time passes. Every rank has a clock, and all clocks show the same time: microseconds since MPI_Init has
// ended. Ranks compute, enter a call, and leave it when their part of it is done. Calls are gone through one after
// another: all ranks enter call n, the first of them rank 0, the decider; then all leave it, and only then call n + 1
// begins, so `now_us` grows for each rank but not from one question to the next. So what a rank says in call n
// reaches others in later calls, but for rank 0, which is heard in the same call.

/// One call of the program, as all ranks see it.
struct Call {
    std::uint64_t number = 0;  ///< on its communicator, from 0
    CallShape shape;
};

class Chooser {
  public:
    virtual ~Chooser() = default;
    /// How one rank runs a call: all must answer the same.
    virtual Arm enter(int rank, const Call& call, double now_us) = 0;
    /// The call took so long since the rank had entered.
    virtual void leave(int /*rank*/, const Call&, double /*now_us*/, double /*took_us*/) {}
    /// The decider's host knows the network, or that it has changed.
    virtual void hear_network(const std::shared_ptr<const RankNetwork>&) {}
};

/// All calls natively.
class NativeChooser : public Chooser {
  public:
    Arm enter(int, const Call& call, double) override {
        return {native_candidate(call.shape.collective), std::nullopt};
    }
};

/// What a random number is for. Other values would make of every seed another program.
enum class Purpose : std::uint64_t { lateness = 2, skew = 3, noise = 100 };

/// A normal value for each (seed, purpose, call, rank).
double normal_of(std::uint64_t seed, Purpose purpose, std::uint64_t call, int rank);

/// How long calls really take: when each rank is done of which `begin_us` says when it begins its part.
using Truth =
    std::function<std::vector<double>(const Call& call, const Arm& arm, const std::vector<double>& begin_us)>;

struct Program {
    /// A call, and what every rank computes before it.
    struct Step {
        double compute_us = 0;
        CallShape shape;
    };

    int ranks = 0;
    std::vector<Step> steps;  ///< of one round
    int rounds = 0;
    double lateness = 0;  ///< of a rank in a step: standard deviation, as a share of what it computes
    double skew = 0;      ///< of the ranks' speeds: the slowest computes longer by this share
    /// What the decider's host sees of the network, in order; at first it knows nothing.
    struct News {
        double after_us = 0;  ///< it becomes known so long after
        std::shared_ptr<const RankNetwork> network;
        std::uint64_t call = 0;  ///< rank 0 has entered this one; 0: after MPI_Init
    };
    std::vector<News> news{};
};

struct Outcome {
    /// Of each call, from when the root, where there is one, or the last rank entered until the last rank left.
    std::vector<double> calls_us;
    double elapsed_us = 0;   ///< when the last rank was done
    double in_calls_us = 0;  ///< mean of the ranks

    /// From call `from` on.
    double took_us(std::size_t from = 0) const;
};

Outcome run(const Program& program, const Truth& truth, Chooser& chooser, std::uint64_t seed = 0);

}  // namespace mutirao::simulate
