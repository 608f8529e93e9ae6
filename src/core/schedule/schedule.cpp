// Building schedules. It lies in the path of the first call of every shape, so a step costs two
// appends to flat vectors and nothing else.
#include "core/schedule/schedule.h"

#include <algorithm>
#include <array>

#include "core/schedule/byte_users.h"
#include "core/text/invariant.h"

namespace mutirao {
namespace {

int rank_in(std::span<const int> group, int participant) {
    if (static_cast<std::size_t>(participant) >= group.size())
        broken_invariant("peer is not in the group (peer, participants)", participant,
                         static_cast<long long>(group.size()));
    return group[static_cast<std::size_t>(participant)];
}

}  // namespace

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

StepId Schedule::reduce_before(Region from, Region into, After after) {
    const StepId id = reduce(from, into, after);
    steps_.back().source_first = true;
    return id;
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
                      static_cast<std::uint32_t>(after.size()), false});
    dependencies_.insert(dependencies_.end(), after.begin(), after.end());
    for (const Region& region : {source, target})
        if (region.buffer == Buffer::scratch)
            scratch_bytes_ = std::max(scratch_bytes_, region.end_bytes());
    return id;
}

std::size_t Schedule::scratch_behind(const Homes& homes) const {
    std::size_t end_bytes = scratch_bytes_;
    for (const Region& home : {homes.input, homes.output})
        if (home.buffer == Buffer::scratch) end_bytes = std::max(end_bytes, home.end_bytes());
    return aligned(end_bytes);
}

void Schedule::append(const Schedule& part, std::span<const int> group) {
    append(part, [&](int participant) { return rank_in(group, participant); });
}

void Schedule::append(const Schedule& part, const std::function<int(int)>& rank_of,
                      const Homes& homes) {
    const auto base = static_cast<StepId>(steps_.size());
    const std::array<Region, 3> moved_to{homes.input, homes.output,
                                         {Buffer::scratch, scratch_behind(homes), 0}};
    std::vector<Step> joined = part.steps_;
    for (Step& step : joined) {
        if (step.peer >= 0 && rank_of) step.peer = rank_of(step.peer);
        for (Region* region : {&step.source, &step.target}) {
            const Region& home = moved_to[static_cast<std::size_t>(region->buffer)];
            *region = {home.buffer, home.offset_bytes + region->offset_bytes,
                       region->length_bytes};
        }
    }

    ByteUsers users;
    std::vector<StepId> after;
    for (StepId id = 0; id < base; ++id) {
        const Uses uses(steps_[static_cast<std::size_t>(id)]);
        users.use(uses.read, id, after);
        users.use(uses.written, id, after);
    }
    for (std::size_t i = 0; i < joined.size(); ++i) {
        const Step& step = joined[i];
        const Uses uses(step);
        after.clear();
        // The part itself orders its further uses of these bytes after this step.
        users.use(uses.read, ByteUsers::nobody, after);
        users.use(uses.written, ByteUsers::nobody, after);
        std::sort(after.begin(), after.end());
        after.erase(std::unique(after.begin(), after.end()), after.end());
        for (const StepId own : part.dependencies(part.steps_[i])) after.push_back(base + own);
        add(step.kind, step.peer, step.source, step.target, after);
        steps_.back().source_first = step.source_first;
    }
}

}  // namespace mutirao
