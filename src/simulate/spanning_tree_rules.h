// What must hold whenever hosts build a spanning tree with ghs.h, whatever the order of events;
// Kruskal's algorithm says which tree it must be.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/spanning_tree/ghs.h"
#include "simulate/channels.h"
#include "simulate/graphs.h"

namespace mutirao::simulate {

using GhsWorld = Channels<ghs::Node>;

GhsWorld ghs_world(const Graph& graph);

class SpanningTreeRules {
  public:
    /// What is added up along an execution. The counts by link notice a superfluous message that
    /// leaves the tree right: rejecting a link takes two messages (test and reject, or two tests
    /// that cross) or none, so over a link outside the tree tests + rejects - accepts must end at
    /// no more than two. With up to six hosts each link has a slot of its own.
    enum Count { messages, finishes, rejections };
    static constexpr std::size_t slots = 16;
    using Counts = std::array<std::int32_t, rejections + slots>;

    explicit SpanningTreeRules(const Graph& graph);

    Counts count(int from, const ghs::Outgoing& outgoing) const;
    std::string objection(const GhsWorld& world, const GhsWorld::Choice& choice) const;
    std::string objection_at_rest(const GhsWorld& world) const;

    /// Of the counts' greatest values over one or more executions.
    std::string objection(const Counts& worst) const;

    /// 2E + 5N log2 N, by component and in all; finish messages (ours) are not among them.
    double most_messages() const { return facts_->most_messages; }

  private:
    struct Facts {
        std::vector<std::vector<int>> branches;  ///< by host
        std::vector<std::vector<int>> others;    ///< neighbours across links outside the tree
        std::vector<std::vector<int>> components;
        int finishes = 0;  ///< each host learns the end once; both core hosts know it themselves
        std::array<std::int32_t, slots> most_rejections{};  ///< by slot
        double most_messages = 0;
    };

    bool in_tree(int from, int to) const;
    std::string knowledge_objection(const GhsWorld& world, int host) const;
    std::string host_objection(const ghs::Node& node, int host, int component_size) const;

    std::shared_ptr<const Facts> facts_;
};

}  // namespace mutirao::simulate
