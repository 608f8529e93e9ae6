// What the checker knows of memory: not the bytes but whose contributions they hold. Bytes in a
// row that hold consecutive bytes of the same contributions are one stretch, so the cost follows
// the number of segments and never the number of bytes.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/schedule/schedule.h"

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

/// Bytes [begin, end) of a buffer. Byte p holds byte p + shift_bytes (modulo 2^64) of the initial
/// data of every rank in `set`.
struct Stretch {
    std::size_t begin_bytes = 0;
    std::size_t end_bytes = 0;
    RankSets::Id set = 0;
    std::size_t shift_bytes = 0;
};

/// One buffer of one rank: disjoint stretches in order, neighbours that continue each other joined.
/// Bytes outside the stretches are undefined.
class SymbolicMemory {
  public:
    /// Appends the stretches inside [begin, end), cut to it, up to the first byte that is
    /// undefined, and returns that byte if there is one.
    std::optional<std::size_t> read(std::size_t begin, std::size_t end,
                                    std::vector<Stretch>& out) const;

    /// `stretches` must cover [begin, end) exactly and in order, or be empty if it is.
    void write(std::size_t begin, std::size_t end, const std::vector<Stretch>& stretches);

  private:
    std::vector<Stretch> stretches_;
};

}  // namespace mutirao
