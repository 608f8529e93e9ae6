// Building schedules. It lies in the path of the first call of every shape, so a step costs two
// appends to flat vectors and nothing else.
#include "core/schedule/schedule.h"

#include <algorithm>

#include "core/text/invariant.h"

namespace mutirao {

StepId Schedule::send(int peer, Region data, After after) {
    return add(StepKind::send, peer, data, {}, after);
}

StepId Schedule::receive(int peer, Region into, After after) {
    return add(StepKind::receive, peer, {}, into, after);
}

StepId Schedule::copy(Region from, Region into, After after) {
    return add(StepKind::copy, -1, from, into, after);
}

StepId Schedule::reduce(Region from, Region into, After after) {
    return add(StepKind::reduce, -1, from, into, after);
}

StepId Schedule::add(StepKind kind, int peer, Region source, Region target, After after) {
    const auto id = static_cast<StepId>(steps_.size());
    const bool local = kind == StepKind::copy || kind == StepKind::reduce;
    if (!local && peer < 0) broken_invariant("negative peer (peer, step)", peer, id);
    if (local && source.length_bytes != target.length_bytes)
        broken_invariant("lengths of a copy or reduction differ (bytes)",
                         static_cast<long long>(source.length_bytes),
                         static_cast<long long>(target.length_bytes));
    for (const StepId dependency : after)
        if (dependency < 0 || dependency >= id)
            broken_invariant("dependency is not an earlier step (dependency, step)", dependency,
                             id);

    steps_.push_back({kind, peer, source, target, static_cast<std::uint32_t>(dependencies_.size()),
                      static_cast<std::uint32_t>(after.size())});
    dependencies_.insert(dependencies_.end(), after.begin(), after.end());
    for (const Region& region : {source, target})
        if (region.buffer == Buffer::scratch)
            scratch_bytes_ = std::max(scratch_bytes_, region.end_bytes());
    return id;
}

}  // namespace mutirao
