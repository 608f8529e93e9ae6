// From a candidate to the schedules of all hosts, and to the time that they take.
#include <algorithm>

#include "core/schedule/predictor.h"
#include "core/selection/estimate.h"
#include "core/selection/selection.h"
#include "core/text/invariant.h"

namespace mutirao {
namespace {

/// Enough of a pipeline to see at what pace it goes on.
constexpr std::size_t sampled_segments = 16;

/// Open MPI, MPICH and Intel MPI all broadcast short messages over a binomial tree in one piece,
/// so that is what native is timed as. For long ones they split the message in ways that differ
/// by version and size: there it is a guess, and most often too slow a one.
Candidate modelled(const Candidate& candidate) {
    if (!candidate.algorithm->native()) return candidate;
    const Algorithm* binomial = find_algorithm(Collective::broadcast, "binomial");
    if (!binomial) broken_invariant("rows named binomial in the catalogue", 0, 1);
    return {binomial, {}};
}

/// The tree of a candidate, where it takes one.
struct Shape {
    const Candidate& candidate;
    int size;
    int root;
    std::optional<Tree> tree;

    bool lacks_tree() const { return candidate.algorithm->needs_tree() && !tree; }

    Schedule schedule(int rank, std::size_t length_bytes) const {
        return candidate.algorithm->build({.rank = rank,
                                           .size = size,
                                           .root = root,
                                           .length_bytes = length_bytes,
                                           .parameters = candidate.parameters,
                                           .tree = tree ? &*tree : nullptr});
    }

    std::vector<Schedule> schedules(std::size_t length_bytes) const {
        std::vector<Schedule> result;
        result.reserve(static_cast<std::size_t>(size));
        for (int rank = 0; rank < size; ++rank) result.push_back(schedule(rank, length_bytes));
        return result;
    }
};

Shape shape_of(const Candidate& candidate, const Topology& topology, int root,
               std::size_t length_bytes) {
    Shape shape{candidate, topology.network.host_count(), root, std::nullopt};
    if (candidate.algorithm->needs_tree()) {
        shape.tree = make_tree(topology, candidate.parameters.tree, root, length_bytes);
    }
    return shape;
}

}  // namespace

std::optional<Tree> make_tree(const Topology& topology, TreeKind kind, int root,
                              std::size_t length_bytes) {
    if (!topology.complete()) return std::nullopt;
    const Network& network = topology.network;
    switch (kind) {
        case TreeKind::none:
            return std::nullopt;
        case TreeKind::minimum_spanning:
            return hang_from(topology.spanning_tree, root, network);
        case TreeKind::shortest_path:
            return shortest_path_tree(network, root, length_bytes);
        case TreeKind::greedy:
            return greedy_tree(network, root, length_bytes);
        case TreeKind::two_level:
            break;
    }
    if (static_cast<int>(topology.site_of.size()) != network.host_count()) return std::nullopt;
    return two_level_tree(topology.site_of, root);
}

std::optional<std::vector<Schedule>> build_all(const Candidate& candidate, const Topology& topology,
                                               int root, std::size_t length_bytes) {
    if (candidate.algorithm->native()) return std::nullopt;
    const Shape shape = shape_of(candidate, topology, root, length_bytes);
    if (shape.lacks_tree()) return std::nullopt;
    return shape.schedules(length_bytes);
}

std::optional<Schedule> build_one(const Decision& decided, int host_count, int root, int host,
                                  std::size_t length_bytes) {
    if (decided.chosen.algorithm->native()) return std::nullopt;
    return Shape{decided.chosen, host_count, root, decided.tree}.schedule(host, length_bytes);
}

std::optional<double> predict_broadcast(const Candidate& candidate, const Topology& topology,
                                        int root, std::size_t length_bytes) {
    const auto schedules = build_all(modelled(candidate), topology, root, length_bytes);
    if (!schedules) return std::nullopt;
    Network network = topology.network;
    if (candidate.algorithm->native()) network.transport.detached_bytes = 0;  // only we detach
    const Prediction prediction = predict(*schedules, network);
    if (prediction.stuck) return std::nullopt;
    return prediction.completion_us;
}

std::optional<double> estimate_broadcast(const Candidate& candidate, const Topology& topology,
                                         int root, std::size_t length_bytes) {
    const std::size_t segment_bytes = candidate.parameters.segment_bytes;
    const std::size_t sample_bytes = sampled_segments * segment_bytes;
    if (segment_bytes == 0 || length_bytes <= 2 * sample_bytes) {
        return predict_broadcast(candidate, topology, root, length_bytes);
    }
    const Shape shape = shape_of(candidate, topology, root, length_bytes);
    if (shape.lacks_tree()) return std::nullopt;
    const Prediction early = predict(shape.schedules(sample_bytes), topology.network);
    const Prediction late = predict(shape.schedules(2 * sample_bytes), topology.network);
    if (late.stuck) return std::nullopt;
    const double samples_left = static_cast<double>(length_bytes - 2 * sample_bytes) /
                                static_cast<double>(sample_bytes);
    double completion_us = 0;
    for (std::size_t host = 0; host < late.rank_complete_us.size(); ++host) {
        const double late_us = late.rank_complete_us[host];
        const double pace_us = late_us - early.rank_complete_us[host];
        completion_us = std::max(completion_us, late_us + samples_left * pace_us);
    }
    return completion_us;
}

}  // namespace mutirao
