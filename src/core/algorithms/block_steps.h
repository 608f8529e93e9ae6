// Steps over blocks of any lengths: those over no bytes are left out, on both sides of a message, since
// both know the lengths.
#pragma once

#include <utility>
#include <vector>

#include "core/schedule/schedule.h"

namespace mutirao {

class BlockSteps {
  public:
    /// What a step that was left out returns; nothing waits for it.
    static constexpr StepId none = -1;

    StepId send(int peer, Region data, Schedule::After after = {}) {
        return data.length_bytes == 0 ? none : schedule_.send(peer, data, present(after));
    }
    StepId receive(int peer, Region into, Schedule::After after = {}) {
        return into.length_bytes == 0 ? none : schedule_.receive(peer, into, present(after));
    }
    StepId copy(Region from, Region into, Schedule::After after = {}) {
        return into.length_bytes == 0 ? none : schedule_.copy(from, into, present(after));
    }

    Schedule take() && { return std::move(schedule_); }

  private:
    Schedule::After present(Schedule::After after) {
        after_.assign(after.begin(), after.end());
        std::erase(after_, none);
        return after_;
    }

    Schedule schedule_;
    std::vector<StepId> after_;
};

}  // namespace mutirao
