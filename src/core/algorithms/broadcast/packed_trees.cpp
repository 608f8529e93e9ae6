// A share of the message down each of many trees, which are packed over the measured network (packed.cpp):
// splitting over several trees is Castro et al.'s SplitStream (2003, doi:10.1145/945445.945474), and that a
// tree suits the links it goes over as far as others have not taken them is what packing adds.
//
// Cost, p hosts, k trees, n bytes: k (p - 1) messages of n / k bytes; depth and load as the trees have them.
// For long messages over long links. Needs packed trees over the same hosts that hang from the root.
#include "core/algorithms/over_tree.h"

namespace mutirao::broadcast {

Schedule packed_trees(const Request& request) {
    const std::vector<Tree>& shares = given_tree(request).shares;
    if (shares.empty()) return over_given_tree(request);
    std::vector<TreePlace> places;
    for (const Tree& tree : shares) places.push_back(place_in(tree, request.rank));
    return pass_down_shares(places, request);
}

}  // namespace mutirao::broadcast
