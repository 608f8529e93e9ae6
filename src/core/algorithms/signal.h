// A message without bytes: what counts is only what comes after it.
#pragma once

#include "core/schedule/schedule.h"

namespace mutirao {

inline constexpr Region signal{Buffer::scratch, 0, 0};

}  // namespace mutirao
