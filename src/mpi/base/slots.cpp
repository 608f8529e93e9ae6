#include "mpi/base/slots.h"

#include <bit>

namespace mutirao::mpi {

// Consecutive slots, from a place that spreads different communicators over all of them.
std::size_t Slots::place(std::uint64_t who, int choice) const {
    return (who % taken_.size() + static_cast<std::size_t>(choice)) % taken_.size();
}

std::uint64_t Slots::offer(std::uint64_t who) {
    const std::lock_guard lock(mutex_);
    std::uint64_t offered = 0;
    for (int choice = 0; choice < choices && static_cast<std::size_t>(choice) < taken_.size() &&
                         std::popcount(offered) < most_offered;
         ++choice) {
        const std::size_t slot = place(who, choice);
        if (!taken_[slot]) {
            taken_[slot] = true;
            offered |= std::uint64_t{1} << choice;
        }
    }
    return offered;
}

int Slots::settle(std::uint64_t who, std::uint64_t offered, std::uint64_t agreed) {
    const std::lock_guard lock(mutex_);
    const int chosen = agreed == 0 ? -1 : std::countr_zero(agreed);
    for (int choice = 0; choice < choices; ++choice) {
        if ((offered >> choice & 1) != 0 && choice != chosen) {
            taken_[place(who, choice)] = false;
        }
    }
    return chosen < 0 ? -1 : static_cast<int>(place(who, chosen));
}

void Slots::give_back(int slot) {
    const std::lock_guard lock(mutex_);
    taken_[static_cast<std::size_t>(slot)] = false;
}

}  // namespace mutirao::mpi
