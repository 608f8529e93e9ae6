#include "core/collectives/collective.h"

#include <algorithm>
#include <numeric>

namespace mutirao {

std::size_t mean_length_bytes(const std::vector<std::size_t>& lengths) {
    const std::size_t whole = std::accumulate(lengths.begin(), lengths.end(), std::size_t{0});
    return (whole + lengths.size() - 1) / lengths.size();
}

std::optional<Collective> collective_from(std::string_view name) {
    const auto row = std::find_if(collectives.begin(), collectives.end(),
                                  [&](const CollectiveRow& each) { return each.name == name; });
    return row == collectives.end() ? std::nullopt : std::optional(row->collective);
}

}  // namespace mutirao
