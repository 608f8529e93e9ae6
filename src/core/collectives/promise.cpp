// One function per row of the table, each in terms of the buffers that schedules know.
#include "core/collectives/promise.h"

#include <algorithm>

namespace mutirao {
namespace promises {

Promise broadcast(const CallShape& shape, int size) {
    const Piece message{{Buffer::output, 0, shape.length_bytes}, {shape.root}, 0};
    Promise result;
    result.before.resize(static_cast<std::size_t>(size));
    result.before[static_cast<std::size_t>(shape.root)].push_back(message);
    result.after.assign(static_cast<std::size_t>(size), {message});
    return result;
}

}  // namespace promises

Promise promise(const CallShape& shape, int size) {
    return row_of(shape.collective).promise(shape, size);
}

std::optional<Collective> collective_from(std::string_view name) {
    const auto row = std::find_if(collectives.begin(), collectives.end(),
                                  [&](const CollectiveRow& each) { return each.name == name; });
    return row == collectives.end() ? std::nullopt : std::optional(row->collective);
}

}  // namespace mutirao
