// The network followed as in paper 000 (Thome and Drummond): inside every K-th call the links are measured and the
// tree is adapted, while the program waits. Kept for comparison: agents and in_band.h do the same beside the program.
//
// The lower host of each link measures it. What hosts tell all others (that they have come, that they have measured
// their links, that they have the tree which is minimal for what all have measured) spreads as the news of links do, and
// after these, so that no link is needed that carries nothing.
#pragma once

#include <mpi.h>

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/selection/selection.h"
#include "core/settings/settings.h"
#include "core/text/bytes.h"
#include "mpi/base/world.h"
#include "mpi/watch/leader_rounds.h"

namespace mutirao::mpi {

class SynchronousAdaptation {
  public:
    SynchronousAdaptation(MPI_Comm twin, int tag, const Members& members, const Settings& settings);

    /// Collective over the ranks that lead a host: the network as it is now. Nothing on the other ranks. Waits for
    /// late ones however long, as the call does in any case, and for links up to probe_timeout_ms.
    std::optional<Topology> check();
    /// By which all hosts together searched for the first tree.
    long search_messages() const { return search_messages_; }

  private:
    /// In the order in which a host passes through them.
    enum Mark : std::uint8_t { come, measured, at_rest };

    struct Told {
        int host = 0;  ///< that it is told of
        Mark mark = come;
        std::uint32_t check = 0;
        std::uint64_t steps = 0;  ///< at rest: that it has sent so far
    };
    template <class Codec>
    friend void fields(Codec& codec, Coded<Codec, Told>& told) {
        codec.number(told.host, 4);
        codec.choice(told.mark, at_rest);
        codec.number(told.check, 4);
        codec.number(told.steps, 8);
    }

    struct Measuring {
        int left = 0;  ///< round trips
        double sent_us = 0;
        double least_us = 0;
        double until_us = 0;  ///< then it carries nothing; infinite until the other host is known to have come
    };
    /// By number of the check: the newest of each mark.
    struct Said {
        std::array<std::uint32_t, at_rest + 1> newest{};
        std::uint64_t steps = 0;
    };

    Measuring& link(int host) { return links_[static_cast<std::size_t>(host)]; }
    Said& said(int host) { return said_[static_cast<std::size_t>(host)]; }
    void measure_links();
    void ping(int host);
    void take(const LeaderRounds::Letter& letter);
    void take_pong(int from, std::uint32_t check);
    void say(Mark mark);
    void spread(const Told& told, int from);
    bool all_said(Mark mark) const;
    bool has_minimal_tree() const;
    template <typename Condition>
    void wait_until(const Condition& condition);

    const std::optional<double> threshold_percent_;
    const double timeout_us_;
    std::optional<LeaderRounds> rounds_;  ///< leaders only
    std::uint32_t check_ = 0;             ///< the number of the newest
    std::vector<Measuring> links_;        ///< by host
    std::vector<Said> said_;              ///< by host
    long search_messages_ = 0;
};

}  // namespace mutirao::mpi
