// MagPIe's broadcast (Kielmann, Hofman, Bal, Plaat and Bhoedjang 1999,
// doi:10.1145/301104.301116): each site is reached once, from the root, and the message goes on
// inside it by a binomial tree. The given tree says which hosts are a site.
//
// Cost, q sites of up to m hosts: q - 1 messages between sites, one after the other over no site
// twice; depth 1 + ceil(log2 m). Needs a tree of kind two_level that hangs from the root.
#include "core/algorithms/over_tree.h"

namespace mutirao::broadcast {

Schedule two_level(const Request& request) { return over_given_tree(request); }

}  // namespace mutirao::broadcast
