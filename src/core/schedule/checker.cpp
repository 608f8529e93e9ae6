// The checks in the order in which they can be relied on: peers and pairs first, then races (so
// that the order of events cannot matter), then one walk with synchronous sends that moves
// symbolic contents, and at last what every rank ended with.
#include "core/schedule/checker.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "core/schedule/byte_users.h"
#include "core/schedule/printer.h"
#include "core/schedule/step_graph.h"
#include "core/schedule/symbolic_memory.h"
#include "core/text/invariant.h"

namespace mutirao {
namespace {

struct Unaware {
    int rank;       ///< may be done ...
    int has_begun;  ///< ... before this one has begun
};

/// What of the other ranks' beginnings lies before the end of each rank's part, for collectives that
/// synchronise: by dependencies and messages only, since a send may be complete before it is received.
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

    /// The first such pair; nothing if there is none. Only for schedules that end.
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

constexpr std::size_t buffer_count = 3;
constexpr std::size_t longest_explanation = 12;

std::string bytes(std::size_t begin, std::size_t end) {
    return '[' + std::to_string(begin) + ',' + std::to_string(end) + ')';
}

class Check {
  public:
    Check(const std::vector<Schedule>& schedules, const Promise& promise)
        : schedules_(schedules),
          promise_(promise),
          graph_(schedules),
          expressions_(static_cast<int>(schedules.size()), promise.commutes),
          memory_(schedules.size() * buffer_count) {}

    /// The first fault, or nothing.
    std::string run() {
        for (const auto part : {&Check::check_pairs, &Check::check_lengths, &Check::check_local,
                                &Check::fill_memory, &Check::walk, &Check::check_end,
                                &Check::check_results, &Check::check_synchronization})
            if (std::string fault = (this->*part)(); !fault.empty()) return fault;
        return {};
    }

  private:
    using Node = StepGraph::Node;

    std::string words(StepIndex index) const {
        const Node& node = graph_.nodes[index];
        return describe(node.rank, graph_.id(index), *node.step);
    }

    static bool is_message(const Step& step) {
        return step.kind == StepKind::send || step.kind == StepKind::receive;
    }

    SymbolicMemory& memory(int rank, Buffer buffer) {
        return memory_[static_cast<std::size_t>(rank) * buffer_count +
                       static_cast<std::size_t>(buffer)];
    }

    std::string check_pairs() {
        const int size = static_cast<int>(schedules_.size());
        for (StepIndex index = 0; index < graph_.node_count(); ++index) {
            const Node& node = graph_.nodes[index];
            if (!is_message(*node.step)) continue;
            if (node.step->peer >= size)
                return "peer out of range: " + words(index) + ", but there are " +
                       std::to_string(size) + " ranks";
            if (node.step->peer == node.rank) return "message to itself: " + words(index);
            if (node.partner == no_step)
                return "unmatched " + std::string(to_string(node.step->kind)) + ": " +
                       words(index) + " has no partner at rank " + std::to_string(node.step->peer);
        }
        return {};
    }

    std::string check_lengths() {
        for (StepIndex index = 0; index < graph_.node_count(); ++index) {
            const Node& node = graph_.nodes[index];
            if (node.step->kind != StepKind::send) continue;
            const Step& receive = *graph_.nodes[node.partner].step;
            if (node.step->source.length_bytes != receive.target.length_bytes)
                return "lengths differ: " + words(index) + " and " + words(node.partner);
        }
        return {};
    }

    /// What can be seen within one rank: writes where it must not, overlapping operands, races.
    std::string check_local() {
        for (std::size_t rank = 0; rank < schedules_.size(); ++rank) {
            const auto own = output_pieces(rank);
            for (StepIndex i = graph_.first[rank]; i < graph_.first[rank + 1]; ++i)
                if (std::string fault = check_write(i, own); !fault.empty()) return fault;
            if (std::string race = find_race(schedules_[rank], static_cast<int>(rank));
                !race.empty())
                return race;
        }
        return {};
    }

    /// The stretches of the output that the caller lends, joined and in order.
    std::vector<std::pair<std::size_t, std::size_t>> output_pieces(std::size_t rank) const {
        std::vector<std::pair<std::size_t, std::size_t>> all;
        for (const auto* side : {&promise_.before[rank], &promise_.after[rank]})
            for (const Piece& piece : *side)
                if (piece.region.buffer == Buffer::output && piece.region.length_bytes > 0)
                    all.emplace_back(piece.region.offset_bytes, piece.region.end_bytes());
        std::sort(all.begin(), all.end());
        std::vector<std::pair<std::size_t, std::size_t>> joined;
        for (const auto& [begin, end] : all) {
            if (joined.empty() || joined.back().second < begin)
                joined.emplace_back(begin, end);
            else
                joined.back().second = std::max(joined.back().second, end);
        }
        return joined;
    }

    std::string check_write(StepIndex index,
                            const std::vector<std::pair<std::size_t, std::size_t>>& own) const {
        const Step& step = *graph_.nodes[index].step;
        const Region& target = step.target;
        if (step.kind == StepKind::send || target.length_bytes == 0) return {};
        if (target.buffer == Buffer::input) return "write to the input: " + words(index);
        if (target.buffer == Buffer::output &&
            std::none_of(own.begin(), own.end(), [&](const auto& piece) {
                return piece.first <= target.offset_bytes && target.end_bytes() <= piece.second;
            }))
            return "write outside the output that the collective promises: " + words(index);
        const bool overlap = step.source.buffer == target.buffer &&
                             step.source.offset_bytes < target.end_bytes() &&
                             target.offset_bytes < step.source.end_bytes();
        if (!is_message(step) && overlap)
            return "source and target overlap: " + words(index);
        return {};
    }

    std::string fill_memory() {
        for (std::size_t rank = 0; rank < schedules_.size(); ++rank)
            for (const Piece& piece : promise_.before[rank])
                memory(static_cast<int>(rank), piece.region.buffer)
                    .write(piece.region.offset_bytes, piece.region.end_bytes(),
                           {stretch_of(piece)});
        return {};
    }

    Stretch stretch_of(const Piece& piece) {
        return {piece.region.offset_bytes, piece.region.end_bytes(),
                expressions_.of(piece.ranks),
                piece.source_offset_bytes - piece.region.offset_bytes};
    }

    // --- the walk ------------------------------------------------------------------------------

    std::string walk() {
        started_.assign(graph_.node_count(), false);
        complete_.assign(graph_.node_count(), false);
        waits_.clear();
        for (const Node& node : graph_.nodes) waits_.push_back(node.waits);
        for (StepIndex index = 0; index < graph_.node_count(); ++index)
            if (waits_[index] == 0) ready_.push_back(index);
        std::size_t complete_count = 0;
        while (!ready_.empty()) {
            const StepIndex index = ready_.back();
            ready_.pop_back();
            const Node& node = graph_.nodes[index];
            started_[index] = true;
            if (node.next_in_order != no_step) no_longer_waits(node.next_in_order);
            const bool alone = node.partner == no_step;
            if (!alone && !started_[node.partner]) continue;
            if (std::string fault = move_data(index); !fault.empty()) return fault;
            complete(index);
            if (!alone) complete(node.partner);
            complete_count += alone ? 1 : 2;
        }
        return complete_count == graph_.node_count() ? std::string() : explain_deadlock();
    }

    void no_longer_waits(StepIndex index) {
        if (--waits_[index] == 0) ready_.push_back(index);
    }

    void complete(StepIndex index) {
        complete_[index] = true;
        for (const StepIndex dependent : graph_.dependents(index)) no_longer_waits(dependent);
    }

    std::string move_data(StepIndex index) {
        const Node& node = graph_.nodes[index];
        const bool receives = node.step->kind == StepKind::receive;
        const StepIndex from = receives ? node.partner : index;
        const StepIndex to = receives || node.partner == no_step ? index : node.partner;
        const Region& target = graph_.nodes[to].step->target;
        if (std::string fault = read(from, graph_.nodes[from].step->source, moved_);
            !fault.empty())
            return fault;
        const Region& source = graph_.nodes[from].step->source;
        const std::size_t distance = target.offset_bytes - source.offset_bytes;
        for (Stretch& stretch : moved_) {
            stretch.begin_bytes += distance;
            stretch.end_bytes += distance;
            stretch.shift_bytes -= distance;
        }
        if (node.step->kind == StepKind::reduce)
            if (std::string fault = combine(index); !fault.empty()) return fault;
        memory(graph_.nodes[to].rank, target.buffer)
            .write(target.offset_bytes, target.end_bytes(), moved_);
        return {};
    }

    std::string read(StepIndex index, const Region& region, std::vector<Stretch>& into) {
        into.clear();
        const auto undefined = memory(graph_.nodes[index].rank, region.buffer)
                                   .read(region.offset_bytes, region.end_bytes(), into);
        if (!undefined) return {};
        return "read of undefined bytes: " + words(index) + " at " +
               std::string(to_string(region.buffer)) + " byte " + std::to_string(*undefined);
    }

    /// moved_ = the target and moved_ combined, cut where either is.
    std::string combine(StepIndex index) {
        if (std::string fault = read(index, graph_.nodes[index].step->target, accumulated_);
            !fault.empty())
            return fault;
        std::vector<Stretch> result;
        for (auto left = accumulated_.begin(), right = moved_.begin();
             left != accumulated_.end() && right != moved_.end();) {
            const std::size_t begin = std::max(left->begin_bytes, right->begin_bytes);
            const std::size_t end = std::min(left->end_bytes, right->end_bytes);
            if (left->shift_bytes != right->shift_bytes)
                return "reduction of bytes that do not belong together: " + words(index) +
                       " combines byte " + std::to_string(begin + left->shift_bytes) +
                       " of some ranks with byte " + std::to_string(begin + right->shift_bytes) +
                       " of others";
            if (std::string cut = check_unit(index, begin + left->shift_bytes,
                                             end + left->shift_bytes);
                !cut.empty())
                return cut;
            const auto both = combine(index, left->expression, right->expression);
            if (!both)
                return "contribution counted twice: " + words(index) + " combines ranks " +
                       ranks(left->expression) + " with ranks " + ranks(right->expression);
            result.push_back({begin, end, *both, left->shift_bytes});
            if (left->end_bytes == end) ++left;
            if (right->end_bytes == end) ++right;
        }
        moved_ = std::move(result);
        return {};
    }

    std::optional<Expressions::Id> combine(StepIndex index, Expressions::Id target,
                                           Expressions::Id source) {
        return graph_.nodes[index].step->source_first ? expressions_.combine(source, target)
                                                      : expressions_.combine(target, source);
    }

    std::string check_unit(StepIndex index, std::size_t begin, std::size_t end) const {
        const std::size_t unit = promise_.unit_bytes;
        if (begin % unit == 0 && end % unit == 0) return {};
        return "element cut: " + words(index) + " combines bytes " + bytes(begin, end) +
               " of elements of " + std::to_string(unit) + " bytes";
    }

    std::string ranks(Expressions::Id expression) const {
        return expressions_.sets().to_string(expressions_.ranks(expression));
    }

    // --- explaining ----------------------------------------------------------------------------

    /// What an incomplete step waits for; itself incomplete, so following it ends in a cycle.
    StepIndex waits_for(StepIndex index) const {
        if (started_[index]) return graph_.nodes[index].partner;
        const auto own_first = graph_.first[static_cast<std::size_t>(graph_.nodes[index].rank)];
        const Schedule& schedule = schedules_[static_cast<std::size_t>(graph_.nodes[index].rank)];
        for (const StepId before : schedule.dependencies(*graph_.nodes[index].step))
            if (!complete_[own_first + static_cast<StepIndex>(before)])
                return own_first + static_cast<StepIndex>(before);
        for (StepIndex before = own_first; before < index; ++before)
            if (graph_.nodes[before].next_in_order == index) return before;
        broken_invariant("a blocked step waits for nothing (step, rank)", graph_.id(index),
                         graph_.nodes[index].rank);
    }

    std::string explain_deadlock() const {
        std::vector<StepIndex> path;
        auto at = static_cast<StepIndex>(
            std::find(complete_.begin(), complete_.end(), false) - complete_.begin());
        auto seen = path.end();
        while ((seen = std::find(path.begin(), path.end(), at)) == path.end()) {
            path.push_back(at);
            at = waits_for(at);
        }
        path.erase(path.begin(), seen);
        std::string text = "deadlock under synchronous sends: ";
        const std::size_t shown = std::min(path.size(), longest_explanation);
        for (std::size_t i = 0; i < shown; ++i) text += words(path[i]) + " waits for ";
        if (shown < path.size())
            text += std::to_string(path.size() - shown) + " more blocked steps, and these for ";
        return text + "the first";
    }

    std::string check_end() {
        for (std::size_t rank = 0; rank < schedules_.size(); ++rank)
            for (const Piece& piece : promise_.after[rank]) {
                if (piece.region.length_bytes == 0) continue;
                if (std::string fault = check_piece(static_cast<int>(rank), piece);
                    !fault.empty())
                    return fault;
            }
        return {};
    }

    std::string contents(const Stretch& stretch) const {
        return bytes(stretch.begin_bytes + stretch.shift_bytes,
                     stretch.end_bytes + stretch.shift_bytes) +
               " of ranks " + ranks(stretch.expression);
    }

    std::string check_piece(int rank, const Piece& piece) {
        const Stretch expected = stretch_of(piece);
        const auto fault = [&](Stretch part, const std::string& found) {
            part.expression = expected.expression;
            part.shift_bytes = expected.shift_bytes;
            return "wrong final contents: rank " + std::to_string(rank) + ' ' +
                   std::string(to_string(piece.region.buffer)) +
                   bytes(part.begin_bytes, part.end_bytes) + ": expected bytes " +
                   contents(part) + ", found " + found;
        };
        moved_.clear();
        const auto undefined = memory(rank, piece.region.buffer)
                                   .read(expected.begin_bytes, expected.end_bytes, moved_);
        for (const Stretch& stretch : moved_) {
            const RankSets::Id holds = expressions_.ranks(stretch.expression);
            if (holds != expressions_.ranks(expected.expression) ||
                stretch.shift_bytes != expected.shift_bytes)
                return fault(stretch, "bytes " + contents(stretch));
            const bool in_order = promise_.commutes || expressions_.is_in_order(stretch.expression);
            if (!in_order || (promise_.from_first && stretch.expression != expected.expression))
                return "operands out of order: rank " + std::to_string(rank) + " ends with " +
                       expressions_.to_string(stretch.expression);
            results_.push_back({holds, stretch.begin_bytes + stretch.shift_bytes,
                                stretch.end_bytes + stretch.shift_bytes, stretch.expression,
                                rank});
        }
        if (undefined) return fault({*undefined, expected.end_bytes}, "undefined bytes");
        return {};
    }

    std::string check_results() {
        if (!promise_.one_result) return {};
        const auto differ = first_disagreement(results_);
        if (!differ) return {};
        const auto& [one, other] = *differ;
        return "results may differ in their bits: rank " + std::to_string(one.holder) +
               " ends with " + expressions_.to_string(one.expression) + ", rank " +
               std::to_string(other.holder) + " with " +
               expressions_.to_string(other.expression);
    }

    std::string check_synchronization() {
        if (!promise_.synchronizes) return {};
        const auto unaware = Causality(schedules_, graph_).first_unaware();
        if (!unaware) return {};
        return "not synchronised: rank " + std::to_string(unaware->rank) +
               " may be done before rank " + std::to_string(unaware->has_begun) + " has begun";
    }

    const std::vector<Schedule>& schedules_;
    const Promise& promise_;
    StepGraph graph_;
    Expressions expressions_;
    std::vector<SymbolicMemory> memory_;  ///< per rank and buffer
    std::vector<std::uint32_t> waits_;
    std::vector<bool> started_;
    std::vector<bool> complete_;
    std::vector<StepIndex> ready_;
    std::vector<Stretch> moved_;        ///< contents on their way
    std::vector<Stretch> accumulated_;  ///< contents of a reduction's target
    std::vector<Result> results_;
};

}  // namespace

CheckResult check(const std::vector<Schedule>& schedules, const Promise& promise) {
    for (const auto* side : {&promise.before, &promise.after})
        if (side->size() != schedules.size())
            broken_invariant("promise and schedules are for different numbers of ranks",
                             static_cast<long long>(side->size()),
                             static_cast<long long>(schedules.size()));
    std::string reason = Check(schedules, promise).run();
    return {reason.empty(), std::move(reason)};
}

}  // namespace mutirao
