#include "core/schedule/connections.h"

#include <map>

namespace mutirao {

std::vector<bool> detached_sends(const Schedule& schedule, const Transport& transport,
                                 const Placement& placement, int rank) {
    const std::vector<Step>& steps = schedule.steps();
    std::vector<bool> detached(steps.size(), false);
    if (transport.detached_bytes == 0) return detached;
    const int here = placement.host_of(rank);
    std::map<std::int32_t, std::size_t> left_bytes;  // per peer, from the last send backwards
    for (std::size_t i = steps.size(); i-- > 0;) {
        if (steps[i].kind != StepKind::send || placement.host_of(steps[i].peer) == here) continue;
        const std::size_t length_bytes = steps[i].source.length_bytes;
        std::size_t& left =
            left_bytes.try_emplace(steps[i].peer, transport.detached_bytes).first->second;
        if (length_bytes > left) {
            left = 0;  // what comes before must be waited for, too: messages are acknowledged in order
            continue;
        }
        left -= length_bytes;
        detached[i] = length_bytes > transport.buffered_limit_bytes &&
                      length_bytes <= transport.eager_limit_bytes;
    }
    return detached;
}

}  // namespace mutirao
