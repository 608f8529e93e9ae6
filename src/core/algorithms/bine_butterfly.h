// The Bine butterfly (De Sensi et al. 2025, doi:10.1145/3712285.3759835), with whose partners Swing goes
// around a ring or torus (De Sensi et al. 2024, arXiv:2401.09356): they swing to and fro at distance 1, -1, 3,
// -5, 11 .., two thirds as far as in recursive doubling. For powers of two.
#pragma once

#include <cstddef>
#include <vector>

#include "core/algorithms/shape.h"
#include "core/schedule/schedule.h"

namespace mutirao {

/// The rank itself and who it exchanges with meet in the same step; step 0 is between neighbours.
int bine_partner(int rank, int step, int size);

/// A rank's blocks one behind another in scratch memory, in an order of its own. The blocks that two partners
/// share out are not neighbours in the message; in this order what the rank keeps in each step stands right
/// before what it gives, and its own block before all.
class BineOrder {
  public:
    /// As many blocks as there are ranks.
    BineOrder(int rank, int size, Blocks blocks);

    int steps() const { return steps_; }
    int size() const { return static_cast<int>(order_.size()); }

    Region placed(int index) const { return blocks_.block(order_[static_cast<std::size_t>(index)]); }
    Region packed(int index) const { return packed(index, index + 1); }

    Region kept(int step) const { return packed(0, half(step)); }
    Region given(int step) const { return packed(half(step), 2 * half(step)); }

  private:
    int half(int step) const { return size() >> (step + 1); }
    Region packed(int first, int end) const;

    Blocks blocks_;
    int steps_;
    std::vector<int> order_;
    std::vector<std::size_t> begins_;
};

}  // namespace mutirao
