// The network watched by MPI messages between the leaders of hosts, while the program is inside calls
// and without making it wait: for where agents cannot run, as in a simulator or behind a firewall.
// The lower host of each link measures it. What a host finds spreads, and the tree is adapted, by the
// same rounds as between agents (core/spanning_tree/rounds.h). How well a link is known depends on
// how much of their time its ends spend inside calls (BracketDetector); a link that
// carries nothing any more cannot be told from a program that is busy.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

#include "core/forecast/change_detector.h"
#include "core/settings/settings.h"
#include "mpi/base/world.h"
#include "mpi/watch/leader_rounds.h"
#include "mpi/watch/network_source.h"

namespace mutirao::mpi {

/// True if the settings ask for it.
bool wants_in_band(const Settings& settings);

class InBandSource final : public NetworkSource, public Background {
  public:
    /// Nothing is known yet. Ranks that lead no host take no part, and learn
    /// nothing.
    InBandSource(MPI_Comm twin, int tag, const World& world, const Settings& settings);

    std::optional<NetworkView> newer_than(std::uint64_t seen) override;
    bool readable_here() const override { return rounds_.has_value(); }
    std::string about() const override {
        return readable_here() ? "this rank watches the network inside its calls"
                        : "whose first rank watches the network inside its calls";
    }
    Background* background() override { return readable_here() ? this : nullptr; }
    void progress() override;

  private:
    /// A link of which this host is the lower end.
    struct Probed {
        BracketDetector detector;
        double period_us;
        double next_ping_us;
        double sent_us = 0;
        bool waiting = false;  ///< for a pong
        bool connected = false;
    };

    Probed& link(int host) { return links_[static_cast<std::size_t>(host)]; }
    void use_tree();
    void ping_who_is_due(double at_us);
    void take(const LeaderRounds::Letter& letter, double arrived_us);
    void take_pong(int host, double arrived_us, double unnoticed_us);

    const double tree_period_us_;
    std::mutex mutex_;
    std::optional<LeaderRounds> rounds_;  ///< leaders only
    std::vector<Probed> links_;  ///< by host; of those up to this one unused
    std::uint64_t tree_of_ = 0;  ///< view().changes whose tree the periods fit
    double next_ping_us_ = 0;    ///< the earliest
    double looked_us_;           ///< when the last complete look began: what came before was seen
};

}  // namespace mutirao::mpi
