// A 128-bit digest of a state. Among 10^8 states a collision has a chance below 10^-22.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <ranges>
#include <span>
#include <tuple>
#include <type_traits>

#include "core/network/tree.h"
#include "core/spanning_tree/values.h"

namespace mutirao::simulate {

struct Digest {
    std::uint64_t low = 0;
    std::uint64_t high = 0;

    bool operator==(const Digest&) const = default;
};

struct DigestHash {
    std::size_t operator()(const Digest& digest) const { return digest.low; }
};

/// A bijection of 64-bit numbers in which every input bit reaches every output bit: the finaliser of SplitMix64
/// (Steele, Lea and Flood 2014, doi:10.1145/2660193.2660195).
inline std::uint64_t scramble(std::uint64_t number) {
    number += 0x9e3779b97f4a7c15U;
    number = (number ^ (number >> 30)) * 0xbf58476d1ce4e5b9U;
    number = (number ^ (number >> 27)) * 0x94d049bb133111ebU;
    return number ^ (number >> 31);
}

/// Absorbs values. Equal values give equal digests, and each
/// list is led by its length, so that different ones differ.
class Digester {
  public:
    /// A number, an enumerator, a list of values, an optional one, what encode() makes bytes of (messages), or what
    /// has parts(), which are all that tells its states apart.
    template <class Value>
    void add(const Value& value) {
        if constexpr (std::is_floating_point_v<Value>) {
            absorb(std::bit_cast<std::uint64_t>(value + 0.0));  // a negative zero compares equal, and must be so
        } else if constexpr (std::is_arithmetic_v<Value> || std::is_enum_v<Value>) {
            absorb(static_cast<std::uint64_t>(value));
        } else if constexpr (requires { value.parts(); }) {
            add_all(value.parts());
        } else if constexpr (requires { encode(value); }) {
            add(encode(value));
        } else if constexpr (std::is_convertible_v<Value, std::span<const std::byte>>) {
            add_bytes(value);
        } else if constexpr (std::ranges::range<Value>) {
            absorb(std::ranges::size(value));
            for (const auto& each : value) add(each);
        } else {
            add_all(value);
        }
    }
    template <class Value>
    void add(const std::optional<Value>& value) {
        absorb(value.has_value());
        if (value) add(*value);
    }
    void add(const HostSet& hosts) { add(hosts.words()); }
    void add(const Weight& weight) { add_all(std::tie(weight.value, weight.low, weight.high, weight.last_resort)); }

    Digest value() const { return state_; }

  private:
    void absorb(std::uint64_t word) {
        state_.low = scramble(state_.low ^ word);
        state_.high = scramble(state_.high + word);
    }
    void add_bytes(std::span<const std::byte> bytes) {
        absorb(bytes.size());
        while (!bytes.empty()) {
            std::uint64_t word = 0;
            const std::size_t taken = std::min(bytes.size(), sizeof word);
            std::memcpy(&word, bytes.data(), taken);
            bytes = bytes.subspan(taken);
            absorb(word);
        }
    }
    void add_all(const auto& tuple) {
        std::apply([this](const auto&... each) { (add(each), ...); }, tuple);
    }

    Digest state_{scramble(0), scramble(~std::uint64_t{0})};
};

/// Of these values, one after the other.
Digest digest_of(const auto&... values) {
    Digester digester;
    (digester.add(values), ...);
    return digester.value();
}

}  // namespace mutirao::simulate
