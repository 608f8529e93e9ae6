// Sets of ranks in which many sets have few different values.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace mutirao {

/// Sets of ranks, each stored once and named by a number; {r} is r itself.
class RankSets {
  public:
    using Id = std::int32_t;

    explicit RankSets(int rank_count);

    Id of(const std::vector<int>& ranks);
    /// Nothing if they have a rank in common.
    std::optional<Id> disjoint_union(Id left, Id right);
    std::vector<int> ranks(Id set) const;
    /// "{0,3,5}".
    std::string to_string(Id set) const;

  private:
    using Bits = std::vector<std::uint64_t>;

    Bits bits(Id set) const;
    Id intern(const Bits& bits);

    int rank_count_;
    std::vector<Bits> larger_;  ///< sets that are not one rank, from id rank_count_ on
    std::map<Bits, Id> ids_;
    std::unordered_map<std::uint64_t, std::optional<Id>> unions_;
};

}  // namespace mutirao
