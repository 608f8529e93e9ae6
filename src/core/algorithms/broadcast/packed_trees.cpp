// The trees are packed over the measured network (packed.cpp): splitting over several is SplitStream (the first
// paper), and that a tree suits the links it goes over as far as others have not taken them is what packing adds.
//
// Cost, p hosts, k trees, n bytes: k (p - 1) messages of n / k bytes; depth and load as the trees have them. For
// long messages over long links. The trees must hang from the root.
#include "core/algorithms/over_tree.h"

namespace mutirao::broadcast {

static Schedule packed_trees(const Request& request) {
    const std::vector<Tree>& shares = given_tree(request).shares;
    if (shares.empty()) return over_given_tree(request);
    std::vector<TreePlace> places;
    for (const Tree& tree : shares) places.push_back(place_in(tree, request.rank));
    return pass_down_shares(places, request);
}

Algorithm packed_trees() {
    return {.collective = Collective::broadcast,
            .name = "packed_trees",
            .summary = "a share down each of many trees that leave each other room on the links",
            .source = "Castro et al. 2003, doi:10.1145/945445.945474; Alpert et al. 1995, doi:10.1109/43.406717",
            .build = packed_trees, .segmented = true, .segments_of_blocks = true, .trees = {TreeKind::packed},
            .level = Level::hosts, .least_bytes = 32768};
}

}  // namespace mutirao::broadcast
