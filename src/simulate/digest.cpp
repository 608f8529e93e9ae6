#include "simulate/digest.h"

#include <algorithm>
#include <cstring>

namespace mutirao::simulate {

// The finaliser of SplitMix64 (Steele, Lea and Flood 2014, doi:10.1145/2660193.2660195).
std::uint64_t scramble(std::uint64_t number) {
    number += 0x9e3779b97f4a7c15U;
    number = (number ^ (number >> 30)) * 0xbf58476d1ce4e5b9U;
    number = (number ^ (number >> 27)) * 0x94d049bb133111ebU;
    return number ^ (number >> 31);
}

Digester::Digester(std::uint64_t part) : state_{scramble(part), scramble(~part)} {}

void Digester::add(std::string_view bytes) {
    std::size_t length = bytes.size();
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

void Digester::add(std::span<const std::byte> bytes) {
    add(std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
}

}  // namespace mutirao::simulate
