// Sets of small numbers, as hosts, ranks and steps have them: one bit per number.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "core/text/invariant.h"

namespace mutirao {

/// A plain value that has one representation per set, so equal sets compare, hash and travel alike.
class NumberSet {
  public:
    static constexpr int word_bits = 64;

    NumberSet() = default;
    NumberSet(std::initializer_list<int> numbers) {
        for (const int number : numbers) insert(number);
    }
    /// Nothing if the last word is zero: insert() makes no such set.
    static std::optional<NumberSet> from_words(std::vector<std::uint64_t> words) {
        if (!words.empty() && words.back() == 0) return std::nullopt;
        NumberSet set;
        set.words_ = std::move(words);
        return set;
    }

    void insert(int number) {
        if (number < 0) broken_invariant("negative number for a set, of at least", number, 0);
        if (word_of(number) >= words_.size()) words_.resize(word_of(number) + 1);
        words_[word_of(number)] |= bit_of(number);
    }
    void unite(const NumberSet& other) {
        if (other.words_.size() > words_.size()) words_.resize(other.words_.size());
        for (std::size_t i = 0; i < other.words_.size(); ++i) words_[i] |= other.words_[i];
    }

    bool contains(int number) const {
        return number >= 0 && word_of(number) < words_.size() && (words_[word_of(number)] & bit_of(number)) != 0;
    }
    int count() const {
        int numbers = 0;
        for (const std::uint64_t word : words_) numbers += std::popcount(word);
        return numbers;
    }
    bool empty() const { return words_.empty(); }
    /// Ascending.
    std::vector<int> numbers() const {
        std::vector<int> list;
        for (int number = 0; number < word_bits * static_cast<int>(words_.size()); ++number)
            if (contains(number)) list.push_back(number);
        return list;
    }
    /// Number n is bit n % word_bits of word n / word_bits; the last word is never zero.
    std::span<const std::uint64_t> words() const { return words_; }

    bool operator==(const NumberSet&) const = default;

  private:
    static std::size_t word_of(int number) { return static_cast<std::size_t>(number / word_bits); }
    static std::uint64_t bit_of(int number) { return std::uint64_t{1} << (number % word_bits); }

    std::vector<std::uint64_t> words_;
};

}  // namespace mutirao
