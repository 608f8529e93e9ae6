// Who passes which segment to whom, and when, in Traeff's broadcast on a circulant graph (2025,
// doi:10.1145/3735139; arXiv:2407.18004): in every round a rank sends one segment to the rank that
// is the round's skip ahead, and receives another, so that all ports are busy all the time. The
// skips take turns; a turn of all of them brings every rank as many segments. Read from the end, it
// is a reduction.
#pragma once

#include <cstddef>
#include <vector>

#include "core/algorithms/algorithm.h"

namespace mutirao {

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
