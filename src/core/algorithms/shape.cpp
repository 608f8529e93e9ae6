#include "core/algorithms/shape.h"

#include <algorithm>
#include <numeric>

namespace mutirao {

int virtual_rank(int rank, int root, int size) { return (rank - root + size) % size; }

int real_rank(int virtual_rank, int root, int size) { return (virtual_rank + root) % size; }

std::vector<int> others_of(int rank, int size) {
    std::vector<int> others;
    for (int distance = 1; distance < size; ++distance) others.push_back((rank + distance) % size);
    return others;
}

TreePlace k_nomial_place(int virtual_rank, int size, int radix) {
    TreePlace place;
    // The lowest digit that is not 0 tells the parent; the digits below it, the children.
    long long weight = 1;
    for (; weight < size; weight *= radix) {
        const long long digit = virtual_rank / weight % radix;
        if (digit != 0) {
            place.parent = static_cast<int>(virtual_rank - digit * weight);
            break;
        }
    }
    for (weight /= radix; weight >= 1; weight /= radix) {
        for (long long digit = 1; digit < radix; ++digit) {
            const long long child = virtual_rank + digit * weight;
            if (child < size) place.children.push_back(static_cast<int>(child));
        }
    }
    return place;
}

int binomial_subtree_end(int virtual_rank, int size) {
    if (virtual_rank == 0) return size;
    const int lowest_bit = virtual_rank & -virtual_rank;
    return std::min(virtual_rank + lowest_bit, size);
}

TreePlace binary_place(int index, int size) {
    TreePlace place;
    if (index > 0) place.parent = (index - 1) / 2;
    for (int child = 2 * index + 1; child <= 2 * index + 2; ++child) {
        if (child < size) place.children.push_back(child);
    }
    return place;
}

TreePlace chain_place(int index, int size) {
    TreePlace place{.parent = index - 1};
    if (index + 1 < size) place.children.push_back(index + 1);
    return place;
}

TreePlace with_real_ranks(TreePlace place, int root, int size) {
    if (place.parent >= 0) place.parent = real_rank(place.parent, root, size);
    for (int& child : place.children) child = real_rank(child, root, size);
    return place;
}

Blocks::Blocks(std::size_t length_bytes, int count, std::size_t unit_bytes)
    : unit_bytes_(unit_bytes),
      shortest_units_(length_bytes / unit_bytes / static_cast<std::size_t>(count)),
      longer_count_(length_bytes / unit_bytes % static_cast<std::size_t>(count)) {}

Blocks::Blocks(std::span<const std::size_t> lengths) : offsets_(lengths.size() + 1, 0) {
    std::partial_sum(lengths.begin(), lengths.end(), offsets_.begin() + 1);
}

std::size_t Blocks::offset_of(int index) const {
    const auto before = static_cast<std::size_t>(index);
    if (!offsets_.empty()) return offsets_[before];
    return (before * shortest_units_ + std::min(before, longer_count_)) * unit_bytes_;
}

Region Blocks::range(int first, int end, Buffer buffer) const {
    return Region{buffer, offset_of(first), offset_of(end) - offset_of(first)};
}

std::vector<Region> segments_of(Region whole, std::size_t segment_bytes, std::size_t unit_bytes) {
    std::vector<Region> segments;
    if (whole.length_bytes == 0) return segments;
    const std::size_t whole_units = std::max<std::size_t>(segment_bytes / unit_bytes, 1);
    const std::size_t step = segment_bytes == 0 ? whole.length_bytes : whole_units * unit_bytes;
    segments.reserve((whole.length_bytes - 1) / step + 1);
    for (std::size_t done = 0; done < whole.length_bytes; done += step) {
        const std::size_t length = std::min(step, whole.length_bytes - done);
        segments.push_back(Region{whole.buffer, whole.offset_bytes + done, length});
    }
    return segments;
}

}  // namespace mutirao
