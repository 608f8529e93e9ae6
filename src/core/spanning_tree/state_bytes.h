// A machine's state as bytes, for explorers: equal states give equal bytes, and each list is led by
// its length, so that different states differ.
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <vector>

#include "core/spanning_tree/host_set.h"
#include "core/spanning_tree/weight.h"

namespace mutirao {

inline void append_number(std::string& bytes, std::uint64_t number, int width) {
    for (int i = 0; i < width; ++i) bytes.push_back(static_cast<char>(number >> (8 * i)));
}

inline void append_int(std::string& bytes, int number) {
    append_number(bytes, static_cast<std::uint32_t>(number), 4);
}

inline void append_weight(std::string& bytes, const Weight& weight) {
    // + 0.0 turns a negative zero, which compares equal, into the same bits.
    append_number(bytes, std::bit_cast<std::uint64_t>(weight.value + 0.0), 8);
    append_int(bytes, weight.low);
    append_int(bytes, weight.high);
    append_number(bytes, weight.last_resort ? 1 : 0, 1);
}

inline void append_weights(std::string& bytes, const std::vector<Weight>& weights) {
    append_int(bytes, static_cast<int>(weights.size()));
    for (const Weight& weight : weights) append_weight(bytes, weight);
}

inline void append_hosts(std::string& bytes, const HostSet& hosts) {
    append_int(bytes, static_cast<int>(hosts.words().size()));
    for (const std::uint64_t word : hosts.words()) append_number(bytes, word, 8);
}

}  // namespace mutirao
