// Parts of `mutirao-studies replay`: a recorded network, slice by slice, against change detection, the spanning tree's
// maintenance, and trees that adapt or do not.
#pragma once

#include <array>
#include <cstddef>
#include <istream>
#include <optional>
#include <string>
#include <vector>

#include "core/forecast/change_detector.h"
#include "core/network/network.h"
#include "core/network/tree.h"
#include "core/selection/estimate.h"
#include "core/selection/selection.h"
#include "core/spanning_tree/maintenance.h"
#include "tool/arguments.h"

namespace mutirao::tool {

// A recorded trace as it is handed to `mutirao-studies replay`, slice by slice:
//
//   # anything after a hash is a comment
//   hosts 99                     must come first; the hosts are 0 .. 98
//   slice 75000 80000 - inf ...  one-way latencies in us of all links 0-1, 0-2, .. 1-2, ..
//
// "-": not measured in this slice, so what is known stays; "inf": nothing gets through.

/// The latencies of one slice, link by link in the order of the format; NaN: not measured.
using TraceSlice = std::vector<double>;

class TraceReader {
  public:
    /// `name` is how error lines call the trace. Throws UsageError where the first line is wrong.
    TraceReader(std::istream& input, std::string name);

    int host_count() const { return host_count_; }
    /// Nothing at the end. Throws UsageError where a line is wrong.
    std::optional<TraceSlice> next();

  private:
    /// The words of the next line that has any; empty at the end.
    std::vector<std::string> words();
    [[noreturn]] void refuse(const std::string& what) const;

    std::istream& input_;
    std::string name_;
    int line_number_ = 0;
    int host_count_ = 0;
};

// All links of a replayed network: what they are, and what their owners have announced of them.

class ReplayedLinks {
  public:
    ReplayedLinks(int host_count, const ChangeRule& rule);

    /// A slice that lasts for so many measurements of each link. Returns how many announcements
    /// were made of it.
    int pass(const TraceSlice& slice, int measurements);

    /// With the costs of hosts that the library assumes.
    const Network& actual() const { return actual_; }
    const Network& announced() const { return announced_; }

  private:
    int measured(ChangeDetector& detector, double latency_us, int measurements);

    std::vector<ChangeDetector> detectors_;  ///< link by link in the order of a slice
    Network actual_;
    Network announced_;
};

// The minimum spanning tree of a replayed network, kept minimal by the distributed protocol itself:
// all hosts' machines in memory, messages delivered in the order in which they were sent.

class MaintainedTree {
  public:
    /// One round, if a link changed since the last one or other hosts can be reached from `inside`;
    /// from nothing in the latter case. Returns how many messages it took.
    int adapt(const Network& announced, int inside);

    /// Of the hosts that can be reached.
    const EdgeList& tree() const { return tree_; }
    /// Kruskal's answer to the same question.
    bool equals_kruskals() const;

  private:
    maintenance::Round next_round(const Network& announced, int inside) const;

    Network base_;  ///< as of the last round
    EdgeList tree_;
    HostSet hosts_;
    std::uint32_t rounds_ = 0;
};

// The trees that a replay compares, and how each did over the slices.

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

/// A tree is used as in the first slice; adapting, made from what was announced; or made anew in every slice from the
/// network as it is.
enum Use : std::size_t { first, adapting, always };
inline constexpr std::array<Use, 3> uses = {first, adapting, always};

/// A slice of one family of trees, by use. Times on the network as it is; nothing: never ends.
struct TrackTimes {
    std::array<std::optional<double>, uses.size()> us;
    std::array<int, uses.size()> exchanged{};
};

/// The same kind of tree, by use.
using Family = std::array<Track, uses.size()>;

struct Broadcasts {
    int root = 0;
    std::size_t length_bytes = 0;
    double tolerance_percent = usual_tolerance_percent;
};

/// What the library uses: of all kinds of trees the fastest, kept as renew() says.
TrackTimes fastest_trees(Family& family, const Topology& actual, const Topology& announced,
                         const Broadcasts& broadcasts);

/// The minimum spanning trees alone, hung from the root.
TrackTimes spanning_trees(Family& family, const Topology& actual, const Topology& announced,
                          const Broadcasts& broadcasts);

/// The largest of the shortest paths from the root: no broadcast is faster. Nothing if a host
/// cannot be reached.
std::optional<double> bound_us(const Network& actual, const Broadcasts& broadcasts);

// How seldom trees would have to be exchanged by one who knows the future: what a replay's number of
// switches is measured against, since some networks change too fast for any tree to last.

/// So many trees, one after the other, are enough for broadcasts within `near_percent` of the bound
/// in every slice (slices in which a host cannot be reached apart). Found greedily, each tree for as
/// long as it lasts, so perhaps not the fewest. Counts latencies only.
int trees_with_foresight(const std::vector<Network>& slices, const Broadcasts& broadcasts,
                         double near_percent);

/// The command: takes the words after its name.
void replay_trace(const Words& words, std::ostream& out);

}  // namespace mutirao::tool
