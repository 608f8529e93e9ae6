// Traeff's circulant graphs (arXiv:2410.14234): in each round a rank deals with those at one skip
// before and after it. The skips are the number of ranks halved, rounded up, again and again, so
// ceil(log2 p) rounds do for any p, and no rank has more to do than another.
#pragma once

#include <cstddef>
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

// Who passes which segment to whom, and when, in Traeff's broadcast on a circulant graph (2025,
// doi:10.1145/3735139; arXiv:2407.18004): in every round a rank sends one segment to the rank that
// is the round's skip ahead, and receives another, so that all ports are busy all the time. The
// skips take turns; a turn of all of them brings every rank as many segments. Read from the end, it
// is a reduction.

/// Of one rank. Segments are numbers, -1: none.
struct CirculantRound {
    int to;
    int sent;
    int from;
    int received;
};

/// Of Request::rank in a broadcast from Request::root, in their order: s - 1 + ceil(log2 p) for p
/// ranks and s segments, none where there is nobody or nothing to send to.
std::vector<CirculantRound> circulant_rounds(const Request& request, std::size_t segments);

}  // namespace mutirao
