#include "core/selection/outlook.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <set>
#include <utility>

#include "core/algorithms/over_placement.h"
#include "core/selection/estimate.h"

namespace mutirao {
namespace {

/// On tuned TCP 98% of 327 predictions lay within 25% of what was measured (docs/results.md).
constexpr double usual_error = 0.25;
/// Where costs count that nobody has measured well enough.
constexpr double distrusted_error = 2;
/// Beside the MPI library's own and what runs now. Where predictions are distrusted the best is among more of them.
constexpr std::size_t most_arms = 3, most_arms_distrusted = 4;

/// Of an algorithm's parameters for both regimes, over idle connections: by more than a tie.
constexpr double far = 0.03;

/// Of what never ends: a day.
constexpr double endless_us = 86400e6;

std::shared_ptr<const RankNetwork> warmed(const RankNetwork& network) {
    Topology topology = network.topology();
    topology.network.transport.initial_window_bytes = Transport::unlimited;
    return std::make_shared<const RankNetwork>(std::move(topology), network.placement(), network.memory());
}

constexpr double round_trips_of_a_connection = 1.5;

/// By the MPI library's own calls, whose messages go straight: MPICH's alltoalls longer than ALLTOALL_SHORT_MSG_SIZE.
bool all_are_connected_by_native(const CallShape& shape) {
    constexpr std::size_t longest_of_few_peers_bytes = 256;
    return shape.collective == Collective::alltoall && shape.length_bytes > longest_of_few_peers_bytes;
}

/// By one rank, one after the other.
double connecting_us(const Arm& arm, const CallShape& shape, const RankNetwork& network) {
    const Transport& transport = network.between_hosts().transport;
    const bool has_schedule = arm.candidate.algorithm->has_schedule();
    if (!transport.connects_one_by_one() || !has_schedule || all_are_connected_by_native(shape)) return 0;
    const auto few = static_cast<std::size_t>(transport.most_connections());
    const Composer composer(arm.candidate, shape, network.placement(), arm.tree_or_null());
    double longest_us = 0;
    for (int rank = 0; rank < network.rank_count(); ++rank) {
        const Schedule schedule = composer.part_of(rank, shape);
        std::set<int> peers;
        for (const Step& step : schedule.steps()) {
            if (step.kind == StepKind::send) peers.insert(step.peer);
        }
        std::vector<double> round_trips_us;
        const int here = network.placement().host_of(rank);
        for (const int peer : peers)
            round_trips_us.push_back(2 * network.between_hosts().link(here, network.placement().host_of(peer)).latency_us);
        std::sort(round_trips_us.begin(), round_trips_us.end(), std::greater<>());
        double sum_us = 0;
        for (std::size_t i = few; i < round_trips_us.size(); ++i) sum_us += round_trips_us[i];
        longest_us = std::max(longest_us, round_trips_of_a_connection * sum_us);
    }
    return longest_us;
}

class Gathering {
  public:
    Gathering(const CallShape& shape, const Decision& cold, const Decision& warm, const RankNetwork& network,
              const RankNetwork& warm_network)
        : shape_(shape), cold_(cold), warm_(warm), network_(network), warm_network_(warm_network) {}

    void add(const Candidate& candidate) {
        if (candidate == cold_.chosen.candidate) return add(cold_.chosen);
        if (auto arm = arm_for(candidate, shape_, network_)) add(std::move(*arm));
    }
    /// Whatever it is like.
    void add(Arm arm) {
        const auto cold_us = time_us(arm, cold_, network_);
        const auto warm_us = time_us(arm, warm_, warm_network_);
        if (!cold_us || !warm_us || *cold_us <= 0 || *warm_us <= 0) return;
        const double first_us = connecting_us(arm, shape_, network_);
        arms_.push_back({.arm = std::move(arm), .cold_us = *cold_us, .warm_us = *warm_us, .connecting_us = first_us});
    }
    /// Also over links that carry nothing any more: what runs is to be compared with, however long it takes.
    void add_in_any_case(Arm arm) {
        const std::size_t before = arms_.size();
        add(arm);
        if (arms_.size() == before) arms_.push_back({.arm = std::move(arm), .cold_us = endless_us, .warm_us = endless_us});
    }
    /// Of an algorithm only the parameters that are best in both regimes: probes tell algorithms apart sooner than
    /// segments; and one of those that take exactly as long, which among few ranks exchange the same messages. What
    /// was given up as far too slow over idle connections may be the best over others.
    void add_best_of(const Algorithm* algorithm) {
        const Evaluated* best = nullptr;
        double least = 0;
        for (const Evaluated& each : cold_.considered) {
            const auto warm_us = warm_.predicted_us(each.candidate);
            if (each.candidate.algorithm != algorithm || !warm_us) continue;
            const double product = each.predicted_us * *warm_us;
            if (best != nullptr && product >= least) continue;
            best = &each;
            least = product;
        }
        const auto of_warm = std::ranges::find(warm_.considered, algorithm,
                                               [](const Evaluated& each) { return each.candidate.algorithm; });
        if (best == nullptr && of_warm != warm_.considered.end()) best = &*of_warm;
        if (best != nullptr) add_if_unlike(*best);
    }
    /// What prediction alone chooses over idle connections, where parameters for both regimes are far from it.
    void add_chosen() {
        const auto its_us = cold_.predicted_us(cold_.chosen.candidate);
        if (!its_us || !cold_.chosen.candidate.algorithm->has_schedule()) return;
        const auto is_near = [&](const Prospect& each) {
            return each.arm.candidate.algorithm == cold_.chosen.candidate.algorithm && each.cold_us * (1 - far) <= *its_us;
        };
        if (std::none_of(arms_.begin(), arms_.end(), is_near)) add(cold_.chosen);
    }
    std::size_t count() const { return arms_.size(); }
    std::vector<Prospect>& arms() { return arms_; }

  private:
    void add_if_unlike(const Evaluated& evaluated) {
        for (const Prospect& each : arms_) {
            const Algorithm* const other = each.arm.candidate.algorithm;
            if (other == evaluated.candidate.algorithm) return;
            const bool scheduled = other->has_schedule() && evaluated.candidate.algorithm->has_schedule();
            if (scheduled && each.cold_us == evaluated.predicted_us) return;
        }
        add(evaluated.candidate);
    }

    /// A tree that would not be made on this network is predicted as it is.
    std::optional<double> time_us(const Arm& arm, const Decision& decision, const RankNetwork& network) const {
        const bool as_decided = !arm.tree || decision.chosen == arm;
        const auto known = as_decided ? decision.predicted_us(arm.candidate) : std::nullopt;
        return known ? known : estimate(arm, shape_, network).time_us;
    }

    const CallShape& shape_;
    const Decision& cold_;
    const Decision& warm_;
    const RankNetwork& network_;
    const RankNetwork& warm_network_;
    std::vector<Prospect> arms_;
};

}  // namespace

Outlook outlook_for(const CallShape& call, const Decision& decision,
                    const std::shared_ptr<const RankNetwork>& network, const Settings& settings,
                    const std::optional<Arm>& present, const std::optional<Candidate>& preferred) {
    if (decision.considered.empty()) return {};
    const CallShape shape = known_to_all(call);
    const std::size_t window_bytes = network->between_hosts().transport.initial_window_bytes;
    const bool two_regimes = network->host_count() > 1 && window_bytes != Transport::unlimited &&
                             shape.length_bytes * static_cast<std::size_t>(network->rank_count()) > window_bytes;
    const auto warm_network = two_regimes ? warmed(*network) : network;
    const Decision warm = two_regimes ? decide(shape, warm_network, settings) : decision;

    const bool distrusted = !distrust(shape.collective, network->between_hosts()).empty();
    const std::size_t most = distrusted ? most_arms_distrusted : most_arms;
    Gathering gathering(shape, decision, warm, *network, *warm_network);
    gathering.add_in_any_case({native_candidate(shape.collective), std::nullopt});
    gathering.arms().front().slowest_ratio = slowest_native_ratio(shape, *network);
    for (std::size_t i = 0; i < std::max(decision.considered.size(), warm.considered.size()); ++i) {
        for (const Decision* const each : {&decision, &warm}) {
            const bool room = i < each->considered.size() && gathering.count() <= most;
            const Algorithm* const next = room ? each->considered[i].candidate.algorithm : nullptr;
            if (next != nullptr && next->has_schedule()) gathering.add_best_of(next);
        }
    }
    gathering.add_chosen();
    for (const Evaluated& each : decision.considered) {  // calls of the MPI library's own are few
        if (!each.candidate.algorithm->calls.empty()) gathering.add_best_of(each.candidate.algorithm);
    }
    const auto is_preferred = [&](const Prospect& each) { return each.arm.candidate == *preferred; };
    if (preferred && std::none_of(gathering.arms().begin(), gathering.arms().end(), is_preferred))
        gathering.add(*preferred);
    const auto is_present = [&](const Prospect& each) { return each.arm == *present; };
    if (present && std::none_of(gathering.arms().begin(), gathering.arms().end(), is_present))
        gathering.add_in_any_case(*present);
    return {std::move(gathering.arms()), distrusted ? distrusted_error : usual_error, decision.bound_us};
}

}  // namespace mutirao
