// How reduced bytes came about: an expression over the ranks' contributions, each stored once and
// named by a number. A set of ranks would show that all are in it; an expression also shows their
// order, which matters to operators that do not commute, and how they were associated, which
// matters to the bits of floating-point results.
//
// And what the checker knows of memory: not the bytes but how they came about. Bytes in a row that hold consecutive
// bytes of the same expression are one stretch, so the cost follows the number of segments and never the number of bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace mutirao {

// Sets of ranks in which many sets have few different values.

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

class Expressions {
  public:
    using Id = std::int32_t;  ///< below the number of ranks: that rank's own contribution

    /// `commutes`: a op b and b op a are the same expression.
    Expressions(int rank_count, bool commutes);

    /// Of one rank or of several, combined from the left.
    Id of(const std::vector<int>& ranks);
    /// left op right; nothing if they have a rank in common.
    std::optional<Id> combine(Id left, Id right);

    RankSets::Id ranks(Id expression) const { return node(expression).ranks; }
    /// From left to right the ranks ascend.
    bool is_in_order(Id expression) const { return node(expression).ascends; }
    /// "((0 op 1) op 2)", or its beginning.
    std::string to_string(Id expression) const;

    RankSets& sets() { return sets_; }
    const RankSets& sets() const { return sets_; }

  private:
    struct Node {
        Id left = -1;
        Id right = -1;
        RankSets::Id ranks = 0;
        int first = 0;  ///< the leftmost rank
        int last = 0;   ///< the rightmost rank
        bool ascends = true;
    };

    const Node& node(Id id) const { return nodes_[static_cast<std::size_t>(id)]; }

    bool commutes_;
    RankSets sets_;
    std::vector<Node> nodes_;
    std::unordered_map<std::uint64_t, std::optional<Id>> combined_;
};

/// What a rank holds at the end: bytes [begin, end) of the data, reduced.
struct Result {
    RankSets::Id ranks = 0;
    std::size_t begin_bytes = 0;
    std::size_t end_bytes = 0;
    Expressions::Id expression = 0;
    int holder = 0;
};

/// Two results over the same ranks that share bytes but came about differently.
std::optional<std::pair<Result, Result>> first_disagreement(std::vector<Result> results);

/// Bytes [begin, end) of a buffer. Byte p holds byte p + shift_bytes (modulo 2^64) of the initial
/// data of every rank in `expression`, combined as it says.
struct Stretch {
    std::size_t begin_bytes = 0;
    std::size_t end_bytes = 0;
    Expressions::Id expression = 0;
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
