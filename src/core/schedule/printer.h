// Shows schedules to people and programs: text and JSON.
#pragma once

#include <string>
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

}  // namespace mutirao
