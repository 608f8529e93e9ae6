#include "core/selection/ruling.h"

#include <bit>

#include "core/algorithms/composition.h"

namespace mutirao {

ShapeClass class_of(const CallShape& shape) {
    return {shape.collective, shape.root, static_cast<int>(std::bit_width(shape.length_bytes))};
}

std::optional<Ruling> ruling_for(const Candidate& candidate, const CallShape& shape,
                                 const Topology& topology, const Placement& placement) {
    Ruling ruling{class_of(shape), candidate, std::nullopt};
    if (!candidate.algorithm->needs_tree()) return ruling;
    ruling.tree = make_tree(topology, candidate.parameters.tree, placement.host_of(shape.root),
                            shape.length_bytes);
    return ruling.tree ? std::optional(std::move(ruling)) : std::nullopt;
}

std::optional<Schedule> build_schedule(const Ruling& ruling, const CallShape& shape,
                                       const Placement& placement, int rank) {
    if (ruling.candidate.native()) return std::nullopt;
    return compose(ruling.candidate, shape, placement, ruling.tree ? &*ruling.tree : nullptr,
                   rank);
}

std::optional<std::vector<Schedule>> build_all(const Ruling& ruling, const CallShape& shape,
                                               const Placement& placement) {
    if (ruling.candidate.native()) return std::nullopt;
    std::vector<Schedule> schedules;
    schedules.reserve(static_cast<std::size_t>(placement.rank_count()));
    for (int rank = 0; rank < placement.rank_count(); ++rank) {
        schedules.push_back(*build_schedule(ruling, shape, placement, rank));
    }
    return schedules;
}

}  // namespace mutirao
