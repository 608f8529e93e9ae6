// Calls that the program makes again and again and that are the MPI library's: recognised by what the program
// passed, before anything is made of it, so that they cost what a pass-through costs.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace mutirao::mpi {

/// What the program passed, but for its buffers, which say nothing of the call where they are plain: not null,
/// not MPI_IN_PLACE, and not one and the same.
struct CallWords {
    static constexpr std::size_t most_words = 6;

    const void* function = nullptr;  ///< the MPI library's; null: not plain
    std::array<std::uintptr_t, most_words> words{};
    std::uint64_t freed_types = 0;  ///< a handle means the same as long as none is freed

    /// Word by word: memcmp would read what was just written in other pieces, which processors stall on.
    bool operator==(const CallWords& other) const {
        std::uintptr_t differences = freed_types ^ other.freed_types;
#pragma GCC unroll 6
        for (std::size_t i = 0; i < most_words; ++i) differences |= words[i] ^ other.words[i];
        return differences == 0 && function == other.function;
    }
};

class RepeatedCalls {
  public:
    /// Where such a call is counted, and as how many units (vote.h); null: nowhere.
    struct Counted {
        std::uint64_t* native_calls = nullptr;
        std::int64_t units = 1;
        std::int64_t most_late_units = 0;  ///< of a point, which does not lie in such a call before
    };
    struct Known : Counted {
        CallWords call{};
    };

    /// Null: it is none of those remembered.
    const Known* find(const CallWords& call) const {
        const Known& known = known_[place_of(call)];
        return known.native_calls != nullptr && known.call == call ? &known : nullptr;
    }
    void remember(const CallWords& call, const Counted& counted) { known_[place_of(call)] = {counted, call}; }
    void forget() { known_ = {}; }

  private:
    static constexpr int place_bits = 3;
    static constexpr std::size_t most_known = std::size_t{1} << place_bits;

    static std::size_t place_of(const CallWords& call) {
        constexpr std::uint64_t spread = 0x9E3779B97F4A7C15u;
        std::uint64_t mixed = reinterpret_cast<std::uintptr_t>(call.function);
#pragma GCC unroll 6
        for (std::size_t i = 0; i < CallWords::most_words; ++i) mixed += std::uint64_t{call.words[i]} << i;
        return mixed * spread >> (64 - place_bits);
    }

    std::array<Known, most_known> known_{};
};

}  // namespace mutirao::mpi
