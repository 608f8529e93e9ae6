// The network followed as in paper 000 (Thome and Drummond): inside every K-th call the links are measured and the
// tree is adapted, while the program waits. Kept for comparison: agents and in_band.h do the same beside the program.
//
// The lower host of each link measures it. All are through when every host has told every other that it has the tree
// that is minimal for what all have measured: two trips of the farthest pair after the last link is known.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "core/selection/selection.h"
#include "core/settings/settings.h"
#include "mpi/base/world.h"
#include "mpi/watch/leader_rounds.h"

namespace mutirao::mpi {

class SynchronousAdaptation {
  public:
    SynchronousAdaptation(MPI_Comm twin, int tag, const Members& members, const Settings& settings);

    /// Collective over the ranks that lead a host: the network as it is now. Nothing on the other ranks. Waits for
    /// late ones however long, as the call does in any case.
    std::optional<Topology> check();
    /// By which all hosts together searched for the first tree.
    long search_messages() const { return search_messages_; }

  private:
    struct Measuring {
        int left = 0;  ///< round trips
        double sent_us = 0;
        double least_us = 0;
    };
    /// What a host said last, by number of the check.
    struct Said {
        std::uint32_t measured = 0, at_rest = 0;
        std::uint64_t steps = 0;  ///< that it had sent when it came to rest
    };

    Measuring& link(int host) { return links_[static_cast<std::size_t>(host)]; }
    void measure_links();
    void ping(int host);
    void take(const LeaderRounds::Letter& letter);
    void tell_all(LeaderRounds::Kind kind);
    bool all_said(std::uint32_t Said::*what) const;
    bool has_minimal_tree() const;
    template <typename Condition>
    void wait_until(const Condition& condition);

    const std::optional<double> threshold_percent_;
    std::optional<LeaderRounds> rounds_;  ///< leaders only
    std::uint32_t check_ = 0;             ///< the number of the newest
    std::vector<Measuring> links_;        ///< by host
    std::vector<Said> said_;              ///< by host
    long search_messages_ = 0;
};

}  // namespace mutirao::mpi
