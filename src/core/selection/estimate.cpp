#include "core/selection/estimate.h"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include "core/algorithms/algorithm.h"
#include "core/algorithms/over_placement.h"
#include "core/schedule/predictor.h"
#include "core/text/invariant.h"

namespace mutirao {
namespace {

/// Enough of a pipeline to see at what pace it goes on, and what many ranks leave of that.
constexpr std::size_t sampled_segments = 16;
constexpr std::size_t least_sampled_segments = 4;

/// Ranks whose schedules say about how long all are.
constexpr int sampled_ranks = 8;

/// What native may be, of the rows that are for such a call. Open MPI, MPICH and Intel MPI all broadcast
/// short messages over a binomial tree in one piece, MPICH and Intel MPI host by host. For long messages
/// they split them in ways that differ by version and size: there it is a guess.
std::vector<Candidate> like_native(Collective collective) {
    std::vector<Candidate> result;
    for (const std::string_view name : row_of(collective).native_is_like) {
        const Algorithm* algorithm = find_algorithm(collective, name);
        if (!algorithm) broken_invariant("rows of what native is like", 0, 1);
        const Candidate candidate{algorithm, {}};
        if (result.empty() || result.back() != candidate) result.push_back(candidate);
    }
    return result;
}

/// A message is two steps; copies and reductions take as long to walk through.
std::size_t messages_of(const Schedule& schedule) { return schedule.steps().size() / 2; }

std::size_t longest_message_of(const std::vector<Schedule>& schedules) {
    std::size_t longest_bytes = 0;
    for (const Schedule& schedule : schedules) {
        for (const Step& step : schedule.steps()) {
            if (step.kind == StepKind::send) longest_bytes = std::max(longest_bytes, step.source.length_bytes);
        }
    }
    return longest_bytes;
}

/// No call ends before the last bytes that a rank sends to another have come, if connections were idle before.
double least_us(const Schedule& schedule, int rank, const RankNetwork& network) {
    std::map<int, std::size_t> bytes_to;
    for (const Step& step : schedule.steps()) {
        if (step.kind == StepKind::send) bytes_to[step.peer] += step.source.length_bytes;
    }
    const Network& hosts = network.between_hosts();
    const int here = network.placement().host_of(rank);
    double least_us = 0;
    for (const auto& [peer, bytes] : bytes_to) {
        const int there = network.placement().host_of(peer);
        if (there == here) continue;
        const double there_us = hosts.link(here, there).latency_us, back_us = hosts.link(there, here).latency_us;
        least_us = std::max(least_us, hosts.transport.held_back_us(bytes, there_us + back_us) + there_us);
    }
    return least_us;
}

/// The call with messages or blocks of another length, in the same proportions.
CallShape shortened(CallShape shape, std::size_t length_bytes) {
    const std::size_t whole_units = std::max<std::size_t>(shape.length_bytes / shape.unit_bytes, 1);
    const std::size_t units = length_bytes / shape.unit_bytes;
    if (length_bytes != shape.length_bytes) {
        for (std::size_t& each : shape.lengths)
            each = each / shape.unit_bytes * units / whole_units * shape.unit_bytes;
    }
    shape.length_bytes = length_bytes;
    return shape;
}

/// Predicts one candidate for messages of several lengths, over the tree that is right for one.
class Estimating {
  public:
    Estimating(std::optional<Arm> arm, const CallShape& shape, const RankNetwork& network,
               const Limits& limits)
        : shape_(shape), network_(network), limits_(limits), arm_(std::move(arm)) {}

    /// Nothing without a tree or beyond the limits.
    std::optional<Prediction> predicted(std::size_t length_bytes) {
        if (!arm_) return std::nullopt;
        const CallShape part = shortened(shape_, length_bytes);
        const auto schedules = composed(part);
        if (schedules.empty()) return std::nullopt;
        longest_bytes_ = std::max(longest_bytes_, longest_message_of(schedules));
        return predict(schedules, network_);
    }

    std::size_t messages() const { return messages_; }
    std::size_t longest_bytes() const { return longest_bytes_; }

  private:
    /// Of all ranks; none beyond the limits. A few that stand for the others come first: most that is beyond them ends
    /// there.
    std::vector<Schedule> composed(const CallShape& part) {
        const int ranks = network_.rank_count();
        const int stride = std::max(ranks / sampled_ranks, 1);
        const Composer composer(arm_->candidate, part, network_.placement(), arm_->tree_or_null());
        std::vector<Schedule> schedules(static_cast<std::size_t>(ranks));
        std::vector<std::size_t> sampled;
        std::size_t messages = 0;
        const auto compose = [&](int rank) {
            Schedule& schedule = schedules[static_cast<std::size_t>(rank)];
            schedule = composer.part_of(rank, part);
            messages += messages_of(schedule);
            return messages_of(schedule);
        };
        for (int rank = 0; rank < ranks; rank += stride) {
            sampled.push_back(compose(rank));
            if (least_us(schedules[static_cast<std::size_t>(rank)], rank, network_) > limits_.us) return {};
        }
        const auto median = sampled.begin() + static_cast<std::ptrdiff_t>(sampled.size() / 2);
        std::nth_element(sampled.begin(), median, sampled.end());
        if (*median > limits_.messages / static_cast<std::size_t>(ranks)) return {};
        for (int rank = 0; rank < ranks; ++rank) {
            if (rank % stride != 0) compose(rank);
            if (messages > limits_.messages) return {};
        }
        messages_ += messages;
        return schedules;
    }

    CallShape shape_;
    const RankNetwork& network_;
    Limits limits_;
    std::optional<Arm> arm_;
    std::size_t messages_ = 0, longest_bytes_ = 0;
};

std::optional<double> completion(const std::optional<Prediction>& prediction) {
    if (!prediction || prediction->stuck) return std::nullopt;
    return prediction->completion_us;
}

Estimate as_it_is(std::optional<Arm> arm, const CallShape& shape, const RankNetwork& network,
                  const Limits& limits) {
    Estimating trial(std::move(arm), shape, network, limits);
    const auto time_us = completion(trial.predicted(shape.length_bytes));
    return {time_us, trial.messages(), trial.longest_bytes()};
}

/// The fastest that native may be, however slow.
Estimate of_native(const CallShape& shape, const RankNetwork& network, const Limits& limits) {
    Topology topology = network.topology();
    topology.network.transport.detached_bytes = 0;  // only we detach
    const RankNetwork natives{std::move(topology), network.placement(), network.memory()};
    Estimate best;
    for (const Candidate& candidate : like_native(shape.collective)) {
        const Limits its_limits{.messages = limits.messages, .us = best.time_us.value_or(Limits{}.us)};
        const Estimate each = as_it_is(arm_for(candidate, shape, natives), shape, natives, its_limits);
        best.messages += each.messages;
        if (!each.time_us || (best.time_us && *best.time_us <= *each.time_us)) continue;
        best.time_us = each.time_us;
        best.longest_bytes = each.longest_bytes;
        best.like = candidate;
    }
    return best;
}

/// One of the calls that make up another, on all of its bytes.
CallShape part_of(const CallShape& whole, Collective part, int ranks) {
    const auto blocks_of = [&](Collective collective) {
        return row_of(collective).in_blocks == InBlocks::none ? std::size_t{1} : static_cast<std::size_t>(ranks);
    };
    const std::size_t units = whole.length_bytes * blocks_of(whole.collective) / whole.unit_bytes;
    CallShape shape = whole;
    shape.collective = part;
    shape.length_bytes = (units + blocks_of(part) - 1) / blocks_of(part) * whole.unit_bytes;
    return shape;
}

/// Each call after the one before.
Estimate of_native_calls(const std::vector<Collective>& calls, const CallShape& shape, const RankNetwork& network,
                         const Limits& limits) {
    Estimate all{.time_us = 0.0};
    for (const Collective call : calls) {
        const Estimate each = of_native(part_of(shape, call, network.rank_count()), network, limits);
        all.messages += each.messages;
        if (!each.time_us) return {std::nullopt, all.messages, 0};
        *all.time_us += *each.time_us;
    }
    return all;
}

/// In parts each rank looks at all blocks, and a prediction at all ranks.
constexpr std::size_t most_ranks_in_parts = 1024;

/// `arm`: of the candidate, if it has a schedule.
Estimate in_full(const Candidate& candidate, std::optional<Arm> arm, const CallShape& shape,
                 const RankNetwork& network, const Limits& limits) {
    const std::vector<Collective>& calls = candidate.algorithm->calls;
    if (!calls.empty()) return of_native_calls(calls, shape, network, limits);
    return candidate.native()
               ? of_native(shape, network, limits)
               : as_it_is(std::move(arm), shape, network, limits);
}

Estimate estimate_arm(const Candidate& candidate, std::optional<Arm> arm, const CallShape& shape,
                      const RankNetwork& network, const Limits& limits = {}) {
    const auto ranks = static_cast<std::size_t>(std::max(network.rank_count(), 1));
    if (!candidate.algorithm->spreads.empty() && ranks > most_ranks_in_parts) return {};
    // A ring gets into its pace once every rank's share has enough segments, each of which goes
    // round twice.
    const std::size_t shares = candidate.algorithm->segments_of_blocks ? ranks : 1;
    const std::size_t messages_per_segment = shares == 1 ? ranks : 2 * ranks * ranks;
    // Two predictions, the second of twice as many segments.
    const std::size_t segments = std::clamp(limits.messages / (3 * messages_per_segment),
                                            least_sampled_segments, sampled_segments);
    const std::size_t sample_bytes = shares * segments * candidate.parameters.segment_bytes;
    // Shares of packed trees go different ways, so that some say nothing of the others.
    const bool has_no_pace = is_packed(candidate.parameters.tree);
    if (sample_bytes == 0 || has_no_pace || shape.length_bytes <= 2 * sample_bytes) {
        return in_full(candidate, std::move(arm), shape, network, limits);
    }
    Estimating trial(arm, shape, network, limits);
    const auto early = trial.predicted(sample_bytes);
    const std::size_t early_messages = trial.messages();
    const auto late = trial.predicted(2 * sample_bytes);
    const bool in_pipeline = trial.messages() > 2 * early_messages;
    if (late && !in_pipeline) {  // what is not in segments has no pace
        return in_full(candidate, std::move(arm), shape, network, limits);
    }
    if (!early || !late || late->stuck) return {std::nullopt, trial.messages(), 0};
    const double samples_left =
        static_cast<double>(shape.length_bytes - 2 * sample_bytes) /
        static_cast<double>(sample_bytes);
    double completion_us = 0;
    for (std::size_t rank = 0; rank < late->rank_complete_us.size(); ++rank) {
        const double late_us = late->rank_complete_us[rank];
        const double pace_us = late_us - early->rank_complete_us[rank];
        completion_us = std::max(completion_us, late_us + samples_left * pace_us);
    }
    return {completion_us, trial.messages(), trial.longest_bytes()};
}

}  // namespace

std::optional<double> predict_candidate(const Candidate& candidate, const CallShape& shape,
                                        const RankNetwork& network) {
    return in_full(candidate, arm_for(candidate, shape, network), shape, network,
                   {.messages = std::numeric_limits<std::size_t>::max()}).time_us;
}

Estimate estimate(const Candidate& candidate, const CallShape& shape, const RankNetwork& network,
                  TreesOfCall& trees, const Limits& limits) {
    return estimate_arm(candidate, arm_for(candidate, shape, network.placement(), trees), shape, network, limits);
}

Estimate estimate(const Candidate& candidate, const CallShape& shape, const RankNetwork& network) {
    return estimate_arm(candidate, arm_for(candidate, shape, network), shape, network);
}

Estimate estimate(const Arm& arm, const CallShape& shape, const RankNetwork& network) {
    return estimate_arm(arm.candidate, arm, shape, network);
}

double slowest_native_ratio(const CallShape& shape, const RankNetwork& network) {
    const Algorithm* const slower = find_algorithm(shape.collective, row_of(shape.collective).native_may_be);
    if (slower == nullptr) return 1;
    const std::optional<double> usual_us = estimate(native_candidate(shape.collective), shape, network).time_us;
    if (!usual_us) return 1;
    const std::optional<double> slower_us = estimate(Candidate{slower, {}}, shape, network).time_us;
    return std::max(slower_us.value_or(0) / *usual_us, 1.0);
}

std::optional<double> predict_tree(const Tree& tree, const RankNetwork& hosts, std::size_t length_bytes) {
    const Algorithm* over_tree = find_algorithm(Collective::broadcast, "tree");
    if (!over_tree) broken_invariant("rows named tree in the catalogue", 0, 1);
    if (tree.size() != hosts.host_count()) broken_invariant("hosts of a tree", tree.size(), hosts.host_count());
    const Arm arm{{over_tree, {}}, tree};
    return estimate(arm, {.root = tree.root, .length_bytes = length_bytes}, hosts).time_us;
}

std::optional<Tree> fastest_tree(const RankNetwork& hosts, int root, std::size_t length_bytes) {
    std::optional<Tree> fastest;
    double fastest_us = std::numeric_limits<double>::infinity();
    for (const TreeKind kind : {TreeKind::shortest_path, TreeKind::greedy,
                                TreeKind::minimum_spanning, TreeKind::two_level}) {
        const auto tree = make_tree(hosts.topology(), kind, root, length_bytes);
        const auto time_us = tree ? predict_tree(*tree, hosts, length_bytes) : std::nullopt;
        if (!time_us || *time_us >= fastest_us) continue;
        fastest = tree;
        fastest_us = *time_us;
    }
    return fastest;
}

std::optional<Renewal> renew(const Tree& present, const RankNetwork& hosts, std::size_t length_bytes,
                             double tolerance_percent) {
    const auto best = fastest_tree(hosts, present.root, length_bytes);
    if (!best) return std::nullopt;
    const double best_us = *predict_tree(*best, hosts, length_bytes);
    const auto present_us = predict_tree(present, hosts, length_bytes);
    const bool kept = present_us && *present_us <= best_us * (1 + tolerance_percent / 100);
    return kept ? Renewal{present, true, *present_us, best_us} : Renewal{*best, false, best_us, best_us};
}

}  // namespace mutirao
