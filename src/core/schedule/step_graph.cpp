// Every part of the graph takes time proportional to steps + dependencies + ranks: 10,000 ranks
// and a million messages are ordinary inputs.
#include "core/schedule/step_graph.h"

#include <array>

namespace mutirao {
namespace {

constexpr std::size_t kind_count = 4;

bool peer_exists(const Step& step, std::size_t rank_count) {
    return step.peer >= 0 && static_cast<std::size_t>(step.peer) < rank_count;
}

}  // namespace

StepGraph::StepGraph(const std::vector<Schedule>& schedules) {
    add_nodes(schedules);
    add_order(schedules.size());
    add_dependents(schedules);
    match(schedules.size());
}

void StepGraph::add_nodes(const std::vector<Schedule>& schedules) {
    std::size_t total = 0;
    first.reserve(schedules.size() + 1);
    for (const Schedule& schedule : schedules) {
        first.push_back(static_cast<StepIndex>(total));
        total += schedule.size();
    }
    first.push_back(static_cast<StepIndex>(total));

    nodes.reserve(total);
    for (std::size_t rank = 0; rank < schedules.size(); ++rank)
        for (const Step& step : schedules[rank].steps())
            nodes.push_back({&step, static_cast<std::int32_t>(rank), step.dependency_count});
}

void StepGraph::add_order(std::size_t rank_count) {
    // One row per kind, one entry per peer, the last for steps without one. What earlier ranks
    // left there lies below the rank's own first step, so nothing needs to be cleared.
    std::array<std::vector<StepIndex>, kind_count> latest;
    for (auto& row : latest) row.assign(rank_count + 1, no_step);
    for (StepIndex index = 0; index < nodes.size(); ++index) {
        const Step& step = *nodes[index].step;
        // Copies and reductions wait for what they depend on, and for each other only by that.
        if (!step.is_message()) continue;
        const std::size_t column =
            peer_exists(step, rank_count) ? static_cast<std::size_t>(step.peer) : rank_count;
        StepIndex& before = latest[static_cast<std::size_t>(step.kind)][column];
        const StepIndex own_first = first[static_cast<std::size_t>(nodes[index].rank)];
        if (before != no_step && before >= own_first) {
            nodes[before].next_in_order = index;
            ++nodes[index].waits;
        }
        before = index;
    }
}

void StepGraph::add_dependents(const std::vector<Schedule>& schedules) {
    const auto each = [&](auto&& visit) {
        for (StepIndex index = 0; index < nodes.size(); ++index) {
            const auto rank = static_cast<std::size_t>(nodes[index].rank);
            for (const StepId dependency : schedules[rank].dependencies(*nodes[index].step))
                visit(first[rank] + static_cast<StepIndex>(dependency), index);
        }
    };
    dependents_begin_.assign(nodes.size() + 1, 0);
    each([&](StepIndex before, StepIndex) { ++dependents_begin_[before + 1]; });
    for (std::size_t i = 0; i < nodes.size(); ++i) dependents_begin_[i + 1] += dependents_begin_[i];
    dependents_.resize(dependents_begin_.back());
    std::vector<StepIndex> next(dependents_begin_.begin(), dependents_begin_.end() - 1);
    each([&](StepIndex before, StepIndex after) { dependents_[next[before]++] = after; });
}

void StepGraph::match(std::size_t rank_count) {
    // Sends sorted by receiver; within a receiver they are by sender and step, since that is the
    // order in which they are put there.
    const auto is_matchable = [&](const Node& node, StepKind kind) {
        return node.step->kind == kind && peer_exists(*node.step, rank_count);
    };
    std::vector<StepIndex> begin(rank_count + 1, 0);
    for (const Node& node : nodes)
        if (is_matchable(node, StepKind::send))
            ++begin[static_cast<std::size_t>(node.step->peer) + 1];
    for (std::size_t rank = 0; rank < rank_count; ++rank) begin[rank + 1] += begin[rank];
    std::vector<StepIndex> sends(begin.back());
    std::vector<StepIndex> end(begin.begin(), begin.end() - 1);
    for (StepIndex index = 0; index < nodes.size(); ++index)
        if (is_matchable(nodes[index], StepKind::send))
            sends[end[static_cast<std::size_t>(nodes[index].step->peer)]++] = index;

    // next[a]: where in `sends` the next message from a to the receiver at hand stands. Entries
    // that an earlier receiver left lie before the receiver's own part.
    std::vector<StepIndex> next(rank_count, 0);
    for (std::size_t receiver = 0; receiver < rank_count; ++receiver) {
        for (StepIndex at = begin[receiver]; at < begin[receiver + 1]; ++at) {
            Node& node = nodes[sends[at]];
            const bool same = at > begin[receiver] && nodes[sends[at - 1]].rank == node.rank;
            node.channel = same ? nodes[sends[at - 1]].channel : at;
            if (!same) next[static_cast<std::size_t>(node.rank)] = at;
        }
        for (StepIndex index = first[receiver]; index < first[receiver + 1]; ++index) {
            if (!is_matchable(nodes[index], StepKind::receive)) continue;
            const auto sender = static_cast<std::size_t>(nodes[index].step->peer);
            StepIndex& at = next[sender];
            if (at < begin[receiver] || at >= begin[receiver + 1]) continue;
            if (nodes[sends[at]].rank != nodes[index].step->peer) continue;
            nodes[index].partner = sends[at];
            nodes[sends[at]].partner = index;
            ++at;
        }
    }
}

}  // namespace mutirao
