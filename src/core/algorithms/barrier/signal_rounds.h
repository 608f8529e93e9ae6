// Rounds of signals: what barriers are made of.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "core/schedule/schedule.h"

namespace mutirao::barrier {

/// A signal may overtake one of an earlier round, so a round comes after all that was heard before it.
class SignalRounds {
  public:
    /// Among participants 0 .. size - 1, of which this rank is `position` and `rank_of` tells the others' ranks:
    /// to those ahead, counted round, at distances that grow by the factor `radix` a round. In the end each
    /// has heard of all.
    void disseminate(int size, int position, int radix, const std::function<int(int)>& rank_of);
    void begin_round() { heard_before_ = heard_.size(); }
    /// A signal each way in the present round.
    void exchange(int to, int from);

    Schedule take() && { return std::move(schedule_); }

  private:
    Schedule schedule_;
    std::vector<StepId> heard_;
    std::size_t heard_before_ = 0;  ///< in the rounds before the present one
};

}  // namespace mutirao::barrier
