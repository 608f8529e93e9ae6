// The given tree says which hosts are a site.
//
// Cost, q sites of up to m hosts: q - 1 messages between sites, one after the other over no site twice; depth 1 +
// ceil(log2 m). The tree must hang from the root.
#include "core/algorithms/over_tree.h"

namespace mutirao::broadcast {

static Schedule two_level(const Request& request) { return over_given_tree(request); }

Algorithm two_level() {
    return {.collective = Collective::broadcast,
            .name = "two_level",
            .summary = "once to each site, then binomial trees inside, as MagPIe",
            .source = "Kielmann et al. 1999, doi:10.1145/301104.301116",
            .build = two_level, .segmented = true, .trees = {TreeKind::two_level}, .level = Level::hosts};
}

}  // namespace mutirao::broadcast
