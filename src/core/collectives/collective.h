// The one table of collectives: what every part of the project must know of each. A further
// collective is a row here, its promise beside the others, and its algorithms in the catalogue.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

namespace mutirao {

enum class Collective : unsigned char { broadcast };

struct CallShape;
struct Promise;

struct CollectiveRow {
    Collective collective;
    std::string_view name;  ///< in settings, reports and on the command line
    bool rooted;            ///< one rank, the root, has another part than the others
    bool reduces;           ///< combines the ranks' data with an operator
    /// What must lie where before and after, among so many ranks.
    Promise (*promise)(const CallShape& shape, int size);
};

namespace promises {

Promise broadcast(const CallShape& shape, int size);

}  // namespace promises

inline constexpr std::array<CollectiveRow, 1> collectives{{
    {Collective::broadcast, "broadcast", true, false, promises::broadcast},
}};

/// Rows stand in the order of the enumeration, so that one is found without a search.
constexpr const CollectiveRow& row_of(Collective collective) {
    return collectives[static_cast<std::size_t>(collective)];
}
static_assert([] {
    for (std::size_t i = 0; i < collectives.size(); ++i)
        if (collectives[i].collective != static_cast<Collective>(i)) return false;
    return true;
}());

constexpr std::string_view to_string(Collective collective) { return row_of(collective).name; }

std::optional<Collective> collective_from(std::string_view name);

}  // namespace mutirao
