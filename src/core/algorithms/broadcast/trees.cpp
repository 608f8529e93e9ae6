// Broadcasts that pass the message from parent to children: each is a choice of places in a tree, and nothing else.
#include <vector>

#include "core/algorithms/trees.h"

namespace mutirao::broadcast {

// A rank serves up to k - 1 children per digit of base k; what pays where starting a send is cheap beside a link's
// latency. Radix 2 is the binomial tree, with MPICH's numbering: ranks relative to the root, the highest child first
// (the tree itself is that of Johnsson and Ho 1989, doi:10.1109/12.29465).
//
// Cost, p ranks, radix k, n bytes: depth ceil(log_k p), p - 1 messages; the root sends (k - 1) ceil(log_k p) n bytes.
// In s segments the depth is passed once and each further segment follows at the root's pace.
Schedule k_nomial(const Request& request) {
    const int rank = virtual_rank(request.rank, request.root, request.size);
    return over_virtual_tree(
        request, k_nomial_place(rank, request.size, request.parameters.radix));
}

Algorithm binomial() {
    return {.name = "binomial",
            .summary = "binomial tree over the ranks, as MPICH",
            .source = "Thakur, Rabenseifner and Gropp 2005, doi:10.1177/1094342005051521",
            .build = k_nomial, .segmented = true, .level = Level::hosts, .inside_a_host = true};
}

Algorithm k_nomial() {
    return {.name = "k_nomial",
            .summary = "k-nomial tree over the ranks: shallower, with busier ranks",
            .source = "Pjesivac-Grbovic et al. 2007, doi:10.1007/s10586-007-0012-0",
            .build = k_nomial, .segmented = true, .radices = {3, 4, 8}, .level = Level::hosts,
            .inside_a_host = true};
}

// With segments, it moves a long message at the speed of one link (the paper's chain, with one chain).
//
// Cost, p ranks, n bytes in s segments: depth p - 1, (p - 1) s messages; every rank sends n bytes at most, and the
// last has the whole after p + s - 2 steps of n / s bytes.
static Schedule chain(const Request& request) {
    const int rank = virtual_rank(request.rank, request.root, request.size);
    TreePlace place{.parent = rank - 1, .children = {}};
    if (rank + 1 < request.size) place.children.push_back(rank + 1);
    return over_virtual_tree(request, place);
}

Algorithm chain() {
    return {.name = "chain",
            .summary = "each rank passes the message on to the next: a pipeline",
            .source = "Pjesivac-Grbovic et al. 2007, doi:10.1007/s10586-007-0012-0",
            .build = chain, .segmented = true, .level = Level::hosts, .inside_a_host = true};
}

// Down the tree that is given, or a share down each of packed ones. It must hang from the root.
static Schedule over_trees(const Request& request) {
    std::vector<TreePlace> places;
    for (const Tree& tree : shares_of(given_tree_from_root(request))) places.push_back(place_in(tree, request.rank));
    return pass_down_shares(places, request);
}

// The given tree says which hosts are a site.
//
// Cost, q sites of up to m hosts: q - 1 messages between sites, one after the other over no site twice; depth
// 1 + ceil(log2 m).
Algorithm two_level() {
    return {.name = "two_level",
            .summary = "once to each site, then binomial trees inside, as MagPIe",
            .source = "Kielmann et al. 1999, doi:10.1145/301104.301116",
            .build = over_trees, .segmented = true, .trees = {TreeKind::two_level}, .level = Level::hosts};
}

// The minimum spanning tree that the hosts maintain, the shortest paths from the root, or the greedy earliest
// completion.
//
// Cost, p ranks: p - 1 messages per segment, depth and load as the tree has them.
Algorithm tree() {
    return {.name = "tree",
            .summary = "a tree made from the measured network",
            .source = tree_sources,
            .build = over_trees, .segmented = true, .trees = measured_trees(), .level = Level::hosts};
}

// The trees are packed over the measured network (packed.cpp): splitting over several is SplitStream
// (the first paper), and that a tree suits the links it goes over as far as others have not taken them is what
// packing adds.
//
// Cost, p hosts, k trees, n bytes: k (p - 1) messages of n / k bytes; depth and load as the trees have them. For
// long messages over long links.
Algorithm packed_trees() {
    return {.name = "packed_trees",
            .summary = "a share down each of many trees that leave each other room on the links",
            .source = packed_tree_sources,
            .build = over_trees, .segmented = true, .segments_of_blocks = true, .trees = {TreeKind::packed},
            .level = Level::hosts, .least_bytes = least_bytes_of_packed_trees};
}

}  // namespace mutirao::broadcast
