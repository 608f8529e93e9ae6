// Random numbers that are the same with every standard library, so that a seed printed by one
// machine replays on another.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "simulate/digest.h"

namespace mutirao::simulate {

class Random {
  public:
    explicit Random(std::uint64_t seed) : state_(scramble(seed)) {}

    std::uint64_t next() { return scramble(state_++); }
    /// 0 .. bound-1; bounds are small here, so the bias is of no consequence.
    std::size_t below(std::size_t bound) { return static_cast<std::size_t>(next() % bound); }
    /// 0 <= x < 1
    double unit() { return static_cast<double>(next() >> 11) * 0x1p-53; }

    template <class Value>
    void shuffle(std::vector<Value>& values) {
        for (std::size_t i = values.size(); i > 1; --i) std::swap(values[i - 1], values[below(i)]);
    }

  private:
    std::uint64_t state_;
};

}  // namespace mutirao::simulate
