// A barrier's messages have no bytes: what counts is only what they come after.
#pragma once

#include "core/schedule/schedule.h"

namespace mutirao::barrier {

inline constexpr Region signal{Buffer::scratch, 0, 0};

}  // namespace mutirao::barrier
