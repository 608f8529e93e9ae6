// As scan/two_level.cpp, with the rank's own operand left out.
//
// Cost: as there, but that a rank combines up to 2 ceil(log2 m) + 1 times n bytes, and the last of a host 2
// ceil(log2 H) times more.
#include "core/algorithms/over_placement.h"

namespace mutirao::exscan {

static Schedule two_level(const Request& request) {
    return two_level_scan(request, OwnOperand::left_out);
}

Algorithm two_level() {
    return {.collective = Collective::exscan,
            .name = "two_level",
            .summary = "sums inside each host and between the hosts' last ranks, then added inside",
            .source = "Sanders and Traeff 2006, doi:10.1007/11846802_15",
            .build = two_level, .keeps_order = true};
}

}  // namespace mutirao::exscan
