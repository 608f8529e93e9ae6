// Traeff's circulant graphs (arXiv:2410.14234): in each round a rank deals with those at one skip
// before and after it. The skips are the number of ranks halved, rounded up, again and again, so
// ceil(log2 p) rounds do for any p, and no rank has more to do than another.
#pragma once

#include <vector>

#include "core/algorithms/algorithm.h"
#include "core/algorithms/dataflow.h"
#include "core/algorithms/shape.h"

namespace mutirao {

/// From the number of ranks down to 1.
std::vector<int> circulant_skips(int size);

class Circulant {
  public:
    /// One block for each rank. `home` has room for all of them where the message has them.
    Circulant(Dataflow& flow, const Request& request, const Blocks& blocks, Region home);

    /// The rank's own block, of everybody's operands, to `result`: in the home or apart from it.
    /// There must be two ranks at least. Operands must commute.
    void reduce_scatter(Region result);
    /// All blocks, at home, to everybody.
    void allgather();

  private:
    /// `count` blocks from `first` on, counted round: up to two pieces.
    std::vector<Region> pieces(int first, int count) const;
    Region at_home(Region part) const;
    Region waiting(Region part) const;
    int at_distance(int skip) const;
    void finish(int peer, Region own, Region result);

    Dataflow& flow_;
    const Request& request_;
    Blocks blocks_;
    Region home_;
    std::vector<int> skips_;
};

}  // namespace mutirao
