// Hosts that keep a spanning tree through several rounds while links change: the world in which
// core/spanning_tree/maintenance.h is explored. The network delivers; from outside come
//   change   a link gets another weight. The rounds that are open do not hear of it
//   open     the root of the newest round knows its end and something has changed since: the next
//            round becomes known to all hosts
//   enter    a host enters the newest round, when the one before has ended for it
// Weights never part the hosts: which hosts take part is decided above this machine.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/spanning_tree/maintenance.h"
#include "simulate/channels.h"
#include "simulate/graphs.h"

namespace mutirao::simulate {

/// As rounds travel between hosts.
struct RoundMessage {
    std::uint32_t round = 0;
    maintenance::Message message;
};
std::vector<std::byte> encode(const RoundMessage& message);

struct RoundOutgoing {
    int to = -1;
    RoundMessage message;
};

/// One host through the rounds: the one it is in, and the next once that is open.
class RoundHost {
  public:
    using Output = std::vector<RoundOutgoing>;

    void open(const maintenance::Node& node, std::uint32_t round);
    bool asleep() const { return next_ && (!current_ || current_->finished()); }
    Output wake();
    Output on(int from, const RoundMessage& message);

    std::uint32_t round() const { return round_; }
    const std::optional<maintenance::Node>& node() const { return current_; }
    std::vector<std::byte> fingerprint() const;

  private:
    Output in_round(const maintenance::Output& output) const;

    std::uint32_t round_ = 0;  ///< of the current node; 0: none yet
    std::optional<maintenance::Node> current_, next_;
};

struct Scenario {
    Graph before;                ///< for which all hosts hold the tree; no links: there is no tree
    Graph now;                   ///< the same links (all links if there is no tree)
    std::vector<int> roots = {0};  ///< of the rounds in turn
    int changes = 0;             ///< that may come while the world runs
    std::vector<double> values;  ///< that links may change to
};

class MaintenanceWorld {
  public:
    using Output = RoundHost::Output;

    struct Choice {
        enum class Kind : std::uint8_t { deliver, enter, open, change };
        Kind kind = Kind::open;
        int from = -1;     ///< deliver, change: an end of the link
        int to = -1;       ///< deliver, enter: the host; change: the other end
        double value = 0;  ///< change

        auto operator<=>(const Choice&) const = default;
    };
    /// What a round is about, and what must come of it.
    struct Opened {
        maintenance::Round round;
        Graph weights;
        EdgeList expected;
    };

    explicit MaintenanceWorld(const Scenario& scenario);

    int host_count() const { return channels_.host_count(); }
    const RoundHost& host(int host) const { return channels_.machine(host); }
    const RoundMessage& next(int from, int to) const { return channels_.next(from, to); }
    std::uint32_t newest_round() const { return newest_ ? newest_->round.number : 0; }
    /// The newest round or the one before it: no host is further behind.
    const Opened& opened(std::uint32_t round) const;

    std::size_t delivery_count() const { return channels_.delivery_count(); }
    Choice delivery(std::size_t i) const;
    std::size_t spontaneous_count() const;
    Choice spontaneous(std::size_t i) const;
    Output apply(const Choice& choice);
    bool can_open() const;

    void keep_digest();
    const Digest& digest() const { return digest_; }

  private:
    void open_round();
    void change(int low, int high, double value);
    void find_possible_changes();
    void renew_digest();

    Channels<RoundHost> channels_;
    Graph weights_;
    Graph tree_weights_;  ///< for which the newest tree is, or will be, minimal
    EdgeList tree_;       ///< before the first round
    std::vector<int> roots_;
    std::vector<double> values_;
    int changes_left_;
    std::vector<Choice> possible_changes_;
    std::shared_ptr<const Opened> newest_, previous_;
    bool keeps_digest_ = false;
    Digest digest_;
};

/// What must hold whenever hosts keep a spanning tree through rounds of changes, whatever the order
/// of events; Kruskal's algorithm says which tree must come of each round.
class MaintenanceRules {
  public:
    /// Messages of each kind, by the number of maintenance::Kind; then those of merging that only
    /// tell the end (ghs::Kind::finish), which `merge` leaves out.
    static constexpr std::size_t kinds = 7;
    static constexpr std::size_t finishes = kinds;
    using Counts = std::array<std::int32_t, kinds + 1>;

    Counts count(int from, const RoundOutgoing& outgoing) const;
    std::string objection(const MaintenanceWorld& world,
                          const MaintenanceWorld::Choice& choice) const;
    std::string objection_at_rest(const MaintenanceWorld& world) const;

    /// Of the counts' greatest values over executions of up to so many rounds.
    static std::string objection(const Counts& worst, const Graph& graph, int rounds);
    /// Merging in one round: two messages per link for tests; a level doubles the fragments' size,
    /// and costs a host five messages; two more for finding the fragments' cores.
    static double most_merges(const Graph& graph);

  private:
    static std::string host_objection(const MaintenanceWorld& world, int host);
};

}  // namespace mutirao::simulate
