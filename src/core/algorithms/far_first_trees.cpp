#include "core/algorithms/far_first_trees.h"

#include <bit>
#include <cstddef>

namespace mutirao {

std::vector<TreeHops> far_first_hops(int size, int most) {
    std::vector<TreeHops> steps;
    const auto rounded_up = static_cast<int>(std::bit_ceil(static_cast<unsigned>(size)));
    for (int distance = rounded_up / 2; distance > 0; distance /= 2) {
        for (int from = 0; from + distance < size; from += 2 * distance) {
            const bool together = from > 0 && steps.back().from.size() <
                                                  static_cast<std::size_t>(most);
            if (!together) steps.push_back({distance, {}});
            steps.back().from.push_back(from);
        }
    }
    return steps;
}

}  // namespace mutirao
