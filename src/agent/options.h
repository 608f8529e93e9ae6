// How an agent goes about its work. Equal on all agents of a job.
#pragma once

#include <string>

#include "core/forecast/change_detector.h"

namespace mutirao::agent {

/// Links outside the tree are probed so many times more rarely.
constexpr int rarer_outside_tree = 10;

struct Options {
    int tree_period_ms = 250;     ///< between probes of a link that the tree uses
    int other_period_ms = rarer_outside_tree * tree_period_ms;  ///< of others, on up to 24 hosts
    int dead_after_ms = 5000;     ///< a link that was silent for so long carries nothing
    int sensor_period_ms = 10'000;   ///< between readings of processor, memory and disk
    int bandwidth_period_ms = 600'000;  ///< between measurements of one pair of sites; 0: never
    int round_limit_ms = 10'000;  ///< a round of the tree that takes longer is started anew
    ChangeRule rule;
    std::string series_file;      ///< SQLite; empty: none is kept
};

}  // namespace mutirao::agent
