// The checks in the order in which they can be relied on: peers and pairs first, then races (so
// that the order of events cannot matter), then one walk with synchronous sends that moves
// symbolic contents, and at last what every rank ended with.
#include "core/schedule/test_checker.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include "core/schedule/byte_users.h"
#include "core/schedule/printer.h"
#include "core/schedule/step_graph.h"
#include "core/text/invariant.h"
#include "core/text/number_set.h"

namespace mutirao {
namespace {

/// How reduced bytes came about, each way stored once and named by a number. A set of ranks would show that all are in
/// it; an expression also shows their order, which matters to operators that do not commute, and how they were
/// associated, which matters to the bits of floating-point results.
class Expressions {
  public:
    using Id = std::int32_t;  ///< below the number of ranks: that rank's own contribution

    /// `commutes`: a op b and b op a are the same expression.
    Expressions(int rank_count, bool commutes) : commutes_(commutes) {
        for (int rank = 0; rank < rank_count; ++rank) nodes_.push_back({-1, -1, {rank}, rank, rank, true});
    }

    /// Of one rank or of several, combined from the left.
    Id of(const std::vector<int>& ranks) {
        Id result = ranks.at(0);
        for (std::size_t i = 1; i < ranks.size(); ++i) result = combine(result, ranks[i]).value();
        return result;
    }
    /// left op right; nothing if they have a rank in common.
    std::optional<Id> combine(Id left, Id right) {
        if (commutes_ && right < left) std::swap(left, right);
        const auto [known, fresh] = combined_.try_emplace({left, right});
        if (!fresh) return known->second;
        const Node &a = node(left), &b = node(right);
        NumberSet ranks = a.ranks;
        ranks.unite(b.ranks);
        if (ranks.count() != a.ranks.count() + b.ranks.count()) return std::nullopt;
        nodes_.push_back({left, right, std::move(ranks), a.first, b.last, a.ascends && b.ascends && a.last < b.first});
        return known->second = static_cast<Id>(nodes_.size() - 1);
    }

    bool same_ranks(Id one, Id other) const { return node(one).ranks == node(other).ranks; }
    /// From left to right the ranks ascend.
    bool is_in_order(Id expression) const { return node(expression).ascends; }
    /// "{0,3,5}".
    std::string ranks_of(Id expression) const {
        std::string text;
        for (const int rank : node(expression).ranks.numbers())
            text += (text.empty() ? "{" : ",") + std::to_string(rank);
        return text + '}';
    }
    /// "((0 op 1) op 2)".
    std::string to_string(Id expression) const {
        const Node& it = node(expression);
        if (it.left < 0) return std::to_string(expression);
        return '(' + to_string(it.left) + " op " + to_string(it.right) + ')';
    }

  private:
    struct Node {
        Id left, right;  ///< -1: one rank
        NumberSet ranks;
        int first, last;  ///< from the left
        bool ascends;
    };

    const Node& node(Id id) const { return nodes_.at(static_cast<std::size_t>(id)); }

    bool commutes_;
    std::vector<Node> nodes_;
    std::map<std::pair<Id, Id>, std::optional<Id>> combined_;
};

/// Bytes [begin, end) of a buffer. Byte p holds byte p + shift_bytes (modulo 2^64) of the initial
/// data of every rank in `expression`, combined as it says.
struct Stretch {
    std::size_t begin_bytes = 0;
    std::size_t end_bytes = 0;
    Expressions::Id expression = 0;
    std::size_t shift_bytes = 0;

    bool operator==(const Stretch&) const = default;
    Stretch within(std::size_t begin, std::size_t end) const {
        return {std::max(begin_bytes, begin), std::min(end_bytes, end), expression, shift_bytes};
    }
};

/// What the checker knows of a rank's buffer: not the bytes but how they came about, so the cost follows the number of
/// segments and never that of bytes. Stretches lie in order, and neighbours that continue each other are one. Bytes
/// outside them are undefined.
class SymbolicMemory {
  public:
    /// Appends the stretches inside [begin, end), cut to it, up to the first byte that is
    /// undefined, and returns that byte if there is one.
    std::optional<std::size_t> read(std::size_t begin, std::size_t end, std::vector<Stretch>& out) const {
        auto next = std::ranges::upper_bound(stretches_, begin, {}, &Stretch::end_bytes);
        for (std::size_t at = begin; at < end; at = out.back().end_bytes, ++next) {
            if (next == stretches_.end() || next->begin_bytes > at) return at;
            out.push_back(next->within(begin, end));
        }
        return std::nullopt;
    }

    /// `stretches` must cover [begin, end) exactly and in order.
    void write(std::size_t begin, std::size_t end, const std::vector<Stretch>& stretches) {
        constexpr std::size_t last = std::numeric_limits<std::size_t>::max();
        const std::vector<Stretch> before = std::exchange(stretches_, {});
        for (const Stretch& each : before) append(each.within(0, begin));
        for (const Stretch& each : stretches) append(each);
        for (const Stretch& each : before) append(each.within(end, last));
    }

  private:
    void append(const Stretch& stretch) {
        if (stretch.begin_bytes >= stretch.end_bytes) return;
        const bool continues = !stretches_.empty() && stretches_.back().end_bytes == stretch.begin_bytes &&
                               stretches_.back().expression == stretch.expression &&
                               stretches_.back().shift_bytes == stretch.shift_bytes;
        if (continues) stretches_.back().end_bytes = stretch.end_bytes;
        else stretches_.push_back(stretch);
    }

    std::vector<Stretch> stretches_;
};

/// Thrown to the end of the check.
struct Fault {
    std::string reason;
};

constexpr std::size_t buffer_count = 3;
constexpr std::size_t longest_explanation = 12;

std::string byte_range(std::size_t begin, std::size_t end) {
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

    /// Throws the first fault.
    void run() {
        for (StepIndex index = 0; index < graph_.node_count(); ++index) check_pair(index);
        for (std::size_t rank = 0; rank < schedules_.size(); ++rank) {
            check_writes(rank);
            check_races(rank);
            for (const Piece& piece : promise_.before[rank])
                memory(static_cast<int>(rank), piece.region.buffer)
                    .write(piece.region.offset_bytes, piece.region.end_bytes(), {stretch_of(piece)});
        }
        walk();
        for (std::size_t rank = 0; rank < schedules_.size(); ++rank) {
            for (const Piece& piece : promise_.after[rank]) check_piece(static_cast<int>(rank), piece);
            if (promise_.synchronizes) check_synchronization(rank);
        }
    }

  private:
    using Node = StepGraph::Node;

    /// "rank 2 step 5 (send output[0,8) to 3)".
    std::string words(StepIndex index) const {
        const Node& node = graph_.nodes[index];
        const StepIndex id = index - graph_.first[static_cast<std::size_t>(node.rank)];
        return "rank " + std::to_string(node.rank) + " step " + std::to_string(id) + " (" + describe(*node.step) + ')';
    }

    Schedule::After dependencies(StepIndex index) const {
        return schedules_[static_cast<std::size_t>(graph_.nodes[index].rank)].dependencies(*graph_.nodes[index].step);
    }

    SymbolicMemory& memory(int rank, Buffer buffer) {
        return memory_[static_cast<std::size_t>(rank) * buffer_count +
                       static_cast<std::size_t>(buffer)];
    }

    Stretch stretch_of(const Piece& piece) {
        return {piece.region.offset_bytes, piece.region.end_bytes(),
                expressions_.of(piece.ranks),
                piece.source_offset_bytes - piece.region.offset_bytes};
    }

    // --- what can be seen before anything moves --------------------------------------------------

    void check_pair(StepIndex index) const {
        const Node& node = graph_.nodes[index];
        const Step& step = *node.step;
        if (!step.is_message()) return;
        if (step.peer >= static_cast<int>(schedules_.size()))
            throw Fault{"peer out of range: " + words(index) + ", but there are " + std::to_string(schedules_.size()) +
                        " ranks"};
        if (step.peer == node.rank) throw Fault{"message to itself: " + words(index)};
        if (node.partner == no_step)
            throw Fault{"unmatched " + std::string(to_string(step.kind)) + ": " + words(index) +
                        " has no partner at rank " + std::to_string(step.peer)};
        if (step.kind == StepKind::send &&
            step.source.length_bytes != graph_.nodes[node.partner].step->target.length_bytes)
            throw Fault{"lengths differ: " + words(index) + " and " + words(node.partner)};
    }

    /// Writes where a rank must not, and overlapping operands.
    void check_writes(std::size_t rank) const {
        SymbolicMemory lent;  // what of the output the caller lends
        for (const auto* side : {&promise_.before[rank], &promise_.after[rank]}) {
            for (const auto& [region, ranks, source_offset_bytes] : *side)
                if (region.buffer == Buffer::output)
                    lent.write(region.offset_bytes, region.end_bytes(), {{region.offset_bytes, region.end_bytes()}});
        }
        for (StepIndex index = graph_.first[rank]; index < graph_.first[rank + 1]; ++index) {
            const Step& step = *graph_.nodes[index].step;
            const Region& target = step.target;
            if (step.kind == StepKind::send || target.length_bytes == 0) continue;
            if (target.buffer == Buffer::input) throw Fault{"write to the input: " + words(index)};
            std::vector<Stretch> written;
            if (target.buffer == Buffer::output && lent.read(target.offset_bytes, target.end_bytes(), written))
                throw Fault{"write outside the output that the collective promises: " + words(index)};
            if (!step.is_message() && step.source.overlaps(target))
                throw Fault{"source and target overlap: " + words(index)};
        }
    }

    /// Two steps that overlap on bytes, at least one writing, and that no path of dependencies orders. What messages
    /// happen to order does not count: an MPI library may read or write the memory of a send or receive from its start
    /// to its end. As long as no race was found the last writer of some bytes comes after every earlier user of them,
    /// so looking that far back is enough.
    void check_races(std::size_t rank) const {
        ByteUsers users;
        std::vector<NumberSet> before(schedules_[rank].size());  // what each step comes after
        for (StepId step = 0; const Step& content : schedules_[rank].steps()) {
            NumberSet& ordered = before[static_cast<std::size_t>(step)];
            ordered.insert(step);
            for (const StepId id : schedules_[rank].dependencies(content))
                ordered.unite(before[static_cast<std::size_t>(id)]);
            std::vector<StepId> conflicting;
            const Uses uses(content);
            users.use(uses.read, step, conflicting);
            users.use(uses.written, step, conflicting);
            for (const StepId other : conflicting) {
                if (ordered.contains(other)) continue;
                const StepIndex first = graph_.first[rank];
                throw Fault{"race: " + words(first + static_cast<StepIndex>(other)) + " and " +
                            words(first + static_cast<StepIndex>(step)) +
                            " use the same bytes, and no dependency orders them"};
            }
            ++step;
        }
    }

    // --- the walk ------------------------------------------------------------------------------

    void walk() {
        started_.assign(graph_.node_count(), false);
        complete_.assign(graph_.node_count(), false);
        begun_before_.resize(graph_.node_count());
        for (const Node& node : graph_.nodes) waits_.push_back(node.waits);
        for (StepIndex index = 0; index < graph_.node_count(); ++index)
            if (waits_[index] == 0) ready_.push_back(index);
        while (!ready_.empty()) {
            const StepIndex index = ready_.back();
            ready_.pop_back();
            const Node& node = graph_.nodes[index];
            started_[index] = true;
            if (node.next_in_order != no_step) no_longer_waits(node.next_in_order);
            const bool receives = node.step->kind == StepKind::receive;
            if (!node.step->is_message()) {
                move_data(index, index);
                complete(index);
            } else if (started_[node.partner]) {
                const StepIndex send = receives ? node.partner : index, receive = receives ? index : node.partner;
                move_data(send, receive);
                complete(send);
                complete(receive);
            }
        }
        if (std::ranges::find(complete_, false) != complete_.end()) throw Fault{explain_deadlock()};
    }

    void no_longer_waits(StepIndex index) {
        if (--waits_[index] == 0) ready_.push_back(index);
    }

    void complete(StepIndex index) {
        complete_[index] = true;
        if (promise_.synchronizes) hear_of_beginnings(index);
        for (const StepIndex dependent : graph_.dependents(index)) no_longer_waits(dependent);
    }

    /// By dependencies and messages only, since a send may be complete before it is received.
    void hear_of_beginnings(StepIndex index) {
        const Node& node = graph_.nodes[index];
        NumberSet& begun = begun_before_[index];
        begun.insert(node.rank);
        const StepIndex first = graph_.first[static_cast<std::size_t>(node.rank)];
        for (const StepId id : dependencies(index)) begun.unite(begun_before_[first + static_cast<StepIndex>(id)]);
        if (node.step->kind == StepKind::receive) begun.unite(begun_before_[node.partner]);
    }

    void move_data(StepIndex from, StepIndex to) {
        const Region &source = graph_.nodes[from].step->source, &target = graph_.nodes[to].step->target;
        std::vector<Stretch> moved = read(from, source);
        const std::size_t distance = target.offset_bytes - source.offset_bytes;
        for (Stretch& stretch : moved) {
            stretch.begin_bytes += distance;
            stretch.end_bytes += distance;
            stretch.shift_bytes -= distance;
        }
        if (graph_.nodes[from].step->kind == StepKind::reduce) moved = combined(from, read(from, target), moved);
        memory(graph_.nodes[to].rank, target.buffer).write(target.offset_bytes, target.end_bytes(), moved);
    }

    std::vector<Stretch> read(StepIndex index, const Region& region) {
        std::vector<Stretch> found;
        const auto undefined = memory(graph_.nodes[index].rank, region.buffer)
                                   .read(region.offset_bytes, region.end_bytes(), found);
        if (!undefined) return found;
        throw Fault{"read of undefined bytes: " + words(index) + " at " + std::string(to_string(region.buffer)) +
                    " byte " + std::to_string(*undefined)};
    }

    /// Cut where either is.
    std::vector<Stretch> combined(StepIndex index, const std::vector<Stretch>& target,
                                  const std::vector<Stretch>& source) {
        std::vector<Stretch> result;
        for (auto left = target.begin(), right = source.begin(); left != target.end() && right != source.end();) {
            const std::size_t begin = std::max(left->begin_bytes, right->begin_bytes);
            const std::size_t end = std::min(left->end_bytes, right->end_bytes);
            if (left->shift_bytes != right->shift_bytes)
                throw Fault{"reduction of bytes that do not belong together: " + words(index) + " combines byte " +
                            std::to_string(begin + left->shift_bytes) + " of some ranks with byte " +
                            std::to_string(begin + right->shift_bytes) + " of others"};
            check_unit(index, begin + left->shift_bytes, end + left->shift_bytes);
            const auto both = graph_.nodes[index].step->source_first
                                  ? expressions_.combine(right->expression, left->expression)
                                  : expressions_.combine(left->expression, right->expression);
            if (!both)
                throw Fault{"contribution counted twice: " + words(index) + " combines ranks " +
                            expressions_.ranks_of(left->expression) + " with ranks " +
                            expressions_.ranks_of(right->expression)};
            result.push_back({begin, end, *both, left->shift_bytes});
            if (left->end_bytes == end) ++left;
            if (right->end_bytes == end) ++right;
        }
        return result;
    }

    void check_unit(StepIndex index, std::size_t begin, std::size_t end) const {
        const std::size_t unit = promise_.unit_bytes;
        if (begin % unit == 0 && end % unit == 0) return;
        throw Fault{"element cut: " + words(index) + " combines bytes " + byte_range(begin, end) + " of elements of " +
                    std::to_string(unit) + " bytes"};
    }

    /// Every other incomplete step comes after one of these, which were started and whose partners were not.
    std::string explain_deadlock() const {
        std::string text = "deadlock under synchronous sends: these wait for partners that never start:";
        std::size_t shown = 0;
        for (StepIndex index = 0; index < graph_.node_count() && shown < longest_explanation; ++index) {
            if (!started_[index] || complete_[index]) continue;
            text += (shown++ == 0 ? " " : ", ") + words(index);
        }
        return text;
    }

    // --- what every rank ended with ----------------------------------------------------------------

    std::string contents(const Stretch& stretch) const {
        return byte_range(stretch.begin_bytes + stretch.shift_bytes,
                     stretch.end_bytes + stretch.shift_bytes) +
               " of ranks " + expressions_.ranks_of(stretch.expression);
    }

    void check_piece(int rank, const Piece& piece) {
        const Stretch expected = stretch_of(piece);
        const auto wrong = [&](const Stretch& part, const std::string& found) {
            throw Fault{"wrong final contents: rank " + std::to_string(rank) + ' ' +
                        std::string(to_string(piece.region.buffer)) + byte_range(part.begin_bytes, part.end_bytes) +
                        ": expected bytes " + contents(expected.within(part.begin_bytes, part.end_bytes)) +
                        ", found " + found};
        };
        std::vector<Stretch> found;
        const auto undefined =
            memory(rank, piece.region.buffer).read(expected.begin_bytes, expected.end_bytes, found);
        for (const Stretch& stretch : found) {
            if (!expressions_.same_ranks(stretch.expression, expected.expression) ||
                stretch.shift_bytes != expected.shift_bytes)
                wrong(stretch, "bytes " + contents(stretch));
            const bool in_order = promise_.commutes || expressions_.is_in_order(stretch.expression);
            if (!in_order || (promise_.from_first && stretch.expression != expected.expression))
                throw Fault{"operands out of order: rank " + std::to_string(rank) + " ends with " +
                            expressions_.to_string(stretch.expression)};
        }
        if (undefined) wrong({*undefined, expected.end_bytes}, "undefined bytes");
        if (promise_.one_result) check_result(rank, found);
    }

    /// All ranks are promised the same bytes in the same place.
    void check_result(int rank, const std::vector<Stretch>& found) {
        if (result_.empty()) result_ = found;
        const auto [one, other] = std::ranges::mismatch(result_, found);
        if (one == result_.end()) return;
        const bool begins_otherwise = one->expression != other->expression;
        const std::size_t byte = begins_otherwise ? one->begin_bytes : std::min(one->end_bytes, other->end_bytes);
        const auto words_at = [&](const std::vector<Stretch>& all) {
            return expressions_.to_string(std::ranges::upper_bound(all, byte, {}, &Stretch::end_bytes)->expression);
        };
        throw Fault{"results may differ in their bits: rank 0 ends with " + words_at(result_) + ", rank " +
                    std::to_string(rank) + " with " + words_at(found)};
    }

    void check_synchronization(std::size_t rank) const {
        NumberSet begun{static_cast<int>(rank)};
        for (StepIndex step = graph_.first[rank]; step < graph_.first[rank + 1]; ++step)
            begun.unite(begun_before_[step]);
        for (int other = 0; other < static_cast<int>(schedules_.size()); ++other) {
            if (!begun.contains(other))
                throw Fault{"not synchronised: rank " + std::to_string(rank) + " may be done before rank " +
                            std::to_string(other) + " has begun"};
        }
    }

    const std::vector<Schedule>& schedules_;
    const Promise& promise_;
    StepGraph graph_;
    Expressions expressions_;
    std::vector<SymbolicMemory> memory_;  ///< per rank and buffer
    std::vector<std::uint32_t> waits_;
    std::vector<bool> started_;
    std::vector<bool> complete_;
    std::vector<NumberSet> begun_before_;  ///< ranks, by step, for collectives that synchronise
    std::vector<StepIndex> ready_;
    std::vector<Stretch> result_;  ///< the first rank's
};

}  // namespace

CheckResult check(const std::vector<Schedule>& schedules, const Promise& promise) {
    for (const auto* side : {&promise.before, &promise.after})
        if (side->size() != schedules.size())
            broken_invariant("promise and schedules are for different numbers of ranks",
                             static_cast<long long>(side->size()),
                             static_cast<long long>(schedules.size()));
    try {
        Check(schedules, promise).run();
        return {};
    } catch (Fault& fault) {
        return {false, std::move(fault.reason)};
    }
}

}  // namespace mutirao
