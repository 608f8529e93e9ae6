// Programs from a seed, on a virtual clock: ranks that compute and call collectives in a loop, over a network that may
// change. Thousands of them can be run by whoever chooses, natively, and by the arm that a chooser who knew everything
// would take. They hold what makes choosing hard: predictions that are wrong, connections that cool while others are
// tried, noise, late ranks, calls of 1 us and of 5 s beside each other, and links that change once, recover or flap.
//
// A run is a pure function of the program and the chooser. Noise and lateness are functions of the seed and of the
// call, so that the same program run natively meets the same.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "core/network/topology.h"
#include "core/selection/ruling.h"

namespace mutirao::simulate {

/// What calls take.
struct Regimes {
    double cold_us = 0;  ///< over connections that were idle
    double warm_us = 0;  ///< over such as have just been used
};

/// One way to run a class of calls.
struct SyntheticArm {
    Arm arm;
    Regimes predicted, taken;
};

struct SyntheticClass {
    CallShape shape;
    double compute_us = 0;           ///< by every rank before each of its calls
    std::vector<SyntheticArm> arms;  ///< native first, then the fastest by prediction first
};

/// Until the next one begins: with a call, so that the same calls meet it whatever they are run by.
struct SyntheticState {
    std::uint64_t since_call = 0;
    double known_after_us = 0;  ///< to the decider's host
    std::shared_ptr<const RankNetwork> network{};  ///< another one for each state
    std::vector<SyntheticClass> classes;

    const SyntheticClass& class_of_shape(const CallShape& shape) const;
};

enum class Change : std::uint8_t { none, once, recovers, flaps };

struct Program {
    std::uint64_t seed = 0;
    int ranks = 0;
    int rounds = 0;  ///< of one call of each class
    Change change = Change::none;
    double noise = 0;     ///< standard deviation of the logarithm of a call's time
    double lateness = 0;  ///< of a rank before a call: standard deviation, as a share of what it computes
    double skew = 0;      ///< of the ranks' speeds: the slowest computes longer by this share
    std::vector<SyntheticState> states{};

    const SyntheticState& state_in(std::uint64_t call) const;
};

Program program_of(std::uint64_t seed);

/// One call of the program, as all ranks see it.
struct Call {
    std::uint64_t number = 0;  ///< on its communicator, from 0
    CallShape shape;
};

/// Whoever chooses how calls run: the decider and what each rank knows of its rulings.
///
/// How time passes. Every rank has a clock, and all clocks show the same time: microseconds since MPI_Init has
/// ended. Ranks compute, enter a call, and leave it when their part of it is done. Calls are gone through one after
/// another: all ranks enter call n, the first of them rank 0, the decider; then all leave it, and only then call n + 1
/// begins, so `now_us` grows for each rank but not from one question to the next. So what a rank says in call n
/// reaches others in later calls, but for rank 0, which is heard in the same call.
class Chooser {
  public:
    virtual ~Chooser() = default;
    /// How one rank runs a call: all must answer the same.
    virtual Arm enter(int rank, const Call& call, double now_us) = 0;
    /// The call took so long since the rank had entered.
    virtual void leave(int /*rank*/, const Call&, double /*now_us*/, double /*took_us*/) {}
    /// The decider's host knows the network, or that it has changed.
    virtual void hear_network(const SyntheticState&) {}
};

struct Outcome {
    /// Of each call, from when the root, where there is one, or the last rank entered until the last rank left.
    std::vector<double> calls_us;
    double elapsed_us = 0;   ///< when the last rank was done
    double in_calls_us = 0;  ///< mean of the ranks
};

Outcome run(const Program& program, Chooser& chooser);
Outcome run_natively(const Program& program);
/// Each class by the arm that serves it best in each state.
Outcome run_knowingly(const Program& program);

/// Of the time in calls that could be saved from call `from` on; nothing where that is less than 5% of it.
std::optional<double> share_won(const Outcome& natively, const Outcome& chosen, const Outcome& known, std::size_t from);

}  // namespace mutirao::simulate
