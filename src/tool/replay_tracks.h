// The trees that a replay compares, and how each did over the slices.
#pragma once

#include <cstddef>
#include <optional>

#include "core/network/tree.h"
#include "core/selection/renewal.h"
#include "core/selection/selection.h"

namespace mutirao::tool {

/// One tree over the slices: how often it was another one than in the slice before.
class Track {
  public:
    /// The tree of this slice; nothing: there is none. Returns how many links were exchanged.
    int use(std::optional<Tree> tree);

    const std::optional<Tree>& tree() const { return tree_; }
    int switches() const { return switches_; }
    int exchanged_links() const { return exchanged_links_; }

  private:
    std::optional<Tree> tree_;
    int switches_ = 0;
    int exchanged_links_ = 0;
};

/// A slice of one family of trees. Times on the network as it is; nothing: never ends.
struct TrackTimes {
    std::optional<double> first_us;
    std::optional<double> adapting_us;
    std::optional<double> always_us;
    int adapting_exchanged = 0;
    int always_exchanged = 0;
};

/// The same kind of tree used in three ways: as in the first slice; adapting, made from what was
/// announced; and made anew in every slice from the network as it is.
struct Family {
    Track first;
    Track adapting;
    Track always;
};

struct Broadcasts {
    int root = 0;
    std::size_t length_bytes = 0;
    double tolerance_percent = usual_tolerance_percent;
};

/// What the library uses: of all kinds of trees the fastest, kept as renewal.h says.
TrackTimes fastest_trees(Family& family, const Topology& actual, const Topology& announced,
                         const Broadcasts& broadcasts);

/// The minimum spanning trees alone, hung from the root.
TrackTimes spanning_trees(Family& family, const Topology& actual, const Topology& announced,
                          const Broadcasts& broadcasts);

/// The largest of the shortest paths from the root: no broadcast is faster. Nothing if a host
/// cannot be reached.
std::optional<double> bound_us(const Network& actual, const Broadcasts& broadcasts);

}  // namespace mutirao::tool
