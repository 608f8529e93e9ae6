// What of the other ranks' beginnings lies before the end of each rank's part, for collectives that
// synchronise: by dependencies and messages only, since a send may be complete before it is received.
#pragma once

#include <optional>
#include <vector>

#include "core/schedule/schedule.h"
#include "core/schedule/step_graph.h"

namespace mutirao {

struct Unaware {
    int rank;       ///< may be done ...
    int has_begun;  ///< ... before this one has begun
};

/// The first such pair; nothing if there is none. Only for schedules that end.
std::optional<Unaware> first_unaware(const std::vector<Schedule>& schedules, const StepGraph& graph);

}  // namespace mutirao
