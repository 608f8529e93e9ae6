#include "core/selection/investment.h"

#include <algorithm>

namespace mutirao {
namespace {

/// So many times what it costs the program must have run, and must be won back.
constexpr double least_costs_run = 10, least_costs_won = 2;
/// Where an earlier run won nothing by it. Things may have changed, and that loses no more than a fortieth.
constexpr double least_costs_run_in_vain = 40;
/// Of what it has run: it is made at the next point only, and what is to be won must be found out first.
constexpr double least_to_go = 1.5;
/// Who has run so much longer than before goes on for as long as nobody knows.
constexpr double much_longer = 1.25;

}  // namespace

bool pays(const Investment& investment) {
    const double length_us = investment.before ? investment.before->length_s * 1e6 : 0;
    const bool is_known = much_longer * length_us > investment.ran_us;
    const double to_go_us = is_known ? std::max(length_us - investment.ran_us, 0.0) : investment.ran_us;
    const double wanted_us = least_costs_won * investment.cost_us;
    const std::optional<double> saved = is_known ? investment.before->saved_share : std::nullopt;
    if (saved && *saved * to_go_us >= wanted_us) return true;
    if (is_known && to_go_us < least_to_go * investment.ran_us) return false;
    const double costs = saved ? least_costs_run_in_vain : least_costs_run;
    return investment.ran_us >= costs * investment.cost_us &&
           investment.gain_us * to_go_us >= wanted_us * investment.ran_us;
}

}  // namespace mutirao
