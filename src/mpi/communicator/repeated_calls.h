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
        bool equal = function == other.function && freed_types == other.freed_types;
        for (std::size_t i = 0; i < most_words; ++i) equal = equal && words[i] == other.words[i];
        return equal;
    }
};

class RepeatedCalls {
  public:
    /// Where to count such a call; null: it is none of those remembered.
    std::uint64_t* find(const CallWords& call) const {
        const Known& known = known_[place_of(call)];
        return known.native_calls != nullptr && known.call == call ? known.native_calls : nullptr;
    }
    void remember(const CallWords& call, std::uint64_t* native_calls) {
        known_[place_of(call)] = {call, native_calls};
    }
    void forget() { known_ = {}; }

  private:
    struct Known {
        CallWords call;
        std::uint64_t* native_calls = nullptr;
    };
    static constexpr std::size_t most_known = 8;

    static std::size_t place_of(const CallWords& call) {
        std::uintptr_t mixed = reinterpret_cast<std::uintptr_t>(call.function) >> 4;
        for (const std::uintptr_t word : call.words) mixed = mixed * 5 + (word ^ (word >> 7));
        return mixed % most_known;
    }

    std::array<Known, most_known> known_{};
};

}  // namespace mutirao::mpi
