// Tells frames that were seen already from new ones where order is not kept: the highest counter so
// far and which of the 63 below it were seen, as IPsec does (RFC 4303, 3.4.3).
#pragma once

#include <cstdint>

namespace mutirao::agent {

class ReplayWindow {
  public:
    /// True once for each counter; counters too far below the highest count as seen.
    bool take(std::uint32_t counter) {
        if (counter > highest_) {
            const std::uint32_t step = counter - highest_;
            seen_ = step < bits ? (seen_ << step) | 1 : 1;
            highest_ = counter;
            return counter != 0;
        }
        const std::uint32_t age = highest_ - counter;
        if (counter == 0 || age >= bits || (seen_ >> age & 1) != 0) return false;
        seen_ |= std::uint64_t{1} << age;
        return true;
    }

  private:
    static constexpr std::uint32_t bits = 64;

    std::uint32_t highest_ = 0;  ///< counters begin with 1
    std::uint64_t seen_ = 0;
};

}  // namespace mutirao::agent
