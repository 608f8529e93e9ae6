// Schedules, steps and bytes for people and programs: in words, as text and as JSON.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/network/placement.h"
#include "core/schedule/schedule.h"

namespace mutirao {

/// One line per step and rank; where hosts have several ranks, host by host.
std::string to_text(const std::vector<Schedule>& schedules, const Placement& placement = {});

/// {"ranks":[{"rank":0,"scratch_bytes":0,"steps":[STEP,...]},...]}, on one line. A STEP is
/// {"id":0,"kind":"send","peer":3,"buffer":"output","offset_bytes":0,"length_bytes":8,"after":[]}
/// or, for copy and reduce,
/// {"id":1,"kind":"copy","source":{"buffer":...},"target":{"buffer":...},"after":[0]},
/// a reduction with "source_first":false, or true if target = source op target.
std::string to_json(const std::vector<Schedule>& schedules);

std::string_view to_string(Buffer buffer);
std::string_view to_string(StepKind kind);

/// "send output[0,8) to 3", "reduce scratch[0,8) into output[0,8)".
std::string describe(const Step& step);

}  // namespace mutirao
