#include "simulate/scenarios.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <numeric>
#include <utility>

#include "core/network/topology.h"
#include "core/network/tree.h"
#include "core/text/invariant.h"
#include "simulate/random.h"

namespace mutirao::simulate {
namespace {

constexpr double ms = 1000, s = 1e6;

const SyntheticState& state_in(const std::vector<SyntheticState>& states, std::uint64_t call) {
    const SyntheticState* newest = &states.front();
    for (const SyntheticState& each : states)
        if (each.since_call <= call) newest = &each;
    return *newest;
}

// A window halves with each time-out in which it lies idle, and each halving costs a round trip until there are about
// six fewer than at best; a call opens most of it again.
double cold_after(double cold_in_last_call, double idle_us, const RankNetwork& network) {
    constexpr double halvings = 6, least_timeout_us = 200 * ms, left_cold = 0.25;
    const double timeout_us = least_timeout_us + 2 * network.between_hosts().link(0, 1).latency_us;
    const double cooled = std::floor(std::max(idle_us, 0.0) / timeout_us) / halvings;
    return std::min(cold_in_last_call * left_cold + cooled, 1.0);
}

double time_us(const SyntheticArm::Regimes& regimes, double cold) {
    return regimes.warm_us + cold * (regimes.cold_us - regimes.warm_us);
}

std::size_t class_index(const SyntheticState& state, const CallShape& shape) {
    for (std::size_t i = 0; i < state.classes.size(); ++i)
        if (state.classes[i].shape == shape) return i;
    broken_invariant("a call of a class that the scenario lacks: bytes", static_cast<long long>(shape.length_bytes), 0);
}

std::size_t arm_index(const SyntheticClass& of, const Arm& arm) {
    for (std::size_t i = 0; i < of.arms.size(); ++i)
        if (of.arms[i].arm == arm) return i;
    broken_invariant("a call by an arm that the scenario lacks: arms", static_cast<long long>(of.arms.size()), 0);
}

}  // namespace

// --- what calls take ---------------------------------------------------------------------------------

SyntheticTruth::SyntheticTruth(std::shared_ptr<const std::vector<SyntheticState>> states, double noise,
                               std::uint64_t seed)
    : states_(std::move(states)), noise_(noise), seed_(seed) {
    for (const SyntheticClass& each : states_->front().classes) connections_.emplace_back(each.arms.size());
}

double SyntheticTruth::call_us(const Call& call, const Arm& arm, double begin_us) {
    const SyntheticState& state = state_in(*states_, call.number);
    const std::size_t number = class_index(state, call.shape);
    const SyntheticClass& of = state.classes[number];
    const std::size_t which = arm_index(of, arm);
    Connection& connection = connections_[number][which];
    const double cold =
        connection.used ? cold_after(connection.cold, begin_us - connection.last_us, *state.network) : 1;
    const double took_us =
        time_us(of.arms[which].taken, cold) * std::exp(noise_ * normal_of(seed_, Purpose::noise, call.number, 0));
    connection = {true, cold, begin_us + took_us};
    return took_us;
}

// From a root the others hear one after another, and it goes on at once; to a root they send and go on before it
// has all; else all wait for all.
std::vector<double> SyntheticTruth::operator()(const Call& call, const Arm& arm, const std::vector<double>& begin_us) {
    constexpr double of_root = 0.1;
    const double last_us = *std::max_element(begin_us.begin(), begin_us.end());
    if (!row_of(call.shape.collective).rooted)
        return std::vector<double>(begin_us.size(), last_us + call_us(call, arm, last_us));
    const auto root = static_cast<std::size_t>(call.shape.root);
    const bool to_root = row_of(call.shape.collective).reduces;
    const double from_us = to_root ? last_us : begin_us[root];
    const double took_us = call_us(call, arm, from_us);
    std::vector<double> done_us;
    for (std::size_t rank = 0; rank < begin_us.size(); ++rank) {
        const double share = static_cast<double>(rank + 1) / static_cast<double>(begin_us.size());
        if (rank == root)
            done_us.push_back(from_us + took_us * (to_root ? 1 : of_root));
        else if (to_root)
            done_us.push_back(begin_us[rank] + took_us * share);
        else
            done_us.push_back(std::max(begin_us[rank], from_us + took_us * share));
    }
    return done_us;
}

// --- scenarios ---------------------------------------------------------------------------------------

namespace {

class Draw : public Random {
  public:
    using Random::Random;

    double between(double low, double high) { return low + (high - low) * unit(); }
    /// As likely to be of one order of magnitude as of another.
    double magnitude(double low, double high) { return low * std::pow(high / low, unit()); }
    bool chance(double share) { return unit() < share; }
    double normal() {
        double sum = 0;
        for (int i = 0; i < 12; ++i) sum += unit();
        return sum - 6;
    }
};

std::shared_ptr<const RankNetwork> uniform_network(int ranks, double latency_us) {
    Topology topology;
    topology.network = Network(ranks);
    for (int a = 0; a < ranks; ++a)
        for (int b = 0; b < a; ++b) topology.network.set_both(a, b, {.latency_us = latency_us});
    topology.spanning_tree = minimum_spanning_tree(topology.network);
    topology.site_of.assign(static_cast<std::size_t>(ranks), 0);
    return std::make_shared<const RankNetwork>(one_rank_per_host(std::move(topology)));
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

SyntheticArm::Regimes times(double factor, SyntheticArm::Regimes of) {
    return {of.cold_us * factor, of.warm_us * factor};
}

SyntheticClass draw_class(Draw& draw, double call_us) {
    constexpr double slowest_us = 5 * s;
    SyntheticClass drawn{draw_shape(draw), {}};
    const double usual_error = draw.between(0.05, 0.4), miss_of_all = draw.magnitude(0.4, 2.5);
    for (const Candidate& candidate : draw_candidates(draw, drawn.shape.collective)) {
        const double ratio = candidate.native() ? 1 : draw.magnitude(0.25, 4);
        const double warm_us = std::min(call_us * ratio, slowest_us);
        const SyntheticArm::Regimes taken{std::min(warm_us * draw.magnitude(1, 4), slowest_us), warm_us};
        // Now and then a prediction is no more than a guess.
        const double error = draw.chance(0.1) ? draw.magnitude(0.1, 10) : std::exp(usual_error * draw.normal());
        drawn.arms.push_back({{candidate, std::nullopt}, times(miss_of_all * error, taken), taken});
    }
    return drawn;
}

void sort_by_prediction(SyntheticClass& of) {
    std::stable_sort(of.arms.begin() + 1, of.arms.end(), [](const SyntheticArm& a, const SyntheticArm& b) {
        return a.predicted.cold_us < b.predicted.cold_us;
    });
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
    SyntheticState other = changed(draw, first);
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

const SyntheticClass& ProgramScenario::foreseen(const CallShape& shape, const RankNetwork& network) const {
    for (const SyntheticState& state : *states)
        if (state.network.get() == &network) return state.classes[class_index(state, shape)];
    broken_invariant("a network that the scenario lacks: states", static_cast<long long>(states->size()), 0);
}

ProgramScenario scenario_of(std::uint64_t seed) {
    constexpr double shortest_us = 1, longest_us = 5 * s, longest_gap_us = 10 * s;
    constexpr double least_run_us = 20 * s, least_rounds = 300, most_calls = 3000;
    Draw draw(seed);
    ProgramScenario made;
    made.seed = seed;
    made.change = static_cast<Change>(draw.below(4));
    made.noise = draw.chance(0.25) ? 0 : draw.between(0, 0.2);
    Program& program = made.program;
    program.ranks = 2 + static_cast<int>(draw.below(15));
    program.lateness = draw.chance(0.5) ? 0 : draw.between(0, 0.5);
    program.skew = draw.chance(0.5) ? 0 : draw.between(0, 0.3);
    const std::size_t class_count = 1 + draw.below(5);
    SyntheticState first;
    double round_us = 0;
    while (first.classes.size() < class_count) {
        SyntheticClass next = draw_class(draw, draw.magnitude(shortest_us, longest_us));
        const bool there = std::any_of(first.classes.begin(), first.classes.end(), [&](const SyntheticClass& each) {
            return class_of(each.shape) == class_of(next.shape);
        });
        if (there) continue;
        sort_by_prediction(next);
        const double gap_us = draw.chance(0.3) ? 0 : draw.magnitude(1, longest_gap_us);
        program.steps.push_back({gap_us, next.shape});
        round_us += gap_us + next.arms.front().taken.warm_us;
        first.classes.push_back(std::move(next));
    }
    // Short calls are made more often, so that something may happen meanwhile.
    const double most_rounds = most_calls / static_cast<double>(class_count);
    program.rounds = static_cast<int>(std::clamp(least_run_us / round_us, least_rounds, most_rounds));
    const double run_us = round_us * program.rounds;
    const double calls = static_cast<double>(class_count) * program.rounds;
    first.network = uniform_network(program.ranks, draw.between(0.1, 0.5) * shortest_call_us(first));
    made.states = std::make_shared<const std::vector<SyntheticState>>(draw_states(draw, made.change, first, calls));
    for (const SyntheticState& state : *made.states) {
        // Agents need some time to be there, and then to see a change.
        const double delay_us = state.since_call == 0 ? draw.between(0.2, 4) * s : draw.between(0.3, 3) * s;
        program.news.push_back(
            {std::min(delay_us, draw.between(0.01, 0.2) * run_us), state.network, state.since_call});
    }
    return made;
}

std::string ProgramScenario::text() const {
    constexpr const char* changes[] = {"nothing changes", "one change", "a change and back", "flaps"};
    char line[160];
    std::snprintf(line, sizeof line, "seed %llu: %d ranks, %zu classes, noise %.2f, lateness %.2f, skew %.2f, %s",
                  static_cast<unsigned long long>(seed), program.ranks, program.steps.size(), noise,
                  program.lateness, program.skew, changes[static_cast<int>(change)]);
    std::string text = line;
    for (std::size_t i = 0; i < program.steps.size(); ++i) {
        const SyntheticArm& native = states->front().classes[i].arms.front();
        std::snprintf(line, sizeof line, "; %s of %zu B every %.3g ms, natively %.3g to %.3g ms",
                      std::string(to_string(program.steps[i].shape.collective)).c_str(),
                      program.steps[i].shape.length_bytes, program.steps[i].compute_us / ms,
                      native.taken.warm_us / ms, native.taken.cold_us / ms);
        text += line;
    }
    return text;
}

// --- judging -----------------------------------------------------------------------------------------

namespace {

/// Runs each class by the arm that is named for it in each state.
class FixedChooser : public Chooser {
  public:
    using Arms = std::vector<std::vector<std::size_t>>;  ///< by state and class

    FixedChooser(const ProgramScenario& scenario, Arms arms) : scenario_(scenario), arms_(std::move(arms)) {}

    Arm enter(int, const Call& call, double) override {
        const auto& states = *scenario_.states;
        const auto state = static_cast<std::size_t>(&state_in(states, call.number) - states.data());
        const std::size_t number = class_index(states[state], call.shape);
        return states[state].classes[number].arms[arms_[state][number]].arm;
    }

  private:
    const ProgramScenario& scenario_;
    Arms arms_;
};

Outcome run_with(const ProgramScenario& scenario, Chooser& chooser) {
    return run(scenario.program, scenario.truth(), chooser, scenario.seed);
}

/// Where the arm lies idle so long between any two calls.
double steady_us(const SyntheticArm& arm, double idle_us, const RankNetwork& network) {
    double cold = 1;
    for (int call = 0; call < 8; ++call) cold = cold_after(cold, idle_us, network);
    return time_us(arm.taken, cold);
}

/// How cold connections are depends on what the other classes are run by.
std::vector<std::size_t> best_arms(const ProgramScenario& scenario, const SyntheticState& state) {
    const double gaps_us = std::accumulate(scenario.program.steps.begin(), scenario.program.steps.end(), 0.0,
                                           [](double sum, const auto& step) { return sum + step.compute_us; });
    std::vector<std::size_t> best(state.classes.size());
    std::vector<double> best_us;
    for (const SyntheticClass& each : state.classes) best_us.push_back(each.arms.front().taken.warm_us);
    for (int pass = 0; pass < 3; ++pass) {
        for (std::size_t number = 0; number < best.size(); ++number) {
            const double round_us = std::accumulate(best_us.begin(), best_us.end(), gaps_us);
            std::vector<double> took_us;
            for (const SyntheticArm& each : state.classes[number].arms)
                took_us.push_back(steady_us(each, round_us - best_us[number], *state.network));
            const auto least = std::min_element(took_us.begin(), took_us.end());
            best[number] = static_cast<std::size_t>(least - took_us.begin());
            best_us[number] = *least;
        }
    }
    return best;
}

FixedChooser::Arms best_arms(const ProgramScenario& scenario) {
    FixedChooser::Arms best;
    for (const SyntheticState& state : *scenario.states) best.push_back(best_arms(scenario, state));
    return best;
}

}  // namespace

std::optional<double> Judgement::share_won(std::size_t from) const {
    constexpr double least_share = 0.05;
    const double natively_us = natively.took_us(from), possible_us = natively_us - known.took_us(from);
    if (possible_us < least_share * natively_us) return std::nullopt;
    return (natively_us - chosen.took_us(from)) / possible_us;
}

Judgement judge(const ProgramScenario& scenario, Chooser& chooser) {
    NativeChooser native;
    FixedChooser known(scenario, best_arms(scenario));
    return {run_with(scenario, native), run_with(scenario, chooser), run_with(scenario, known)};
}

}  // namespace mutirao::simulate
