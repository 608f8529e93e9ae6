// A prediction at a price that does not grow with the message: a decision needs dozens of them.
#pragma once

#include <cstddef>
#include <optional>

#include "core/selection/selection.h"

namespace mutirao {

/// As predict_broadcast, but of a long pipeline only the beginning is walked. From then on every
/// host receives at a steady pace, each at its own, so its last segment's time is extrapolated and
/// the last host counts. A host whose pace is set far upstream may not show it yet: a slight
/// error, to the candidate's favour.
std::optional<double> estimate_broadcast(const Candidate& candidate, const Topology& topology,
                                         int root, std::size_t length_bytes);

}  // namespace mutirao
