// Shows schedules to people and programs: text, JSON, and an SVG of who sends what when.
#pragma once

#include <string>
#include <vector>

#include "core/network/network.h"
#include "core/schedule/schedule.h"

namespace mutirao {

/// One line per step and rank.
std::string to_text(const std::vector<Schedule>& schedules);

/// {"ranks":[{"rank":0,"steps":[{"id":0,"kind":"receive","peer":3,"offset_bytes":0,...,"after":[...]}]}]}
std::string to_json(const std::vector<Schedule>& schedules);

/// Time runs to the right, a row per rank, an arrow per message, timed by the predictor.
std::string to_svg(const std::vector<Schedule>& schedules, const Network& network,
                   const std::string& title);

}  // namespace mutirao
