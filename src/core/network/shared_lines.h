// Hosts of one site reach another site over the same lines, but some find out seconds before others what became of these.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "core/network/network.h"

namespace mutirao {

/// Takes links to be as slow as another one between the same two sites was just found to be, until their hosts have had the
/// time to find out themselves: else a tree that avoids the one link goes over the next.
class SharedLines {
  public:
    /// Makes such links of `now` slower. `before`: as it was left by the last call; `site_of`: label per host;
    /// `now_us`: any clock. Hosts x hosts steps.
    void suspect(Network& now, const Network& before, const std::vector<int>& site_of, double now_us);

    /// What was only suspected is believed no more: without other news the network is different now.
    bool doubts_are_over(double now_us) const { return !doubts_.empty() && now_us > until_us_; }

  private:
    struct Doubt {
        double measured_us, believed_us;
    };

    std::map<std::pair<int, int>, Doubt> doubts_;  ///< by hosts, the lower one first
    double until_us_ = 0;
};

}  // namespace mutirao
