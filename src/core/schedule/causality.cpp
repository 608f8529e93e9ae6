#include "core/schedule/causality.h"

#include <algorithm>

namespace mutirao {
namespace {

class Causality {
  public:
    Causality(const std::vector<Schedule>& schedules, const StepGraph& graph)
        : schedules_(schedules), graph_(graph), ranks_(schedules.size()) {
        known_.assign(graph.node_count(), {});
    }

    /// The ranks whose beginning comes before the step's end. Recursion is as deep as the longest chain.
    const std::vector<bool>& before(StepIndex index) {
        std::vector<bool>& known = known_[index];
        if (!known.empty()) return known;
        const StepGraph::Node& node = graph_.nodes[index];
        std::vector<bool> found(ranks_, false);
        found[static_cast<std::size_t>(node.rank)] = true;
        const StepIndex first = graph_.first[static_cast<std::size_t>(node.rank)];
        for (const StepId id : schedules_[static_cast<std::size_t>(node.rank)].dependencies(*node.step))
            add(found, before(first + static_cast<StepIndex>(id)));
        if (node.step->kind == StepKind::receive) add(found, before(node.partner));
        return known_[index] = std::move(found);
    }

    std::optional<Unaware> first_unaware() {
        for (std::size_t rank = 0; rank < ranks_; ++rank) {
            std::vector<bool> found(ranks_, false);
            found[rank] = true;
            for (StepIndex step = graph_.first[rank]; step < graph_.first[rank + 1]; ++step)
                add(found, before(step));
            const auto missing = std::find(found.begin(), found.end(), false);
            if (missing != found.end())
                return Unaware{static_cast<int>(rank), static_cast<int>(missing - found.begin())};
        }
        return std::nullopt;
    }

  private:
    static void add(std::vector<bool>& into, const std::vector<bool>& more) {
        for (std::size_t rank = 0; rank < into.size(); ++rank)
            if (more[rank]) into[rank] = true;
    }

    const std::vector<Schedule>& schedules_;
    const StepGraph& graph_;
    std::size_t ranks_;
    std::vector<std::vector<bool>> known_;  ///< by step; empty: not asked yet
};

}  // namespace

std::optional<Unaware> first_unaware(const std::vector<Schedule>& schedules,
                                     const StepGraph& graph) {
    return Causality(schedules, graph).first_unaware();
}

}  // namespace mutirao
