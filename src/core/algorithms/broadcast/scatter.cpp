#include "core/algorithms/broadcast/scatter.h"

namespace mutirao::broadcast {

std::vector<StepId> scatter(Schedule& schedule, const Request& request, const Blocks& blocks) {
    const int size = request.size;
    const int rank = virtual_rank(request.rank, request.root, size);
    const TreePlace place = k_nomial_place(rank, size, 2);

    std::vector<StepId> arrival;
    const Region mine = blocks.range(rank, binomial_subtree_end(rank, size));
    if (rank != 0 && mine.length_bytes > 0) {
        arrival.push_back(schedule.receive(real_rank(place.parent, request.root, size), mine));
    }
    for (const int child : place.children) {
        const Region part = blocks.range(child, binomial_subtree_end(child, size));
        if (part.length_bytes == 0) continue;
        schedule.send(real_rank(child, request.root, size), part, arrival);
    }
    return arrival;
}

}  // namespace mutirao::broadcast
