// Steps and bytes in words: for the checker's faults and the printer's text.
#pragma once

#include <string>
#include <string_view>

#include "core/schedule/schedule.h"

namespace mutirao {

std::string_view to_string(Buffer buffer);
std::string_view to_string(StepKind kind);

/// "output[0,8)".
std::string describe(const Region& region);

/// "send output[0,8) to 3", "reduce scratch[0,8) into output[0,8)".
std::string describe(const Step& step);

/// "rank 2 step 5 (send output[0,8) to 3)".
std::string describe(int rank, StepId id, const Step& step);

}  // namespace mutirao
