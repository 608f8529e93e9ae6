// All links of a replayed network: what they are, and what their owners have announced of them.
#pragma once

#include <vector>

#include "core/forecast/change_detector.h"
#include "core/network/network.h"
#include "tool/replay_trace.h"

namespace mutirao::tool {

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

}  // namespace mutirao::tool
