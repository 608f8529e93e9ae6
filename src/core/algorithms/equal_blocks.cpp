#include "core/algorithms/equal_blocks.h"

#include <algorithm>

namespace mutirao {

Region blocks_from(Buffer buffer, int first, int count, std::size_t block_bytes) {
    return {buffer, static_cast<std::size_t>(first) * block_bytes,
            static_cast<std::size_t>(count) * block_bytes};
}

std::vector<BlockRun> runs_of(int first, int count, int size) {
    std::vector<BlockRun> runs;
    first = (first + size) % size;
    const int before_end = std::min(count, size - first);
    if (before_end > 0) runs.push_back({first, before_end, 0});
    if (count > before_end) runs.push_back({0, count - before_end, before_end});
    return runs;
}

StepId copy_own_block(Schedule& schedule, const Request& request) {
    return schedule.copy(own_input(request),
                         nth_block(Buffer::output, request.rank, request.length_bytes));
}

}  // namespace mutirao
