// two_level_scan (over_placement.h) says how.
//
// Cost, H hosts of m ranks, n bytes: 2 ceil(log2 m) + ceil(log2 H) messages in a row, of which ceil(log2 H) go
// between hosts; a host sends and receives as many of n bytes over the network, where recursive doubling among all
// ranks has m times as many. A rank combines up to ceil(log2 m) + 1 times n bytes, and the last of a host 2
// ceil(log2 H) times more. Ranks of a host should be consecutive; where none are, it is recursive doubling.
#include "core/algorithms/over_placement.h"

namespace mutirao::scan {

static Schedule two_level(const Request& request) {
    return two_level_scan(request, OwnOperand::included);
}

Algorithm two_level() {
    return {.collective = Collective::scan,
            .name = "two_level",
            .summary = "sums inside each host and between the hosts' last ranks, then added inside",
            .source = "Sanders and Traeff 2006, doi:10.1007/11846802_15",
            .build = two_level, .keeps_order = true};
}

}  // namespace mutirao::scan
