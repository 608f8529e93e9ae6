#include "core/schedule/symbolic_memory.h"

#include <algorithm>
#include <bit>
#include <tuple>

#include "core/text/invariant.h"

namespace mutirao {
namespace {

constexpr std::size_t word_bits = 64;

}  // namespace

RankSets::RankSets(int rank_count) : rank_count_(rank_count) {}

RankSets::Id RankSets::of(const std::vector<int>& ranks) {
    for (const int rank : ranks)
        if (rank < 0 || rank >= rank_count_)
            broken_invariant("rank out of range (rank, ranks)", rank, rank_count_);
    if (ranks.size() == 1) return ranks.front();
    Bits bits((static_cast<std::size_t>(rank_count_) + word_bits - 1) / word_bits);
    for (const int rank : ranks) {
        const auto at = static_cast<std::size_t>(rank);
        bits[at / word_bits] |= std::uint64_t{1} << (at % word_bits);
    }
    return intern(bits);
}

std::optional<RankSets::Id> RankSets::disjoint_union(Id left, Id right) {
    const std::uint64_t key =
        static_cast<std::uint64_t>(std::min(left, right)) << 32 |
        static_cast<std::uint32_t>(std::max(left, right));
    if (const auto known = unions_.find(key); known != unions_.end()) return known->second;
    Bits both = bits(left);
    const Bits other = bits(right);
    bool disjoint = true;
    for (std::size_t i = 0; i < both.size(); ++i) {
        disjoint = disjoint && (both[i] & other[i]) == 0;
        both[i] |= other[i];
    }
    const std::optional<Id> id = disjoint ? std::optional(intern(both)) : std::nullopt;
    unions_.emplace(key, id);
    return id;
}

std::vector<int> RankSets::ranks(Id set) const {
    std::vector<int> result;
    const Bits words = bits(set);
    for (std::size_t i = 0; i < words.size(); ++i)
        for (std::uint64_t word = words[i]; word != 0; word &= word - 1)
            result.push_back(static_cast<int>(i * word_bits) + std::countr_zero(word));
    return result;
}

std::string RankSets::to_string(Id set) const {
    std::string text;
    for (const int rank : ranks(set)) text += (text.empty() ? "{" : ",") + std::to_string(rank);
    return (text.empty() ? "{" : text) + '}';
}

RankSets::Bits RankSets::bits(Id set) const {
    if (set >= rank_count_) return larger_[static_cast<std::size_t>(set - rank_count_)];
    Bits bits((static_cast<std::size_t>(rank_count_) + word_bits - 1) / word_bits);
    const auto at = static_cast<std::size_t>(set);
    bits[at / word_bits] = std::uint64_t{1} << (at % word_bits);
    return bits;
}

RankSets::Id RankSets::intern(const Bits& bits) {
    const Id next = rank_count_ + static_cast<Id>(larger_.size());
    const auto [place, added] = ids_.emplace(bits, next);
    if (added) larger_.push_back(bits);
    return place->second;
}

namespace {

constexpr std::size_t longest_text = 200;

bool continues(const Stretch& left, const Stretch& right) {
    return left.end_bytes == right.begin_bytes && left.expression == right.expression &&
           left.shift_bytes == right.shift_bytes;
}

/// Appends, joined to the last stretch where possible.
void append(std::vector<Stretch>& stretches, const Stretch& stretch) {
    if (stretch.begin_bytes == stretch.end_bytes) return;
    if (!stretches.empty() && continues(stretches.back(), stretch))
        stretches.back().end_bytes = stretch.end_bytes;
    else
        stretches.push_back(stretch);
}

}  // namespace

Expressions::Expressions(int rank_count, bool commutes) : commutes_(commutes), sets_(rank_count) {
    for (int rank = 0; rank < rank_count; ++rank)
        nodes_.push_back({-1, -1, sets_.of({rank}), rank, rank, true});
}

Expressions::Id Expressions::of(const std::vector<int>& ranks) {
    if (ranks.empty()) broken_invariant("expression of no ranks (ranks, least)", 0, 1);
    sets_.of(ranks);  // refuses ranks that do not exist
    Id result = ranks.front();
    for (std::size_t i = 1; i < ranks.size(); ++i) result = combine(result, ranks[i]).value();
    return result;
}

std::optional<Expressions::Id> Expressions::combine(Id left, Id right) {
    if (commutes_ && right < left) std::swap(left, right);
    const std::uint64_t key = static_cast<std::uint64_t>(left) << 32 |
                              static_cast<std::uint32_t>(right);
    if (const auto known = combined_.find(key); known != combined_.end()) return known->second;
    const auto ranks = sets_.disjoint_union(node(left).ranks, node(right).ranks);
    if (!ranks) return combined_[key] = std::nullopt;
    const Node& a = node(left);
    const Node& b = node(right);
    nodes_.push_back({left, right, *ranks, a.first, b.last,
                      a.ascends && b.ascends && a.last < b.first});
    return combined_[key] = static_cast<Id>(nodes_.size() - 1);
}

std::string Expressions::to_string(Id expression) const {
    std::string text;
    // What is still to be written, the next last; -1 and -2 stand for " op " and ")".
    std::vector<Id> rest = {expression};
    while (!rest.empty()) {
        if (text.size() > longest_text) return text + " ...";
        const Id next = rest.back();
        rest.pop_back();
        if (next < 0) {
            text += next == -1 ? " op " : ")";
        } else if (node(next).left < 0) {
            text += std::to_string(next);
        } else {
            text += '(';
            rest.insert(rest.end(), {-2, node(next).right, -1, node(next).left});
        }
    }
    return text;
}

std::optional<std::pair<Result, Result>> first_disagreement(std::vector<Result> results) {
    std::stable_sort(results.begin(), results.end(), [](const Result& a, const Result& b) {
        return std::tie(a.ranks, a.begin_bytes) < std::tie(b.ranks, b.begin_bytes);
    });
    // While all agree, the one that reaches farthest shares bytes with the next if any does, and it
    // agrees with every other that covers these.
    const Result* farthest = nullptr;
    for (const Result& each : results) {
        const bool meets = farthest != nullptr && farthest->ranks == each.ranks &&
                           each.begin_bytes < farthest->end_bytes;
        if (meets && farthest->expression != each.expression) return std::pair(*farthest, each);
        if (!meets || each.end_bytes > farthest->end_bytes) farthest = &each;
    }
    return std::nullopt;
}

// Sorted vectors of stretches: schedules touch memory in few and mostly neighbouring pieces, for
// which a vector beats any tree.
std::optional<std::size_t> SymbolicMemory::read(std::size_t begin, std::size_t end,
                                                std::vector<Stretch>& out) const {
    std::size_t at = begin;
    auto stretch = std::upper_bound(
        stretches_.begin(), stretches_.end(), begin,
        [](std::size_t value, const Stretch& candidate) { return value < candidate.end_bytes; });
    while (at < end) {
        if (stretch == stretches_.end() || stretch->begin_bytes > at) return at;
        Stretch part = *stretch++;
        part.begin_bytes = at;
        part.end_bytes = std::min(part.end_bytes, end);
        at = part.end_bytes;
        out.push_back(part);
    }
    return std::nullopt;
}

void SymbolicMemory::write(std::size_t begin, std::size_t end,
                           const std::vector<Stretch>& stretches) {
    if (begin >= end) return;
    // All stretches that overlap or touch [begin, end) are replaced: their parts outside, and the
    // new ones between them.
    const auto first = std::lower_bound(
        stretches_.begin(), stretches_.end(), begin,
        [](const Stretch& candidate, std::size_t value) { return candidate.end_bytes < value; });
    auto last = first;
    std::vector<Stretch> replacement;
    if (first != stretches_.end() && first->begin_bytes < begin)
        append(replacement, {first->begin_bytes, std::min(first->end_bytes, begin),
                             first->expression, first->shift_bytes});
    for (const Stretch& stretch : stretches) append(replacement, stretch);
    for (; last != stretches_.end() && last->begin_bytes <= end; ++last)
        if (last->end_bytes > end)
            append(replacement, {std::max(last->begin_bytes, end), last->end_bytes,
                                 last->expression, last->shift_bytes});

    const auto removed = static_cast<std::size_t>(last - first);
    const std::size_t kept = std::min(removed, replacement.size());
    const auto at = std::copy_n(replacement.begin(), kept, first);
    if (kept < removed)
        stretches_.erase(at, last);
    else
        stretches_.insert(at, replacement.begin() + static_cast<std::ptrdiff_t>(kept),
                     replacement.end());
}

}  // namespace mutirao
