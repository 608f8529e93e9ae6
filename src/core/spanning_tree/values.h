// The plain values that the messages of the tree's protocols are made of.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "core/network/tree.h"
#include "core/text/invariant.h"

namespace mutirao {

/// Sets of hosts, small enough to travel in messages: one bit per host. A plain value that has one
/// representation per set, so equal sets compare, hash and travel alike.
class HostSet {
  public:
    /// Hosts are numbered below this, which bounds what a set from elsewhere may claim.
    static constexpr int most_hosts = 65'536;
    static constexpr int word_bits = 64;

    HostSet() = default;
    HostSet(std::initializer_list<int> hosts) {
        for (const int host : hosts) insert(host);
    }
    /// Nothing if there are too many words or the last one is zero: insert() makes no such set.
    static std::optional<HostSet> from_words(std::vector<std::uint64_t> words) {
        if (words.size() > most_hosts / word_bits) return std::nullopt;
        if (!words.empty() && words.back() == 0) return std::nullopt;
        HostSet set;
        set.words_ = std::move(words);
        return set;
    }

    void insert(int host) {
        if (host < 0 || host >= most_hosts) broken_invariant("host of how many", host, most_hosts);
        if (word_of(host) >= words_.size()) words_.resize(word_of(host) + 1);
        words_[word_of(host)] |= bit_of(host);
    }
    void unite(const HostSet& other) {
        if (other.words_.size() > words_.size()) words_.resize(other.words_.size());
        for (std::size_t i = 0; i < other.words_.size(); ++i) words_[i] |= other.words_[i];
    }

    bool contains(int host) const {
        return host >= 0 && word_of(host) < words_.size() &&
               (words_[word_of(host)] & bit_of(host)) != 0;
    }
    int count() const {
        int hosts = 0;
        for (const std::uint64_t word : words_) hosts += std::popcount(word);
        return hosts;
    }
    bool empty() const { return words_.empty(); }
    /// Ascending.
    std::vector<int> hosts() const {
        std::vector<int> list;
        for (int host = 0; host < word_bits * static_cast<int>(words_.size()); ++host)
            if (contains(host)) list.push_back(host);
        return list;
    }
    /// Host h is bit h % word_bits of word h / word_bits; the last word is never zero.
    std::span<const std::uint64_t> words() const { return words_; }

    bool operator==(const HostSet&) const = default;

  private:
    static std::size_t word_of(int host) { return static_cast<std::size_t>(host / word_bits); }
    static std::uint64_t bit_of(int host) { return std::uint64_t{1} << (host % word_bits); }

    std::vector<std::uint64_t> words_;
};

/// A message that is kept until its time comes.
template <class Message>
struct Waiting {
    int from = -1;
    Message message;

    bool operator==(const Waiting&) const = default;
    auto parts() const { return std::tie(from, message); }
};

}  // namespace mutirao
