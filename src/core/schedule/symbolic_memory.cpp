// Sorted vectors of stretches: schedules touch memory in few and mostly neighbouring pieces, for
// which a vector beats any tree.
#include "core/schedule/symbolic_memory.h"

#include <algorithm>

namespace mutirao {
namespace {

bool continues(const Stretch& left, const Stretch& right) {
    return left.end_bytes == right.begin_bytes && left.expression == right.expression &&
           left.shift_bytes == right.shift_bytes;
}

/// Appends, joined to the last stretch where possible.
void append(std::vector<Stretch>& stretches, const Stretch& stretch) {
    if (stretch.begin_bytes == stretch.end_bytes) return;
    if (!stretches.empty() && continues(stretches.back(), stretch))
        stretches.back().end_bytes = stretch.end_bytes;
    else
        stretches.push_back(stretch);
}

}  // namespace

std::optional<std::size_t> SymbolicMemory::read(std::size_t begin, std::size_t end,
                                                std::vector<Stretch>& out) const {
    std::size_t at = begin;
    auto stretch = std::upper_bound(
        stretches_.begin(), stretches_.end(), begin,
        [](std::size_t value, const Stretch& candidate) { return value < candidate.end_bytes; });
    while (at < end) {
        if (stretch == stretches_.end() || stretch->begin_bytes > at) return at;
        Stretch part = *stretch++;
        part.begin_bytes = at;
        part.end_bytes = std::min(part.end_bytes, end);
        at = part.end_bytes;
        out.push_back(part);
    }
    return std::nullopt;
}

void SymbolicMemory::write(std::size_t begin, std::size_t end,
                           const std::vector<Stretch>& stretches) {
    if (begin >= end) return;
    // All stretches that overlap or touch [begin, end) are replaced: their parts outside, and the
    // new ones between them.
    const auto first = std::lower_bound(
        stretches_.begin(), stretches_.end(), begin,
        [](const Stretch& candidate, std::size_t value) { return candidate.end_bytes < value; });
    auto last = first;
    std::vector<Stretch> replacement;
    if (first != stretches_.end() && first->begin_bytes < begin)
        append(replacement, {first->begin_bytes, std::min(first->end_bytes, begin),
                             first->expression, first->shift_bytes});
    for (const Stretch& stretch : stretches) append(replacement, stretch);
    for (; last != stretches_.end() && last->begin_bytes <= end; ++last)
        if (last->end_bytes > end)
            append(replacement, {std::max(last->begin_bytes, end), last->end_bytes,
                                 last->expression, last->shift_bytes});

    const auto removed = static_cast<std::size_t>(last - first);
    const std::size_t kept = std::min(removed, replacement.size());
    const auto at = std::copy_n(replacement.begin(), kept, first);
    if (kept < removed)
        stretches_.erase(at, last);
    else
        stretches_.insert(at, replacement.begin() + static_cast<std::ptrdiff_t>(kept),
                     replacement.end());
}

}  // namespace mutirao
