#include "simulate/program.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "core/network/tree.h"
#include "core/text/invariant.h"
#include "simulate/random.h"

namespace mutirao::simulate {
namespace {

constexpr double ms = 1000, s = 1e6;

std::size_t at(int rank) { return static_cast<std::size_t>(rank); }

std::size_t class_index(const SyntheticState& state, const CallShape& shape) {
    for (std::size_t i = 0; i < state.classes.size(); ++i)
        if (state.classes[i].shape == shape) return i;
    broken_invariant("a call of a class that the program lacks: bytes", static_cast<long long>(shape.length_bytes), 0);
}

std::size_t arm_index(const SyntheticClass& of, const Arm& arm) {
    for (std::size_t i = 0; i < of.arms.size(); ++i)
        if (of.arms[i].arm == arm) return i;
    broken_invariant("a call by an arm that the program lacks: arms", static_cast<long long>(of.arms.size()), 0);
}

}  // namespace

const SyntheticClass& SyntheticState::class_of_shape(const CallShape& shape) const {
    return classes[class_index(*this, shape)];
}

const SyntheticState& Program::state_in(std::uint64_t call) const {
    const SyntheticState* newest = &states.front();
    for (const SyntheticState& each : states)
        if (each.since_call <= call) newest = &each;
    return *newest;
}

// --- programs ---------------------------------------------------------------------------------------

namespace {

// Box and Muller 1958, doi:10.1214/aoms/1177706645.
double normal(Random& random) {
    constexpr double two_pi = 6.283185307179586;
    const double radius = std::sqrt(-2 * std::log(1 - random.unit()));
    return radius * std::cos(two_pi * random.unit());
}

class Draw : public Random {
  public:
    using Random::Random;

    double between(double low, double high) { return low + (high - low) * unit(); }
    /// As likely to be of one order of magnitude as of another.
    double magnitude(double low, double high) { return low * std::pow(high / low, unit()); }
    bool chance(double share) { return unit() < share; }
};

std::shared_ptr<const RankNetwork> uniform_network(int ranks, double latency_us) {
    Topology topology;
    topology.network = Network(ranks);
    for (int a = 0; a < ranks; ++a)
        for (int b = 0; b < a; ++b) topology.network.set_both(a, b, {.latency_us = latency_us});
    topology.spanning_tree = minimum_spanning_tree(topology.network);
    topology.site_of.assign(at(ranks), 0);
    return std::make_shared<const RankNetwork>(std::move(topology), Placement::in_blocks(ranks, 1), MemoryCosts{});
}

CallShape draw_shape(Draw& draw) {
    constexpr Collective of_loops[] = {Collective::allreduce, Collective::broadcast, Collective::alltoall,
                                       Collective::allgather, Collective::reduce};
    CallShape shape;
    shape.collective = of_loops[draw.below(std::size(of_loops))];
    shape.length_bytes = static_cast<std::size_t>(draw.magnitude(1, 2 << 20)) * 8;
    shape.unit_bytes = row_of(shape.collective).reduces ? 8 : 1;
    return shape;
}

/// Algorithms only lend their names.
std::vector<Candidate> draw_candidates(Draw& draw, Collective collective) {
    constexpr std::size_t most_beside_native = 5;
    std::vector<Candidate> all;
    for (const Algorithm& row : catalogue())
        if (row.collective == collective && row.has_schedule() && !row.needs_tree()) all.push_back({&row, {}});
    std::vector<Candidate> drawn{native_candidate(collective)};
    const std::size_t count = 1 + draw.below(std::min(most_beside_native, all.size()));
    for (std::size_t i = 0; i < count; ++i) {
        const std::size_t next = draw.below(all.size());
        drawn.push_back(all[next]);
        all.erase(all.begin() + static_cast<std::ptrdiff_t>(next));
    }
    return drawn;
}

Regimes times(double factor, Regimes of) { return {of.cold_us * factor, of.warm_us * factor}; }

SyntheticClass draw_class(Draw& draw, double call_us) {
    constexpr double slowest_us = 5 * s;
    SyntheticClass drawn{draw_shape(draw), 0, {}};
    const double usual_error = draw.between(0.05, 0.4), miss_of_all = draw.magnitude(0.4, 2.5);
    for (const Candidate& candidate : draw_candidates(draw, drawn.shape.collective)) {
        const double ratio = candidate.native() ? 1 : draw.magnitude(0.25, 4);
        const double warm_us = std::min(call_us * ratio, slowest_us);
        const Regimes taken{std::min(warm_us * draw.magnitude(1, 4), slowest_us), warm_us};
        // Now and then a prediction is no more than a guess.
        const double error = draw.chance(0.1) ? draw.magnitude(0.1, 10) : std::exp(usual_error * normal(draw));
        drawn.arms.push_back({{candidate, std::nullopt}, times(miss_of_all * error, taken), taken});
    }
    std::stable_sort(drawn.arms.begin() + 1, drawn.arms.end(), [](const SyntheticArm& a, const SyntheticArm& b) {
        return a.predicted.cold_us < b.predicted.cold_us;
    });
    return drawn;
}

std::vector<SyntheticClass> draw_classes(Draw& draw) {
    constexpr double shortest_us = 1, longest_us = 5 * s, longest_gap_us = 10 * s;
    const std::size_t count = 1 + draw.below(5);
    std::vector<SyntheticClass> classes;
    while (classes.size() < count) {
        SyntheticClass next = draw_class(draw, draw.magnitude(shortest_us, longest_us));
        const bool there = std::ranges::any_of(classes, [&](const SyntheticClass& each) {
            return class_of(each.shape) == class_of(next.shape);
        });
        if (there) continue;
        next.compute_us = draw.chance(0.3) ? 0 : draw.magnitude(1, longest_gap_us);
        classes.push_back(std::move(next));
    }
    return classes;
}

/// No call is over before a message has arrived.
double shortest_call_us(const SyntheticState& state) {
    double shortest_us = std::numeric_limits<double>::infinity();
    for (const SyntheticClass& each : state.classes)
        for (const SyntheticArm& arm : each.arms) shortest_us = std::min(shortest_us, arm.taken.warm_us);
    return shortest_us;
}

/// Each arm goes over what has changed, or does not.
SyntheticState changed(Draw& draw, SyntheticState state) {
    for (SyntheticClass& each : state.classes) {
        for (SyntheticArm& arm : each.arms) {
            const double factor = draw.chance(0.5) ? draw.magnitude(1, 10) : 1;
            arm.predicted = times(factor, arm.predicted);
            arm.taken = times(factor, arm.taken);
        }
    }
    return state;
}

std::vector<SyntheticState> draw_states(Draw& draw, Change change, const SyntheticState& first, double calls) {
    std::vector<SyntheticState> states{first};
    if (change == Change::none) return states;
    const SyntheticState other = changed(draw, first);
    const std::size_t changes = change == Change::once ? 1 : change == Change::recovers ? 2 : 3 + draw.below(4);
    for (std::size_t i = 0; i < changes; ++i) {
        states.push_back(i % 2 == 0 ? other : first);
        const double share = (static_cast<double>(i) + draw.between(0, 1)) / static_cast<double>(changes);
        states.back().since_call = static_cast<std::uint64_t>(calls * share);
        states.back().network = std::make_shared<const RankNetwork>(*first.network);
    }
    return states;
}

}  // namespace

Program program_of(std::uint64_t seed) {
    constexpr double least_run_us = 20 * s, least_rounds = 300, most_calls = 3000;
    Draw draw(seed);
    Program made{.seed = seed};
    made.change = static_cast<Change>(draw.below(4));
    made.noise = draw.chance(0.25) ? 0 : draw.between(0, 0.2);
    made.ranks = 2 + static_cast<int>(draw.below(15));
    made.lateness = draw.chance(0.5) ? 0 : draw.between(0, 0.5);
    made.skew = draw.chance(0.5) ? 0 : draw.between(0, 0.3);
    SyntheticState first{.classes = draw_classes(draw)};
    double round_us = 0;
    for (const SyntheticClass& each : first.classes) round_us += each.compute_us + each.arms.front().taken.warm_us;
    // Short calls are made more often, so that something may happen meanwhile.
    const auto class_count = static_cast<double>(first.classes.size());
    made.rounds = static_cast<int>(std::clamp(least_run_us / round_us, least_rounds, most_calls / class_count));
    first.network = uniform_network(made.ranks, draw.between(0.1, 0.5) * shortest_call_us(first));
    made.states = draw_states(draw, made.change, first, class_count * made.rounds);
    for (SyntheticState& state : made.states) {
        // Agents need some time to be there, and then to see a change.
        const double delay_us = state.since_call == 0 ? draw.between(0.2, 4) * s : draw.between(0.3, 3) * s;
        state.known_after_us = std::min(delay_us, draw.between(0.01, 0.2) * round_us * made.rounds);
    }
    return made;
}

// --- runs --------------------------------------------------------------------------------------------

namespace {

/// What a random number is for. Other values would make of every seed another program.
enum class Purpose : std::uint64_t { lateness = 2, skew = 3, noise = 100 };

/// For each (seed, purpose, call, rank).
Random random_of(std::uint64_t seed, Purpose purpose, std::uint64_t call, int rank) {
    constexpr std::uint64_t odd = 0x9E3779B97F4A7C15u;
    const auto number = static_cast<std::uint64_t>(purpose);
    Random mixed(((seed * odd + number) * odd + call) * odd + static_cast<std::uint64_t>(rank));
    mixed.next();
    return mixed;
}

double normal_of(std::uint64_t seed, Purpose purpose, std::uint64_t call, int rank) {
    Random random = random_of(seed, purpose, call, rank);
    return normal(random);
}

// A window halves with each time-out in which it lies idle, and each halving costs a round trip until there are about
// six fewer than at best; a call opens most of it again.
double cold_after(double cold_in_last_call, double idle_us, const RankNetwork& network) {
    constexpr double halvings = 6, least_timeout_us = 200 * ms, left_cold = 0.25;
    const double timeout_us = least_timeout_us + 2 * network.between_hosts().link(0, 1).latency_us;
    const double cooled = std::floor(std::max(idle_us, 0.0) / timeout_us) / halvings;
    return std::min(cold_in_last_call * left_cold + cooled, 1.0);
}

double time_us(const Regimes& regimes, double cold) {
    return regimes.warm_us + cold * (regimes.cold_us - regimes.warm_us);
}

double latest(const std::vector<double>& times_us) { return *std::ranges::max_element(times_us); }

class Run {
  public:
    Run(const Program& program, Chooser& chooser)
        : program_(program), chooser_(chooser), now_us_(at(program.ranks)) {
        for (const SyntheticClass& each : program.states.front().classes) connections_.emplace_back(each.arms.size());
    }

    Outcome whole() {
        for (int round = 0; round < program_.rounds; ++round) {
            for (const SyntheticClass& each : program_.states.front().classes) {
                compute(each.compute_us);
                call(each.shape);
            }
        }
        outcome_.elapsed_us = latest(now_us_);
        return std::move(outcome_);
    }

  private:
    /// Of what an arm sends over, in one class.
    struct Connection {
        bool used = false;
        double cold = 1;  ///< in its last call: share of what slow start costs at most
        double last_us = 0;
    };

    void compute(double compute_us) {
        for (int rank = 0; rank < program_.ranks; ++rank) {
            const double slower = 1 + program_.skew * random_of(program_.seed, Purpose::skew, 0, rank).unit();
            const double drawn = normal_of(program_.seed, Purpose::lateness, number_, rank);
            const double late = program_.lateness * std::abs(drawn);
            now_us_[at(rank)] += compute_us * (slower + late);
        }
    }

    /// What becomes known does so in order, the first state after MPI_Init, each other one after its first call.
    void hear_news() {
        for (; heard_ < program_.states.size(); ++heard_) {
            const SyntheticState& state = program_.states[heard_];
            const bool from_start = state.since_call == 0;
            if (!from_start && state.since_call >= number_) return;
            if ((from_start ? 0 : entered_us_[state.since_call]) + state.known_after_us > now_us_.front()) return;
            chooser_.hear_network(state);
        }
    }

    void call(const CallShape& shape) {
        hear_news();
        const Call call{number_++, shape};
        entered_us_.push_back(now_us_.front());
        const Arm arm = chooser_.enter(0, call, now_us_.front());
        for (int rank = 1; rank < program_.ranks; ++rank) {
            if (!(chooser_.enter(rank, call, now_us_[at(rank)]) == arm))
                broken_invariant("ranks differ (call, rank)", static_cast<long long>(call.number), rank);
        }
        const std::vector<double> done_us = done_of(call, arm);
        const double begun_us = row_of(shape.collective).rooted ? now_us_[at(shape.root)] : latest(now_us_);
        outcome_.calls_us.push_back(latest(done_us) - begun_us);
        for (int rank = 0; rank < program_.ranks; ++rank) {
            const double took_us = done_us[at(rank)] - now_us_[at(rank)];
            outcome_.in_calls_us += took_us / program_.ranks;
            now_us_[at(rank)] = done_us[at(rank)];
            chooser_.leave(rank, call, done_us[at(rank)], took_us);
        }
    }

    /// When each rank is done. From a root the others hear one after another, and it goes on at once; to a root they
    /// send and go on before it has all; else all wait for all.
    std::vector<double> done_of(const Call& call, const Arm& arm) {
        constexpr double of_root = 0.1;
        const double last_us = latest(now_us_);
        if (!row_of(call.shape.collective).rooted)
            return std::vector<double>(now_us_.size(), last_us + taken_us(call, arm, last_us));
        const bool to_root = row_of(call.shape.collective).reduces;
        const double from_us = to_root ? last_us : now_us_[at(call.shape.root)];
        const double took_us = taken_us(call, arm, from_us);
        std::vector<double> done_us;
        for (int rank = 0; rank < program_.ranks; ++rank) {
            const double share = (rank + 1.0) / program_.ranks;
            if (rank == call.shape.root)
                done_us.push_back(from_us + took_us * (to_root ? 1 : of_root));
            else if (to_root)
                done_us.push_back(now_us_[at(rank)] + took_us * share);
            else
                done_us.push_back(std::max(now_us_[at(rank)], from_us + took_us * share));
        }
        return done_us;
    }

    double taken_us(const Call& call, const Arm& arm, double begin_us) {
        const SyntheticState& state = program_.state_in(call.number);
        const std::size_t number = class_index(state, call.shape);
        const SyntheticClass& of = state.classes[number];
        const std::size_t which = arm_index(of, arm);
        Connection& connection = connections_[number][which];
        const double cold =
            connection.used ? cold_after(connection.cold, begin_us - connection.last_us, *state.network) : 1;
        const double noise = program_.noise * normal_of(program_.seed, Purpose::noise, call.number, 0);
        const double took_us = time_us(of.arms[which].taken, cold) * std::exp(noise);
        connection = {true, cold, begin_us + took_us};
        return took_us;
    }

    const Program& program_;
    Chooser& chooser_;
    std::uint64_t number_ = 0;
    std::size_t heard_ = 0;  ///< states of the network
    std::vector<double> now_us_;  ///< by rank
    std::vector<double> entered_us_;  ///< rank 0, by call
    std::vector<std::vector<Connection>> connections_;  ///< by class and arm
    Outcome outcome_;
};

/// Runs each class by the arm that is named for it in each state.
class FixedChooser : public Chooser {
  public:
    using Arms = std::vector<std::vector<std::size_t>>;  ///< by state and class

    FixedChooser(const Program& program, Arms arms) : program_(program), arms_(std::move(arms)) {}

    Arm enter(int, const Call& call, double) override {
        const SyntheticState& state = program_.state_in(call.number);
        const std::size_t number = class_index(state, call.shape);
        const auto which = static_cast<std::size_t>(&state - program_.states.data());
        return state.classes[number].arms[arms_[which][number]].arm;
    }

  private:
    const Program& program_;
    Arms arms_;
};

/// Where the arm lies idle so long between any two calls.
double steady_us(const SyntheticArm& arm, double idle_us, const RankNetwork& network) {
    double cold = 1;
    for (int call = 0; call < 8; ++call) cold = cold_after(cold, idle_us, network);
    return time_us(arm.taken, cold);
}

/// How cold connections are depends on what the other classes are run by.
std::vector<std::size_t> best_arms(const SyntheticState& state) {
    double gaps_us = 0;
    for (const SyntheticClass& each : state.classes) gaps_us += each.compute_us;
    std::vector<std::size_t> best(state.classes.size());
    std::vector<double> best_us;
    for (const SyntheticClass& each : state.classes) best_us.push_back(each.arms.front().taken.warm_us);
    for (int pass = 0; pass < 3; ++pass) {
        for (std::size_t number = 0; number < best.size(); ++number) {
            const double round_us = std::accumulate(best_us.begin(), best_us.end(), gaps_us);
            std::vector<double> took_us;
            for (const SyntheticArm& each : state.classes[number].arms)
                took_us.push_back(steady_us(each, round_us - best_us[number], *state.network));
            const auto least = std::ranges::min_element(took_us);
            best[number] = static_cast<std::size_t>(least - took_us.begin());
            best_us[number] = *least;
        }
    }
    return best;
}

double took_us(const Outcome& outcome, std::size_t from) {
    return std::accumulate(outcome.calls_us.begin() + static_cast<std::ptrdiff_t>(from), outcome.calls_us.end(), 0.0);
}

}  // namespace

Outcome run(const Program& program, Chooser& chooser) { return Run(program, chooser).whole(); }

Outcome run_natively(const Program& program) {
    const std::vector<std::size_t> first(program.states.front().classes.size());
    FixedChooser native(program, FixedChooser::Arms(program.states.size(), first));
    return run(program, native);
}

Outcome run_knowingly(const Program& program) {
    FixedChooser::Arms best;
    for (const SyntheticState& state : program.states) best.push_back(best_arms(state));
    FixedChooser known(program, std::move(best));
    return run(program, known);
}

std::optional<double> share_won(const Outcome& natively, const Outcome& chosen, const Outcome& known,
                                std::size_t from) {
    constexpr double least_share = 0.05;
    const double natively_us = took_us(natively, from), possible_us = natively_us - took_us(known, from);
    if (possible_us < least_share * natively_us) return std::nullopt;
    return (natively_us - took_us(chosen, from)) / possible_us;
}

}  // namespace mutirao::simulate
