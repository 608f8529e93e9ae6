#include "core/schedule/rank_sets.h"

#include <algorithm>
#include <bit>

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

}  // namespace mutirao
