#include "core/selection/estimate.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "core/schedule/predictor.h"
#include "core/text/invariant.h"

namespace mutirao {
namespace {

/// Enough of a pipeline to see at what pace it goes on, and what many ranks leave of that.
constexpr std::size_t sampled_segments = 16;
constexpr std::size_t least_sampled_segments = 4;

/// Open MPI, MPICH and Intel MPI all broadcast short messages over a binomial tree in one piece,
/// MPICH and Intel MPI host by host, so that is what native is timed as. For long ones they split
/// the message in ways that differ by version and size: there it is a guess, and most often too
/// slow a one.
Candidate modelled(const Candidate& candidate) {
    if (!candidate.native()) return candidate;
    const Algorithm* binomial = find_algorithm(candidate.algorithm->collective, "binomial");
    if (!binomial) broken_invariant("rows named binomial in the catalogue", 0, 1);
    return {binomial, {}};
}

std::size_t sends(const Schedule& schedule) {
    return static_cast<std::size_t>(
        std::count_if(schedule.steps().begin(), schedule.steps().end(),
                      [](const Step& step) { return step.kind == StepKind::send; }));
}

/// Predicts one candidate for messages of several lengths, over the tree that is right for one.
class Trial {
  public:
    Trial(const Candidate& candidate, const CallShape& shape, const RankNetwork& network,
          std::size_t most_messages)
        : shape_(shape),
          network_(network),
          most_messages_(most_messages),
          ruling_(ruling_for(modelled(candidate), shape, network.topology(),
                             network.placement())) {}

    /// Nothing without a tree or beyond the limit.
    std::optional<Prediction> predicted(std::size_t length_bytes) {
        if (!ruling_) return std::nullopt;
        CallShape part = shape_;
        part.length_bytes = length_bytes;
        std::vector<Schedule> schedules;
        schedules.reserve(static_cast<std::size_t>(network_.rank_count()));
        std::size_t messages = 0;
        for (int rank = 0; rank < network_.rank_count(); ++rank) {
            schedules.push_back(*build_schedule(*ruling_, part, network_.placement(), rank));
            messages += sends(schedules.back());
            if (messages > most_messages_) return std::nullopt;
        }
        messages_ += messages;
        return predict(schedules, network_);
    }

    std::size_t messages() const { return messages_; }

  private:
    CallShape shape_;
    const RankNetwork& network_;
    std::size_t most_messages_;
    std::optional<Ruling> ruling_;
    std::size_t messages_ = 0;
};

std::optional<double> completion(const std::optional<Prediction>& prediction) {
    if (!prediction || prediction->stuck) return std::nullopt;
    return prediction->completion_us;
}

Estimate in_full(const Candidate& candidate, const CallShape& shape, const RankNetwork& network,
                 std::size_t most_messages) {
    RankNetwork natives;
    if (candidate.native()) {
        Topology topology = network.topology();
        topology.network.transport.detached_bytes = 0;  // only we detach
        natives = {std::move(topology), network.placement(), network.memory()};
    }
    Trial trial(candidate, shape, candidate.native() ? natives : network, most_messages);
    const auto time_us = completion(trial.predicted(shape.length_bytes));
    return {time_us, trial.messages()};
}

}  // namespace

std::optional<double> predict_candidate(const Candidate& candidate, const CallShape& shape,
                                        const RankNetwork& network) {
    return in_full(candidate, shape, network, std::numeric_limits<std::size_t>::max()).time_us;
}

Estimate estimate(const Candidate& candidate, const CallShape& shape, const RankNetwork& network) {
    const auto ranks = static_cast<std::size_t>(std::max(network.rank_count(), 1));
    // Two predictions, the second of twice as many segments.
    const std::size_t segments = std::clamp(most_messages_predicted / (3 * ranks),
                                            least_sampled_segments, sampled_segments);
    const std::size_t sample_bytes = segments * candidate.parameters.segment_bytes;
    if (sample_bytes == 0 || shape.length_bytes <= 2 * sample_bytes) {
        return in_full(candidate, shape, network, most_messages_predicted);
    }
    Trial trial(candidate, shape, network, most_messages_predicted);
    const auto early = trial.predicted(sample_bytes);
    const auto late = trial.predicted(2 * sample_bytes);
    if (!early || !late || late->stuck) return {std::nullopt, trial.messages()};
    const double samples_left =
        static_cast<double>(shape.length_bytes - 2 * sample_bytes) /
        static_cast<double>(sample_bytes);
    double completion_us = 0;
    for (std::size_t rank = 0; rank < late->rank_complete_us.size(); ++rank) {
        const double late_us = late->rank_complete_us[rank];
        const double pace_us = late_us - early->rank_complete_us[rank];
        completion_us = std::max(completion_us, late_us + samples_left * pace_us);
    }
    return {completion_us, trial.messages()};
}

}  // namespace mutirao
