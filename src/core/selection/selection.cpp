#include "core/selection/selection.h"

#include <algorithm>
#include <cstdio>

#include "core/schedule/predictor.h"
#include "core/selection/candidates.h"
#include "core/text/invariant.h"

namespace mutirao {
namespace {

/// Native wins unless another is predicted to be faster by more than this: a prediction is not
/// better than that, and what the MPI library does itself never surprises anyone.
constexpr double tie_ratio = 1.02;

/// Bounds what a decision costs. The first pass times every shape with few segments; only the best
/// shapes are then timed with other segment sizes. Bounds are in hosts x segments, which is what a
/// prediction's cost grows with.
constexpr std::size_t first_pass_host_segments = 400;
constexpr std::size_t refined_host_segments = 12'500;
constexpr std::size_t refined_shapes = 2;

std::size_t most_segments(std::size_t host_segments, const Topology& topology) {
    const auto hosts = static_cast<std::size_t>(topology.network.host_count());
    return std::clamp<std::size_t>(host_segments / hosts, 4, most_segments_of_a_candidate);
}

/// Open MPI, MPICH and Intel MPI all broadcast short messages over a binomial tree in one piece,
/// so that is what native is timed as. For long ones they split the message in ways that differ
/// by version and size: there it is a guess, and most often too slow a one.
Candidate model_of_native() {
    const Algorithm* binomial = find_algorithm(Collective::broadcast, "binomial");
    if (!binomial) broken_invariant("rows named binomial in the catalogue", 0, 1);
    return {binomial, {}};
}

Candidate native_candidate() { return {find_algorithm(Collective::broadcast, "native"), {}}; }

std::string milliseconds(double us) {
    char text[40];
    std::snprintf(text, sizeof text, "%.3f ms", us / 1000);
    return text;
}

/// Predictions of one message on one topology, kept in the order in which they were asked for.
class Contest {
  public:
    Contest(const Topology& topology, int root, std::size_t length_bytes)
        : topology_(topology), root_(root), length_bytes_(length_bytes) {}

    /// All shapes, each in the coarsest pieces that make it a pipeline.
    void first_pass() {
        const std::size_t most = most_segments(first_pass_host_segments, topology_);
        for (Candidate candidate : broadcast_shapes()) {
            candidate.parameters.segment_bytes =
                segment_choices(*candidate.algorithm, length_bytes_, most).back();
            enter(candidate);
        }
    }

    /// The other segment sizes for the best shapes, finer and finer while that helps.
    void refine() {
        const std::vector<Evaluated> best = fastest_first();
        std::size_t refined = 0;
        for (const Evaluated& shape : best) {
            if (refined == refined_shapes) break;
            if (!shape.candidate.algorithm->segmented) continue;
            ++refined;
            refine(shape);
        }
    }

    std::vector<Evaluated> fastest_first() const {
        std::vector<Evaluated> result = entered_;
        std::stable_sort(result.begin(), result.end(), [](const Evaluated& a, const Evaluated& b) {
            return a.predicted_us < b.predicted_us;
        });
        return result;
    }

  private:
    std::optional<double> enter(const Candidate& candidate) {
        const auto time_us = predict_broadcast(candidate, topology_, root_, length_bytes_);
        if (time_us) entered_.push_back({candidate, *time_us});
        return time_us;
    }

    void refine(const Evaluated& shape) {
        const std::size_t first_bytes = shape.candidate.parameters.segment_bytes;
        double last_us = shape.predicted_us;
        for (std::size_t segment_bytes :
             segment_choices(*shape.candidate.algorithm, length_bytes_,
                             most_segments(refined_host_segments, topology_))) {
            if (segment_bytes == first_bytes) continue;
            Candidate candidate = shape.candidate;
            candidate.parameters.segment_bytes = segment_bytes;
            const bool finer = segment_bytes != 0 && segment_bytes < first_bytes;
            const auto time_us = enter(candidate);
            if (!finer) continue;
            if (!time_us || *time_us >= last_us) break;
            last_us = *time_us;
        }
    }

    const Topology& topology_;
    int root_;
    std::size_t length_bytes_;
    std::vector<Evaluated> entered_;
};

Decision forced(const Candidate& candidate, const Topology& topology, int root,
                std::size_t length_bytes) {
    const std::string name(candidate.algorithm->name);
    if (candidate.algorithm->needs_tree() &&
        !make_tree(topology, candidate.parameters.tree, root, length_bytes)) {
        return {native_candidate(), name + " has no tree: the hosts have no spanning tree", {}};
    }
    return {candidate, "asked for by the setting broadcast", {}};
}

Decision fastest(std::vector<Evaluated> considered) {
    const Candidate native = native_candidate();
    if (considered.empty()) return {native, "no candidate reaches every host", {}};
    const Evaluated best = considered.front();
    const auto native_row =
        std::find_if(considered.begin(), considered.end(), [](const Evaluated& evaluated) {
            return evaluated.candidate.algorithm->native();
        });
    const bool native_ends = native_row != considered.end();
    const std::string native_time =
        native_ends ? milliseconds(native_row->predicted_us) : "without end";
    if (native_ends && native_row->predicted_us <= best.predicted_us * tie_ratio) {
        return {native,
                "predicted " + native_time + ", and no other is clearly faster (" +
                    to_string(best.candidate) + " " + milliseconds(best.predicted_us) + ")",
                std::move(considered)};
    }
    return {best.candidate,
            "predicted " + milliseconds(best.predicted_us) + ", native " + native_time,
            std::move(considered)};
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
    const Algorithm& algorithm = *candidate.algorithm;
    if (algorithm.native()) return std::nullopt;
    std::optional<Tree> tree;
    if (algorithm.needs_tree()) {
        tree = make_tree(topology, candidate.parameters.tree, root, length_bytes);
        if (!tree) return std::nullopt;
    }
    const int size = topology.network.host_count();
    std::vector<Schedule> result;
    result.reserve(static_cast<std::size_t>(size));
    for (int rank = 0; rank < size; ++rank) {
        result.push_back(algorithm.build({.rank = rank,
                                          .size = size,
                                          .root = root,
                                          .length_bytes = length_bytes,
                                          .parameters = candidate.parameters,
                                          .tree = tree ? &*tree : nullptr}));
    }
    return result;
}

std::optional<double> predict_broadcast(const Candidate& candidate, const Topology& topology,
                                        int root, std::size_t length_bytes) {
    const bool native = candidate.algorithm->native();
    const auto schedules =
        build_all(native ? model_of_native() : candidate, topology, root, length_bytes);
    if (!schedules) return std::nullopt;
    const Prediction prediction = predict(*schedules, topology.network);
    if (prediction.stuck) return std::nullopt;
    return prediction.completion_us;
}

Decision decide_broadcast(const Topology& topology, const Settings& settings, int root,
                          std::size_t length_bytes) {
    const int hosts = topology.network.host_count();
    if (root < 0 || root >= std::max(hosts, 1)) broken_invariant("root among hosts", root, hosts);
    if (settings.broadcast) return forced(*settings.broadcast, topology, root, length_bytes);
    if (hosts <= 1) return {native_candidate(), "one host", {}};
    if (!topology.complete()) return {native_candidate(), "the hosts have no spanning tree", {}};
    Contest contest(topology, root, length_bytes);
    contest.first_pass();
    contest.refine();
    return fastest(contest.fastest_first());
}

}  // namespace mutirao
