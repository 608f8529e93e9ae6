// What is worth trying: each row of the catalogue with each of its radices, trees and segment
// sizes. Segments apart from the rest, since predicting with a fine segment is what costs.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "core/algorithms/algorithm.h"

namespace mutirao {

/// Each algorithm with each radix and tree, in one piece; native first.
std::vector<Candidate> candidates_in_one_piece(Collective collective);

/// Of a segmented algorithm some of these, the coarsest first.
std::span<const std::size_t> all_segment_sizes();

/// Segment sizes that are worth trying: 0 (one piece), then the coarsest first.
std::vector<std::size_t> segment_choices(const Algorithm& algorithm, std::size_t length_bytes);

}  // namespace mutirao
