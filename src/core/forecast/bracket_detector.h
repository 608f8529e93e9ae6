// Judges a link whose ends look for messages only now and then, as MPI ranks do while they are inside
// calls. A reply says only that the round trip took no longer than this, and no less than this minus
// the time for which messages may have lain unnoticed. So the announced latency stands as long as
// it lies between the two; else the nearer one is what was measured. Silence says nothing here: the
// other end may be busy with something else.
#pragma once

#include <optional>

#include "core/forecast/change_detector.h"

namespace mutirao {

class BracketDetector {
  public:
    /// `announced_us`: what all hosts already hold this link to be, one way.
    BracketDetector(const ChangeRule& rule, double announced_us) : detector_(rule, announced_us) {}

    /// A reply came after `round_trip_us`; for up to `unnoticed_us` of them it, or what it answers,
    /// may have lain unnoticed. Returns the latency to announce, one way, if any.
    std::optional<double> answered(double round_trip_us, double unnoticed_us);

    /// One way.
    double announced_us() const { return *detector_.announced(); }
    /// Not merely estimated from a first reply that was late.
    bool was_measured() const { return detector_.was_measured(); }

  private:
    ChangeDetector detector_;
};

}  // namespace mutirao
