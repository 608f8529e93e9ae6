#include "core/selection/selection.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <ranges>

#include "core/selection/bounds.h"
#include "core/selection/estimate.h"
#include "core/text/invariant.h"
#include "core/text/units.h"

namespace mutirao {
namespace {

constexpr std::size_t kibibyte = 1024;

/// Finer segments gain little and cost memory and processor time on every host.
constexpr std::size_t most_segments = 512;

/// The coarsest first. 60 KiB is the largest round size that stays, with its header, below the
/// 64 KiB at which Open MPI's TCP transport begins to ask the receiver first.
constexpr std::array<std::size_t, 9> segment_sizes_bytes = {
    32768 * kibibyte, 8192 * kibibyte, 2048 * kibibyte, 512 * kibibyte, 128 * kibibyte,
    60 * kibibyte,    32 * kibibyte,   16 * kibibyte,   8 * kibibyte,
};

template <typename Value>
std::vector<Value> or_default(const std::vector<Value>& values, Value otherwise) {
    return values.empty() ? std::vector<Value>{otherwise} : values;
}

}  // namespace

std::vector<std::size_t> segment_choices(const Algorithm& algorithm, std::size_t length_bytes) {
    std::vector<std::size_t> result = {0};
    if (!algorithm.segmented) return result;
    for (std::size_t size : segment_sizes_bytes) {
        if (size < length_bytes && length_bytes <= size * most_segments) result.push_back(size);
    }
    return result;
}

namespace {

/// Of that shape, whatever its own. What is owned by distance is so where all pairs carry.
std::vector<int> spreads_of(const Algorithm& algorithm, TreeKind tree) {
    if (is_uneven(tree)) return {algorithm.spreads.back()};
    return or_default(algorithm.spreads, Parameters{}.spread);
}

}  // namespace

std::vector<Candidate> candidates_in_one_piece(Collective collective) {
    std::vector<Candidate> result;
    for (const Algorithm& algorithm : catalogue()) {
        if (algorithm.collective != collective) continue;
        for (int radix : or_default(algorithm.radices, Parameters{}.radix)) {
            for (int spread : or_default(algorithm.spreads, Parameters{}.spread)) {
                for (TreeKind tree : or_default(algorithm.trees, TreeKind::none)) {
                    if (std::ranges::count(spreads_of(algorithm, tree), spread) == 0) continue;
                    result.push_back({&algorithm, {.radix = radix, .spread = spread, .tree = tree}});
                }
            }
        }
    }
    return result;
}

namespace {

/// Native wins unless another is predicted to be faster by more than this: a prediction is not
/// better than that, and what the MPI library does itself never surprises anyone.
constexpr double tie_ratio = 1.02;

/// The same for collectives of which native is less well known than of broadcasts.
constexpr double clear_ratio = 1.1;

/// A decision first times every shape with one segment size and spread, then the best ones with all of them.
constexpr std::size_t refined_shapes = 3;

/// What takes so many times as long as the best so far is out of the question.
constexpr double most_ratio = 3;

/// What takes so many times as long as the bound is near it, or at it.
constexpr double near_ratio = 1.1, at_bound_ratio = 1.01;

/// A pipeline shows what it is worth from about so many segments.
constexpr std::size_t least_segments_of_a_pipeline = 8;

/// Of the candidates that were predicted between hosts, so many are predicted over all ranks.
constexpr std::size_t most_in_full = 4;

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

/// Where every link is shorter and about as long as the others what counts are costs that are not known well
/// enough.
constexpr double least_long_link_us = 1000;
constexpr double least_uneven_ratio = 4, least_uneven_us = 100;

bool distances_matter(const Network& network) {
    double shortest_us = std::numeric_limits<double>::infinity(), longest_us = 0;
    for (int a = 0; a < network.host_count(); ++a) {
        for (int b = 0; b < network.host_count(); ++b) {
            if (a == b || !network.link(a, b).usable()) continue;
            const double latency_us = network.link(a, b).latency_us;
            shortest_us = std::min(shortest_us, latency_us);
            longest_us = std::max(longest_us, latency_us);
        }
    }
    const bool uneven = longest_us > least_uneven_ratio * shortest_us && longest_us > shortest_us + least_uneven_us;
    return uneven || longest_us >= least_long_link_us;
}

int participants(const Candidate& candidate, const RankNetwork& network) {
    return candidate.algorithm->level == Level::hosts ? network.host_count() : network.rank_count();
}

/// Whether algorithms for this collective run between hosts, and others inside.
bool consists_of_levels(Collective collective) {
    const std::span<const Algorithm> all = catalogue();
    return std::any_of(all.begin(), all.end(), [&](const Algorithm& row) {
        return row.collective == collective && row.level == Level::hosts;
    });
}

Decision forced(const Candidate& candidate, const RankNetwork& network, const CallShape& shape) {
    const std::string name(candidate.algorithm->name);
    Decision decision{{candidate}, "asked for by the setting " + std::string(to_string(shape.collective))};
    if (network.rank_count() == 0 || candidate.native()) return decision;
    if (auto arm = arm_for(candidate, shape, network)) {
        decision.chosen = std::move(*arm);
        return decision;
    }
    const bool allowed =
        allows(*candidate.algorithm, shape.op.commutes, participants(candidate, network));
    return {{native_candidate(shape.collective)},
            allowed ? name + " has no tree: the hosts have no spanning tree"
                    : name + " is not for so many ranks, or not for this operator"};
}

bool goes_over_a_tree_in_one_piece(const Arm& arm) {
    return arm.tree && arm.tree->shares.empty() && arm.candidate.parameters.segment_bytes == 0;
}

/// Segments as long as TCP takes at once: shorter ones cost hosts more than is measured, the more the busier
/// they are, and behind longer ones the next host waits while TCP is still slow.
constexpr std::size_t favoured_segment_bytes = 64 * 1024;

/// The first, or itself in other segments that are as fast as far as predictions tell.
const Evaluated& best_of(const std::vector<Evaluated>& considered, std::size_t length_bytes) {
    const Evaluated& first = considered.front();
    const auto favour = [&](const Evaluated& each) {
        const std::size_t asked_bytes = each.candidate.parameters.segment_bytes;
        const std::size_t segment_bytes = asked_bytes == 0 ? length_bytes : asked_bytes;
        return segment_bytes <= favoured_segment_bytes ? segment_bytes : 0;
    };
    const Evaluated* best = &first;
    for (const Evaluated& each : considered) {
        Candidate alike = each.candidate;
        alike.parameters.segment_bytes = first.candidate.parameters.segment_bytes;
        const bool as_fast = each.predicted_us <= first.predicted_us * tie_ratio;
        if (alike == first.candidate && as_fast && each.in_full == first.in_full &&
            favour(each) > favour(*best)) {
            best = &each;
        }
    }
    return *best;
}

Decision fastest(const CallShape& shape, std::vector<Evaluated> considered) {
    Decision decision{{native_candidate(shape.collective)}, "no candidate reaches every host", std::move(considered)};
    const auto native_us = decision.predicted_us(decision.chosen.candidate);
    std::vector<Evaluated> ours = decision.considered;
    std::erase_if(ours, [](const Evaluated& each) { return each.candidate.native(); });
    if (ours.empty()) return decision;
    const Evaluated best = best_of(ours, shape.length_bytes);
    const std::string native_time = native_us ? milliseconds(*native_us) : "without end";
    const double least_gain = shape.collective == Collective::broadcast ? tie_ratio : clear_ratio;
    if (native_us && *native_us <= best.predicted_us * least_gain) {
        decision.reason = "predicted " + native_time + ", and no other is clearly faster (" +
                          to_string(best.candidate) + " " + milliseconds(best.predicted_us) + ")";
    } else {
        decision.reason = "predicted " + milliseconds(best.predicted_us) + ", native " + native_time;
        decision.chosen = {best.candidate};
    }
    return decision;
}

/// One decision, from the first prediction to the choice.
class Deciding {
  public:
    Deciding(const CallShape& shape, std::shared_ptr<const RankNetwork> network, const std::optional<Arm>& present);

    Decision decide();

  private:
    bool has_several_ranks_on_a_host() const { return network_->placement().most_ranks_on_a_host() > 1; }
    static bool goes_between_hosts(const Candidate& candidate) {
        return candidate.native() || candidate.algorithm->level == Level::hosts;
    }
    bool is_for_as_many_hosts(const Algorithm& algorithm) const;
    bool is_twice(const Candidate& shape);
    bool is_too_short_for(const Algorithm& algorithm) const;
    std::vector<Candidate> first_choices_of(Candidate shape);
    bool is_known(const Candidate& candidate) const;
    bool leaves_at_once(const Candidate& shape, int spread);
    int first_spread(const Candidate& shape);
    bool is_refinement(const Candidate& shape);
    std::vector<Candidate> shapes_in_order();
    bool is_in_one_piece(const Candidate& candidate) const;
    int largest_group(TreeKind kind);
    Estimate counted(const Estimate& estimate);
    bool has_one_within(double ratio_to_bound) const;
    Limits limits_now() const;

    void predict_shapes();
    void predict_refinements();
    void predict_segments(Candidate shape);
    void predict_ranks();
    void predict_best_in_full();
    void predict_insides();
    void predict(const Candidate& candidate);
    void predict_between_hosts(const Candidate& candidate);
    void predict_in_full(const Candidate& candidate);
    std::optional<double> inside_us(const Candidate& candidate);
    std::vector<Evaluated> fastest_first() const;
    void keep_present_tree();

    const CallShape shape_;
    const std::shared_ptr<const RankNetwork> network_;
    const std::optional<Arm>& present_;
    CallShape host_shape_;    ///< the call among one participant per host
    Estimate native_;
    TreesOfCall trees_;       ///< over the hosts, so for both calls
    const RankNetwork hosts_;
    const bool composed_;     ///< candidates run between the hosts, and others inside
    std::vector<Evaluated> evaluated_;
    std::map<std::size_t, std::optional<double>> inside_us_;  ///< by bytes of a piece
    const std::optional<double> bound_us_;
    Decision decision_;
    int predictions_ = 0;
    std::size_t messages_ = 0, most_messages_ = 0;
};

/// Blocks of lengths that nobody knows may take less than those of the nominal length can.
std::optional<double> bound_of(const CallShape& shape, const RankNetwork& network) {
    const bool has_bound = row_of(shape.collective).in_blocks != InBlocks::own;
    const auto bounds = has_bound ? measured_lower_bounds(shape, network) : std::nullopt;
    return bounds ? std::optional(bounds->us()) : std::nullopt;
}

Deciding::Deciding(const CallShape& shape, std::shared_ptr<const RankNetwork> network, const std::optional<Arm>& present)
    : shape_(known_to_all(shape)), network_(std::move(network)), present_(present), host_shape_(shape_),
      trees_(shape_, network_->topology(), network_->placement()), hosts_(network_->of_hosts()),
      composed_(network_->host_count() > 1 && has_several_ranks_on_a_host() && consists_of_levels(shape.collective)),
      bound_us_(bound_of(shape_, *network_)) {
    host_shape_.root = network_->placement().host_of(shape.root);
}

Decision Deciding::decide() {
    if (composed_) {
        predict_in_full(native_candidate(shape_.collective));
        predict_ranks();
    }
    predict_shapes();
    predict_refinements();
    if (composed_) predict_best_in_full();
    if (composed_ && network_->placement().most_ranks_on_a_host() > 2) predict_insides();
    const Topology& topology = network_->topology();
    decision_ = fastest(shape_, fastest_first());
    if (std::string why = distrust(shape_.collective, topology.network); !why.empty()) {
        decision_.chosen = {native_candidate(shape_.collective)};
        decision_.reason = std::move(why);
    }
    decision_.chosen.tree = trees_.of(decision_.chosen.candidate.parameters.tree);
    decision_.bound_us = bound_us_;
    keep_present_tree();
    decision_.predictions = predictions_;
    decision_.messages = messages_;
    decision_.most_messages = most_messages_;
    return std::move(decision_);
}

/// With fewer messages a pair's share takes more trips.
bool Deciding::leaves_at_once(const Candidate& shape, int spread) {
    const bool in_blocks = row_of(shape_.collective).in_blocks != InBlocks::none;
    const int carriers = in_blocks ? 1 : std::max(largest_group(shape.parameters.tree), 1);
    return shape_.length_bytes / static_cast<std::size_t>(carriers * spread) <=
           hosts_.between_hosts().transport.at_once_bytes();
}

/// The least with which what a pair carries leaves at once: more messages win nothing.
int Deciding::first_spread(const Candidate& shape) {
    const std::vector<int> spreads = spreads_of(*shape.algorithm, shape.parameters.tree);
    std::optional<int> least;
    for (const int spread : spreads) {
        if (spread < least.value_or(spread + 1) && leaves_at_once(shape, spread)) least = spread;
    }
    return least.value_or(spreads.front());
}

/// Spreads beside the first one are tried of the best shapes alone; smaller ones also where it would be too many
/// messages.
bool Deciding::is_refinement(const Candidate& shape) {
    if (shape.algorithm->spreads.empty()) return false;
    Candidate first = shape;
    first.parameters.spread = first_spread(shape);
    return shape.parameters.spread > first.parameters.spread || (shape != first && is_known(first));
}

/// Those with the first spread before the others, which are known as refinements of them then.
std::vector<Candidate> Deciding::shapes_in_order() {
    std::vector<Candidate> shapes = candidates_in_one_piece(shape_.collective);
    std::ranges::stable_partition(shapes, [&](const Candidate& each) {
        return !each.algorithm->spreads.empty() && each.parameters.spread == first_spread(each);
    });
    return shapes;
}

/// Kinds of trees that come out alike on this network lead to the same schedules.
bool Deciding::is_twice(const Candidate& shape) {
    const std::vector<TreeKind>& kinds = shape.algorithm->trees;
    const auto own = std::ranges::find(kinds, shape.parameters.tree);
    return std::any_of(kinds.begin(), own, [&](TreeKind kind) { return trees_.of(kind) == trees_.of(*own); });
}

/// The MPI library's other collectives know as little of links as the one that they would stand for.
bool Deciding::is_for_as_many_hosts(const Algorithm& algorithm) const {
    if (network_->host_count() > 1) return algorithm.calls.empty();
    return algorithm.level == Level::ranks && !algorithm.needs_tree();
}

/// Where nothing goes between hosts and then inside, other rows for short messages send to every rank: too many to connect.
bool Deciding::is_too_short_for(const Algorithm& algorithm) const {
    const int most = network_->between_hosts().transport.most_connections();
    const bool few_ranks = composed_ || algorithm.spreads.empty() || network_->rank_count() <= most;
    return few_ranks && shape_.length_bytes < algorithm.least_bytes;
}

std::vector<Candidate> Deciding::first_choices_of(Candidate shape) {
    std::vector<Candidate> result;
    if (is_too_short_for(*shape.algorithm) || is_twice(shape)) return result;
    for (const std::size_t segment_bytes : first_choices(*shape.algorithm, shape_.length_bytes,
                                                         hosts_.between_hosts().transport.eager_limit_bytes)) {
        shape.parameters.segment_bytes = segment_bytes;
        result.push_back(shape);
    }
    return result;
}

bool Deciding::is_known(const Candidate& candidate) const {
    return std::any_of(evaluated_.begin(), evaluated_.end(),
                       [&](const Evaluated& each) { return each.candidate == candidate; });
}

/// On one host also what goes on inside a host, by itself.
void Deciding::predict_shapes() {
    std::vector<Candidate> shapes = shapes_in_order();
    const auto follows_network = [](const Candidate& each) { return each.algorithm->needs_tree(); };
    std::ranges::stable_partition(shapes, follows_network);  // where these are fast, others need not be predicted
    for (const Candidate& shape : shapes) {
        if (!is_for_as_many_hosts(*shape.algorithm) || (composed_ && !goes_between_hosts(shape))) continue;
        if (is_refinement(shape)) continue;
        for (const Candidate& each : first_choices_of(shape)) predict(each);
    }
    if (network_->host_count() > 1) return;
    for (Candidate shape : shapes) {
        if (!shape.algorithm->inside_a_host) continue;
        shape.parameters.inside = shape.algorithm->name;
        for (const Candidate& each : first_choices_of(shape)) predict(each);
    }
}

/// Every segment size and spread for the best shapes.
void Deciding::predict_refinements() {
    std::vector<Candidate> best;
    double fastest_us = std::numeric_limits<double>::infinity();
    for (const Evaluated& each : fastest_first()) {
        Candidate shape = each.candidate;
        shape.parameters.segment_bytes = 0;
        if (!shape.algorithm->segmented && shape.algorithm->spreads.empty()) continue;
        if (composed_ && !goes_between_hosts(shape)) continue;
        if (!best.empty() && each.predicted_us > most_ratio * fastest_us) break;
        fastest_us = std::min(fastest_us, each.predicted_us);
        if (std::find(best.begin(), best.end(), shape) == best.end()) best.push_back(shape);
        if (best.size() == refined_shapes) break;
    }
    for (Candidate shape : best) {
        const int first = shape.parameters.spread;
        for (const int spread : spreads_of(*shape.algorithm, shape.parameters.tree)) {
            if (spread != first && has_one_within(at_bound_ratio)) continue;
            shape.parameters.spread = spread;
            const bool may_win = spread < first ? leaves_at_once(shape, spread)
                                                : spread == first || first < largest_group(shape.parameters.tree);
            if (may_win) predict_segments(shape);
        }
    }
}

/// In ranks, of groups as over_groups.cpp has them. A spread of more is one of as many.
int Deciding::largest_group(TreeKind kind) {
    const auto& tree = trees_.of(kind);
    if (!tree) return 0;
    const Placement& placement = network_->placement();
    const bool one = std::ranges::all_of(tree->site_of, [&](int site) { return site == tree->site_of.front(); });
    std::map<int, int> size_of;
    for (int rank = 0; rank < placement.rank_count(); ++rank) {
        const int host = placement.host_of(rank);
        ++size_of[one ? host : tree->site_of[static_cast<std::size_t>(host)]];
    }
    return std::ranges::max(size_of | std::views::values);
}

void Deciding::predict_segments(Candidate shape) {
    for (const std::size_t segment_bytes : segment_choices(*shape.algorithm, shape_.length_bytes)) {
        shape.parameters.segment_bytes = segment_bytes;
        predict(shape);
    }
}

/// What does not go between hosts and then inside.
void Deciding::predict_ranks() {
    for (const Candidate& shape : shapes_in_order()) {
        if (goes_between_hosts(shape) || !is_for_as_many_hosts(*shape.algorithm)) continue;
        if (is_refinement(shape) && has_one_within(at_bound_ratio)) continue;
        for (const Candidate& each : first_choices_of(shape)) predict_in_full(each);
    }
}

/// Of those that were predicted between hosts.
void Deciding::predict_best_in_full() {
    std::vector<Candidate> best;
    for (const Evaluated& each : fastest_first()) {
        if (best.size() == most_in_full) break;
        if (!each.in_full) best.push_back(each.candidate);
    }
    for (const Candidate& each : best) predict_in_full(each);
}

/// The best one with every other way to go on inside hosts. With two ranks on a host there is one.
void Deciding::predict_insides() {
    const std::vector<Evaluated> all = fastest_first();
    const auto best =
        std::find_if(all.begin(), all.end(), [](const Evaluated& each) { return !each.candidate.native(); });
    if (best == all.end() || !best->in_full || best->candidate.algorithm->level == Level::ranks) return;
    for (const std::string_view inside : {"flat", "binomial", "chain"}) {
        Candidate candidate = best->candidate;
        candidate.parameters.inside = inside;
        if (!is_known(candidate)) predict_in_full(candidate);
    }
}

/// Where no message is longer than a segment there is one of each.
bool Deciding::is_in_one_piece(const Candidate& candidate) const {
    Candidate whole = candidate;
    whole.parameters.segment_bytes = 0;
    return whole != candidate && std::any_of(evaluated_.begin(), evaluated_.end(), [&](const Evaluated& each) {
        return each.candidate == whole && each.in_full && each.longest_bytes <= candidate.parameters.segment_bytes;
    });
}

void Deciding::predict(const Candidate& candidate) {
    if (is_known(candidate) || is_in_one_piece(candidate)) return;
    composed_ ? predict_between_hosts(candidate) : predict_in_full(candidate);
}

Estimate Deciding::counted(const Estimate& estimate) {
    messages_ += estimate.messages;
    most_messages_ = std::max(most_messages_, estimate.messages);
    return estimate;
}

bool Deciding::has_one_within(double ratio_to_bound) const {
    return bound_us_ && std::ranges::any_of(evaluated_, [&](const Evaluated& each) {
        return each.in_full && !each.candidate.native() && each.predicted_us <= ratio_to_bound * *bound_us_;
    });
}

/// Once one is near the bound there is little to be won.
Limits Deciding::limits_now() const {
    Limits limits;
    if (has_one_within(near_ratio)) limits.messages = most_messages_predicted / 4;
    for (const Evaluated& each : evaluated_) {
        if (!each.candidate.native()) limits.us = std::min(limits.us, most_ratio * each.predicted_us);
    }
    return limits;
}

void Deciding::predict_between_hosts(const Candidate& candidate) {
    ++predictions_;
    const Estimate between = counted(estimate(candidate, host_shape_, hosts_, trees_, limits_now()));
    const auto inside = inside_us(candidate);
    if (!between.time_us || !inside) return;
    evaluated_.push_back({candidate, *between.time_us + *inside, false, between.longest_bytes});
}

void Deciding::predict_in_full(const Candidate& candidate) {
    ++predictions_;
    const bool is_known_as_native = native_.like == candidate && network_->between_hosts().transport.detached_bytes == 0;
    const Estimate full = is_known_as_native
                              ? native_
                              : counted(estimate(candidate, shape_, *network_, trees_, limits_now()));
    if (candidate.native()) native_ = full;
    std::erase_if(evaluated_, [&](const Evaluated& each) { return each.candidate == candidate; });
    if (full.time_us) evaluated_.push_back({candidate, *full.time_us, true, full.longest_bytes});
}

/// What comes after the last piece has reached a host: that piece's way to the ranks of the fullest
/// host.
std::optional<double> Deciding::inside_us(const Candidate& candidate) {
    const std::size_t segment_bytes = candidate.parameters.segment_bytes;
    CallShape piece = shape_;
    piece.root = 0;
    if (segment_bytes > 0) piece.length_bytes = std::min(piece.length_bytes, segment_bytes);
    const auto known = inside_us_.find(piece.length_bytes);
    if (known != inside_us_.end()) return known->second;
    Topology alone{Network(1), {}, {0}};
    const RankNetwork host{std::move(alone), Placement::in_blocks(1, network_->placement().most_ranks_on_a_host()),
                           network_->memory()};
    const Candidate flat{find_algorithm(shape_.collective, "flat"), {}};
    return inside_us_[piece.length_bytes] = counted(estimate(flat, piece, host)).time_us;
}

std::vector<Evaluated> Deciding::fastest_first() const {
    std::vector<Evaluated> result = evaluated_;
    std::stable_sort(result.begin(), result.end(), [](const Evaluated& a, const Evaluated& b) {
        return a.in_full != b.in_full ? a.in_full : a.predicted_us < b.predicted_us;
    });
    return result;
}

/// A fresh decision keeps the tree that calls go over at present, if that is nearly as good between the hosts.
void Deciding::keep_present_tree() {
    if (shape_.collective != Collective::broadcast) return;  // renewal knows these only
    if (!present_ || !goes_over_a_tree_in_one_piece(decision_.chosen)) return;
    if (!goes_over_a_tree_in_one_piece(*present_)) return;
    if (present_->tree->root != host_shape_.root) return;
    const auto renewal = renew(*present_->tree, hosts_, shape_.length_bytes);
    if (!renewal || !renewal->kept) return;
    decision_.chosen = {present_->candidate, renewal->tree};
    decision_.reason = "the tree is kept: predicted " + milliseconds(renewal->predicted_us) + ", the best tree " +
                       milliseconds(renewal->best_us);
}

}  // namespace

std::optional<double> Decision::predicted_us(const Candidate& candidate) const {
    const auto found = std::ranges::find(considered, candidate, &Evaluated::candidate);
    return found == considered.end() ? std::nullopt : std::optional(found->predicted_us);
}

// What the MPI library does for a broadcast is known better than for the others.
std::string distrust(Collective collective, const Network& network) {
    if (network.host_count() <= 1) return "one host";
    if (collective == Collective::broadcast || distances_matter(network)) return {};
    return "no link is long, and all are about as long";
}

Decision decide(const CallShape& shape, std::shared_ptr<const RankNetwork> network,
                const Settings& settings, const std::optional<Arm>& present) {
    const int ranks = network->rank_count();
    if (shape.root < 0 || shape.root >= std::max(ranks, 1)) {
        broken_invariant("root among ranks (root, ranks)", shape.root, ranks);
    }
    if (network->placement().host_count() != network->host_count()) {
        broken_invariant("hosts of ranks and of the network", network->placement().host_count(), network->host_count());
    }
    if (const auto& asked_for = settings.forced(shape.collective)) {
        return forced(*asked_for, *network, known_to_all(shape));
    }
    if (!network->topology().complete()) {
        return {{native_candidate(shape.collective)}, "the hosts have no spanning tree"};
    }
    return Deciding(shape, std::move(network), present).decide();
}

}  // namespace mutirao
