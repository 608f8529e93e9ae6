// Prefix sums by hosts: the ranks of a host scan, the last of them, which then has its host's sum,
// scan between the hosts, and what comes before a host is handed round inside and added there
// (Sanders and Traeff 2006, doi:10.1007/11846802_15, on clusters of SMP nodes).
//
// Prefixes go by ranks, so a host is taken to be a run of consecutive ranks: where a host's ranks
// are not numbered one after another it counts as several.
#pragma once

#include "core/algorithms/algorithm.h"

namespace mutirao {

enum class OwnOperand : unsigned char { included, left_out };

/// Every run of consecutive ranks that share a host, as a host of its own.
Placement runs_on_hosts(const Placement& placement);

Schedule two_level_scan(const Request& request, OwnOperand own);

}  // namespace mutirao
