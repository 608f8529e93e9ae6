// A 128-bit digest of a state, put together from digests of its parts so that a step renews only
// the parts it touched. Among 10^8 states a collision has a chance below 10^-22.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

namespace mutirao::simulate {

struct Digest {
    std::uint64_t low = 0;
    std::uint64_t high = 0;

    bool operator==(const Digest&) const = default;
    Digest& operator+=(const Digest& other) {
        low += other.low;
        high += other.high;
        return *this;
    }
    Digest& operator-=(const Digest& other) {
        low -= other.low;
        high -= other.high;
        return *this;
    }
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

/// Absorbs bytes; the position of a part in the state is its `part` number.
class Digester {
  public:
    explicit Digester(std::uint64_t part) : state_{scramble(part), scramble(~part)} {}

    void add(std::string_view bytes) {
        const std::size_t length = bytes.size();
        while (!bytes.empty()) {
            std::uint64_t word = 0;
            const std::size_t taken = std::min(bytes.size(), sizeof word);
            std::memcpy(&word, bytes.data(), taken);
            bytes.remove_prefix(taken);
            state_.low = scramble(state_.low ^ word);
            state_.high = scramble(state_.high + word);
        }
        state_.low = scramble(state_.low ^ length);
        state_.high = scramble(state_.high + length);
    }
    void add(std::span<const std::byte> bytes) {
        add(std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
    }
    Digest value() const { return state_; }

  private:
    Digest state_;
};

}  // namespace mutirao::simulate
