// Which links' bandwidth this host measures, and when. Hosts of one site share their way to another, so
// the lowest hosts of each two sites stand for all pairs between them, and the lowest two hosts of a
// site for all within. Of each such pair the lower one asks. At the start pairs take turns, a quarter of a
// second apart: every site is in one pair of a turn, and the pairs within sites come last. Later each is measured
// again once in a period, or when its latency has changed a lot, but not twice in a minute. A pure machine.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/spanning_tree/rounds.h"

namespace mutirao::agent {

/// By host, the number of its site.
std::vector<int> sites_of(const std::vector<double>& latency_us, int host_count);

class BandwidthPlan {
  public:
    /// Period 0: nothing is ever measured.
    BandwidthPlan(int self, std::int64_t period_ns) : self_(self), period_ns_(period_ns) {}

    /// Whenever there is a new complete version of the tree.
    void follow(const Version& version, std::int64_t now_ns);
    /// Whose turn it is.
    std::optional<int> due(std::int64_t now_ns) const;
    /// It is being measured; then one of the others follows.
    void asked(int peer, std::int64_t now_ns);
    void measured(int peer, std::int64_t now_ns);
    /// The other end is busy.
    void refused(int peer, std::int64_t now_ns);
    /// Nothing arrived, or the other end cannot be reached: tried more and more rarely.
    void failed(int peer, std::int64_t now_ns);
    std::int64_t next_ns() const;

  private:
    struct Pair {
        int peer = -1;
        double latency_us = 0;  ///< when it was last planned for
        std::int64_t next_ns = 0;
        int failures = 0;  ///< since it was measured
        std::int64_t rests_until_ns = 0;
    };

    void again(int peer, std::int64_t when_ns);

    int self_;
    std::int64_t period_ns_;
    std::vector<Pair> pairs_;
};

}  // namespace mutirao::agent
