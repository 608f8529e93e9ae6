#include "core/selection/selection.h"

#include <algorithm>
#include <cstdio>

#include "core/selection/candidates.h"
#include "core/selection/estimate.h"
#include "core/selection/renewal.h"
#include "core/text/invariant.h"

namespace mutirao {
namespace {

/// Native wins unless another is predicted to be faster by more than this: a prediction is not
/// better than that, and what the MPI library does itself never surprises anyone.
constexpr double tie_ratio = 1.02;

/// A decision first times every shape with one segment size, then the best ones with all sizes.
constexpr std::size_t refined_shapes = 3;

/// A pipeline shows what it is worth from about so many segments.
constexpr std::size_t least_segments_of_a_pipeline = 8;

Candidate native_candidate() { return {find_algorithm(Collective::broadcast, "native"), {}}; }

std::string milliseconds(double us) {
    char text[40];
    std::snprintf(text, sizeof text, "%.3f ms", us / 1000);
    return text;
}

/// What the first pass tries: in one piece, and as a pipeline of the coarsest segments that go
/// without asking the receiver first.
std::vector<std::size_t> first_choices(const Algorithm& algorithm, std::size_t length_bytes,
                                       std::size_t eager_limit_bytes) {
    const std::vector<std::size_t> all = segment_choices(algorithm, length_bytes);
    const auto pipeline = std::find_if(all.begin() + 1, all.end(), [&](std::size_t size) {
        return size <= eager_limit_bytes && size * least_segments_of_a_pipeline <= length_bytes;
    });
    std::vector<std::size_t> result = {all.front()};
    if (all.size() > 1) result.push_back(pipeline == all.end() ? all.back() : *pipeline);
    return result;
}

/// Estimates for one message on one topology, kept in the order in which they were asked for.
class Contest {
  public:
    Contest(const Topology& topology, int root, std::size_t length_bytes)
        : topology_(topology), root_(root), length_bytes_(length_bytes) {}

    void first_pass() {
        for (const Candidate& shape : broadcast_shapes()) {
            enter(shape, first_choices(*shape.algorithm, length_bytes_,
                                       topology_.network.transport.eager_limit_bytes));
        }
    }

    /// Every segment size for the best shapes.
    void refine() {
        std::vector<Candidate> best;
        for (const Evaluated& each : fastest_first()) {
            Candidate shape = each.candidate;
            shape.parameters.segment_bytes = 0;
            if (!shape.algorithm->segmented) continue;
            if (std::find(best.begin(), best.end(), shape) == best.end()) best.push_back(shape);
            if (best.size() == refined_shapes) break;
        }
        for (const Candidate& shape : best) {
            enter(shape, segment_choices(*shape.algorithm, length_bytes_));
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
    void enter(Candidate candidate, const std::vector<std::size_t>& segments_bytes) {
        for (const std::size_t segment_bytes : segments_bytes) {
            candidate.parameters.segment_bytes = segment_bytes;
            if (entered(candidate)) continue;
            const auto time_us = estimate_broadcast(candidate, topology_, root_, length_bytes_);
            if (time_us) entered_.push_back({candidate, *time_us});
        }
    }

    bool entered(const Candidate& candidate) const {
        return std::any_of(entered_.begin(), entered_.end(), [&](const Evaluated& each) {
            return each.candidate == candidate;
        });
    }

    const Topology& topology_;
    int root_;
    std::size_t length_bytes_;
    std::vector<Evaluated> entered_;
};

Decision forced(const Candidate& candidate, const Topology& topology, int root,
                std::size_t length_bytes) {
    const std::string name(candidate.algorithm->name);
    Decision decision{candidate, "asked for by the setting broadcast", {}, {}};
    decision.tree = make_tree(topology, candidate.parameters.tree, root, length_bytes);
    if (candidate.algorithm->needs_tree() && !decision.tree) {
        return {native_candidate(), name + " has no tree: the hosts have no spanning tree", {}, {}};
    }
    return decision;
}

bool goes_over_a_tree_in_one_piece(const Decision& decision) {
    return decision.tree && decision.chosen.parameters.segment_bytes == 0;
}

/// A fresh decision keeps or repairs the tree that broadcasts go over at present, if that is nearly
/// as good. For messages in pieces nothing says how good a repaired tree is.
void keep_tree(Decision& fresh, const Decision& present, const Topology& topology,
               std::size_t length_bytes) {
    if (!goes_over_a_tree_in_one_piece(fresh) || !goes_over_a_tree_in_one_piece(present)) return;
    const auto renewal = renew(*present.tree, topology, length_bytes);
    if (!renewal) return;
    fresh.tree = renewal->tree;
    fresh.chosen = present.chosen;
    fresh.reason = (renewal->exchanged_links == 0
                        ? std::string("the tree is kept: predicted ")
                        : "the tree is repaired, " + std::to_string(renewal->exchanged_links) +
                              " hosts get the message from another: predicted ") +
                   milliseconds(renewal->predicted_us) + ", the best tree " +
                   milliseconds(renewal->best_us);
}

Decision fastest(std::vector<Evaluated> considered) {
    const Candidate native = native_candidate();
    if (considered.empty()) return {native, "no candidate reaches every host", {}, {}};
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
                std::move(considered), {}};
    }
    return {best.candidate,
            "predicted " + milliseconds(best.predicted_us) + ", native " + native_time,
            std::move(considered), {}};
}

}  // namespace

Decision decide_broadcast(const Topology& topology, const Settings& settings, int root,
                          std::size_t length_bytes, const Decision* present) {
    const int hosts = topology.network.host_count();
    if (root < 0 || root >= std::max(hosts, 1)) broken_invariant("root among hosts", root, hosts);
    if (settings.broadcast) return forced(*settings.broadcast, topology, root, length_bytes);
    if (hosts <= 1) return {native_candidate(), "one host", {}, {}};
    if (!topology.complete()) return {native_candidate(), "the hosts have no spanning tree", {}, {}};
    Contest contest(topology, root, length_bytes);
    contest.first_pass();
    contest.refine();
    Decision decision = fastest(contest.fastest_first());
    decision.tree = make_tree(topology, decision.chosen.parameters.tree, root, length_bytes);
    if (present) keep_tree(decision, *present, topology, length_bytes);
    return decision;
}

}  // namespace mutirao
