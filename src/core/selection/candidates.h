// What is worth trying: each row of the catalogue with each of its radices, trees and segment
// sizes. Segments apart from the rest, since predicting with a fine segment is what costs.
#pragma once

#include <cstddef>
#include <vector>

#include "core/algorithms/algorithm.h"

namespace mutirao {

/// Each algorithm with each radix and tree, in one piece; native first.
std::vector<Candidate> broadcast_shapes();

/// Segment sizes that are worth trying, the coarsest first; 0 (one piece) always leads. None gives
/// more than `most_segments` segments.
std::vector<std::size_t> segment_choices(const Algorithm& algorithm, std::size_t length_bytes,
                                         std::size_t most_segments);

/// The bound on segments per message for candidates that people or benchmarks run.
constexpr std::size_t most_segments_of_a_candidate = 512;

}  // namespace mutirao
