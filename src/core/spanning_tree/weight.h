// What links are compared by when a spanning tree is built.
#pragma once

#include <compare>
#include <limits>

namespace mutirao {

/// A link's weight, made distinct by the numbers of its ends.
struct Weight {
    double value = 0;
    int low = -1;              ///< smaller end
    int high = -1;             ///< larger end
    bool last_resort = false;  ///< after all links that are not

    bool operator==(const Weight&) const = default;
    std::partial_ordering operator<=>(const Weight& other) const {
        if (last_resort != other.last_resort) return last_resort <=> other.last_resort;
        if (const auto order = value <=> other.value; order != 0) return order;
        if (const auto order = low <=> other.low; order != 0) return order;
        return high <=> other.high;
    }
    /// After everything.
    static Weight infinite() {
        constexpr int last = std::numeric_limits<int>::max();
        return {std::numeric_limits<double>::infinity(), last, last, true};
    }
};

}  // namespace mutirao
