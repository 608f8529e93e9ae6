// Shows schedules to people and programs: text, JSON, and an SVG of who sends what when.
#pragma once

#include <string>
#include <vector>

#include "core/network/rank_network.h"
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

/// Time runs to the right, a row per rank, an arrow per message, timed by the predictor. Of many
/// messages only as many as can be told apart are drawn, and the picture says so.
/// labels[r] stands beside rank r's number; empty: numbers only.
/// Where hosts have several ranks, rows stand host by host.
std::string to_svg(const std::vector<Schedule>& schedules, const RankNetwork& network,
                   const std::string& title, const std::vector<std::string>& labels = {});

/// One rank per host, as the predictor's.
std::string to_svg(const std::vector<Schedule>& schedules, const Network& network,
                   const std::string& title, const std::vector<std::string>& labels = {});

}  // namespace mutirao
