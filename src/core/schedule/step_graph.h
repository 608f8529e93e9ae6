// All ranks' schedules as one graph in flat arrays: what must happen before a step starts, and
// which receive belongs to which send. The checker and the predictor both walk it, so both mean
// the same by started, complete and matched.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "core/schedule/schedule.h"

namespace mutirao {

/// Index of a step among the steps of all ranks, rank by rank.
using StepIndex = std::uint32_t;
inline constexpr StepIndex no_step = std::numeric_limits<StepIndex>::max();

struct StepGraph {
    struct Node {
        const Step* step = nullptr;
        std::int32_t rank = 0;
        /// Completions of dependencies, and the start of the step before it in order, that a step
        /// waits for.
        std::uint32_t waits = 0;
        /// The later step of the same kind with the same peer that may start once this has.
        StepIndex next_in_order = no_step;
        /// The receive of a send and the send of a receive; no_step if there is none.
        StepIndex partner = no_step;
        /// For sends: equal for all messages between the same two ranks, below node_count().
        StepIndex channel = no_step;
    };

    /// The schedules must outlive the graph.
    explicit StepGraph(const std::vector<Schedule>& schedules);

    std::size_t node_count() const { return nodes.size(); }
    /// Steps of the same rank that come after this one, once per dependency.
    std::span<const StepIndex> dependents(StepIndex index) const {
        const StepIndex begin = dependents_begin_[index];
        return std::span(dependents_).subspan(begin, dependents_begin_[index + 1] - begin);
    }

    std::vector<Node> nodes;
    std::vector<StepIndex> first;  ///< first[r]: rank r's step 0; one more at the end

  private:
    void add_nodes(const std::vector<Schedule>& schedules);
    void add_order(std::size_t rank_count);
    void add_dependents(const std::vector<Schedule>& schedules);
    void match(std::size_t rank_count);

    std::vector<StepIndex> dependents_;
    std::vector<StepIndex> dependents_begin_;
};

}  // namespace mutirao
