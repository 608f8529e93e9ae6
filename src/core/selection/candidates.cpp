#include "core/selection/candidates.h"

#include <array>

namespace mutirao {
namespace {

constexpr std::size_t kibibyte = 1024;

/// Finer segments gain little and cost memory and processor time on every host.
constexpr std::size_t most_segments = 512;

/// The coarsest first. 60 KiB is the largest round size that stays, with its header, below the
/// 64 KiB at which Open MPI's TCP transport begins to ask the receiver first.
constexpr std::array<std::size_t, 9> segment_sizes_bytes = {
    32768 * kibibyte, 8192 * kibibyte, 2048 * kibibyte, 512 * kibibyte, 128 * kibibyte,
    60 * kibibyte,    32 * kibibyte,   16 * kibibyte,   8 * kibibyte,
};

template <typename Value>
std::vector<Value> or_default(const std::vector<Value>& values, Value otherwise) {
    return values.empty() ? std::vector<Value>{otherwise} : values;
}

}  // namespace

std::span<const std::size_t> all_segment_sizes() { return segment_sizes_bytes; }

std::vector<std::size_t> segment_choices(const Algorithm& algorithm, std::size_t length_bytes) {
    std::vector<std::size_t> result = {0};
    if (!algorithm.segmented) return result;
    for (std::size_t size : segment_sizes_bytes) {
        if (size < length_bytes && length_bytes <= size * most_segments) result.push_back(size);
    }
    return result;
}

std::vector<Candidate> candidates_in_one_piece(Collective collective) {
    std::vector<Candidate> result;
    for (const Algorithm& algorithm : catalogue()) {
        if (algorithm.collective != collective) continue;
        for (int radix : or_default(algorithm.radices, Parameters{}.radix)) {
            for (TreeKind tree : or_default(algorithm.trees, TreeKind::none)) {
                result.push_back({&algorithm, {.segment_bytes = 0, .radix = radix, .tree = tree}});
            }
        }
    }
    return result;
}

}  // namespace mutirao
