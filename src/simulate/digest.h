// A 128-bit digest of a state, put together from digests of its parts so that a step renews only
// the parts it touched. Among 10^8 states a collision has a chance below 10^-22.
#pragma once

#include <cstddef>
#include <cstdint>
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

/// A bijection of 64-bit numbers in which every input bit reaches every output bit.
std::uint64_t scramble(std::uint64_t number);

/// Absorbs bytes; the position of a part in the state is its `part` number.
class Digester {
  public:
    explicit Digester(std::uint64_t part);
    void add(std::string_view bytes);
    void add(std::span<const std::byte> bytes);
    Digest value() const { return state_; }

  private:
    Digest state_;
};

}  // namespace mutirao::simulate
