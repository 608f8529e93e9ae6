// All ranks' schedules of one candidate, with made-up trees where it needs one. Only tests include
// this.
#pragma once

#include <algorithm>
#include <iterator>
#include <string>

#include "core/algorithms/algorithm.h"
#include "core/collectives/collective.h"
#include "core/collectives/test_promises.h"
#include "core/network/test_networks.h"
#include "core/selection/selection.h"

namespace mutirao::test {

/// Every row that builds schedules, with each radix and each kind of tree.
inline std::vector<Candidate> candidates_in_one_piece() {
    std::vector<Candidate> candidates;
    for (const CollectiveRow& row : collectives)
        std::ranges::copy(mutirao::candidates_in_one_piece(row.collective), std::back_inserter(candidates));
    std::erase_if(candidates, [](const Candidate& each) { return !each.algorithm->has_schedule(); });
    return candidates;
}

/// A tree of that kind over a random network; for a spanning tree, over random edges.
inline Tree random_tree(TreeKind kind, int size, int root) {
    const auto seed = static_cast<unsigned>(size);
    std::mt19937 random(seed);
    switch (kind) {
        case TreeKind::minimum_spanning:
            return hang_from(random_spanning_edges(random, size), root,
                             random_network(seed, size))
                .value();
        case TreeKind::shortest_path:
            return shortest_path_tree(random_network(seed, size), root, 1000).value();
        case TreeKind::greedy: return greedy_tree(random_network(seed, size), root, 1000).value();
        case TreeKind::two_level:
        case TreeKind::regions:
        case TreeKind::two_level_uneven:
        case TreeKind::regions_uneven: {
            std::vector<int> site_of;
            const auto sites = static_cast<int>(1 + random() % static_cast<unsigned>(size));
            for (int host = 0; host < size; ++host)
                site_of.push_back(host < sites ? host : static_cast<int>(random() % static_cast<unsigned>(sites)));
            Tree tree = two_level_tree(site_of, root);
            if (!is_uneven(kind)) return tree;
            tree.owned.resize(static_cast<std::size_t>(sites));
            for (int part = 0; part < owned_parts; ++part) ++tree.owned[random() % tree.owned.size()];
            return tree;
        }
        case TreeKind::packed:
        case TreeKind::packed_both_ways: {
            constexpr int shares = 3;
            Network network = random_network(seed, size);
            network.transport.initial_window_bytes = 1000;
            return packed_trees(network, root, shares * 520, kind == TreeKind::packed_both_ways).value();
        }
        case TreeKind::none: break;
    }
    return {};
}

/// The least whole number to whose power `base` is at least `size`.
inline int ceiling_log(int size, int base) {
    int log = 0;
    for (long long reached = 1; reached < size; reached *= base) ++log;
    return log;
}

/// Ranks on hosts: in turns, one host after another, or anywhere, by how many they are.
inline Placement some_placement(int size) {
    std::mt19937 random(static_cast<unsigned>(size));
    const int hosts = 1 + static_cast<int>(random() % static_cast<unsigned>(size));
    std::vector<int> host_of;
    for (int rank = 0; rank < size; ++rank) {
        const int by_turns = rank % hosts;
        const bool settled = rank < hosts;  // every host has a rank
        const int anywhere = settled ? rank : static_cast<int>(random() % static_cast<unsigned>(hosts));
        host_of.push_back(size % 3 == 0 ? by_turns : anywhere);
    }
    if (size % 3 == 1) std::sort(host_of.begin(), host_of.end());
    if (size % 3 == 2) std::shuffle(host_of.begin(), host_of.end(), random);
    return Placement(std::move(host_of));
}

/// Participants are ranks, whatever the candidate's level.
inline std::vector<Schedule> build_all(const Candidate& candidate, const CallShape& shape, int size,
                                       const Tree& tree) {
    std::vector<Schedule> schedules;
    const Placement placement = some_placement(size);
    for (int rank = 0; rank < size; ++rank) {
        const CallShape known = as_known_to(shape, rank, size);
        schedules.push_back(candidate.algorithm->build({.rank = rank,
                                                        .size = size,
                                                        .root = shape.root,
                                                        .length_bytes = shape.length_bytes,
                                                        .lengths = known.lengths,
                                                        .unit_bytes = shape.unit_bytes,
                                                        .commutes = shape.op.commutes,
                                                        .parameters = candidate.parameters,
                                                        .tree = &tree,
                                                        .placement = &placement}));
    }
    return schedules;
}

/// A call whose blocks are not equal, as it is with blocks of any lengths, many of them empty, and with all
/// bytes in one block; others as they are.
inline std::vector<CallShape> with_lengths(const CallShape& shape, int size) {
    const CollectiveRow& row = row_of(shape.collective);
    if (row.base == row.collective) return {shape};
    const bool exchange = row.in_blocks == InBlocks::own && !row.rooted;
    const auto blocks = static_cast<std::size_t>(exchange ? size * size : size);
    std::vector<CallShape> shapes(2, shape);
    std::mt19937 random(static_cast<unsigned>(blocks + shape.length_bytes));
    const std::size_t most_units = 2 * shape.length_bytes / shape.unit_bytes;
    for (std::size_t i = 0; i < blocks; ++i) {
        const bool empty = random() % 3 == 0;
        shapes[0].lengths.push_back(
            empty ? 0 : random() % (most_units + 1) * shape.unit_bytes);
    }
    shapes[1].lengths.assign(blocks, 0);
    shapes[1].lengths[random() % blocks] = static_cast<std::size_t>(size) * shape.length_bytes;
    for (CallShape& each : shapes) {
        each.length_bytes = row.in_blocks == InBlocks::own ? nominal_block_bytes
                                                           : mean_length_bytes(each.lengths);
    }
    return shapes;
}

/// What is worth trying of one collective among `size` ranks: roots, lengths, and for reductions
/// elements of several bytes and, where the algorithm can, operators that do not commute.
inline std::vector<CallShape> shapes_for(const Algorithm& algorithm, int size, const std::vector<int>& roots,
                                         const std::vector<std::size_t>& units) {
    const CollectiveRow& row = row_of(algorithm.collective);
    constexpr std::size_t unit_bytes = 3;
    std::vector<CallShape> shapes;
    for (const int root : roots) {
        if (!row.rooted && root != 0) continue;
        for (const std::size_t length : units) {
            CallShape shape{.collective = algorithm.collective, .root = root,
                            .length_bytes = length};
            if (algorithm.collective == Collective::barrier) shape.length_bytes = 0;
            if (row.reduces) {
                shape.unit_bytes = unit_bytes;
                shape.length_bytes *= unit_bytes;
            }
            for (CallShape each : with_lengths(shape, size)) {
                shapes.push_back(each);
                if (!row.reduces || !algorithm.keeps_order) continue;
                each.op.commutes = false;
                shapes.push_back(each);
            }
        }
    }
    return shapes;
}

inline std::string label(const Candidate& candidate, const CallShape& shape, int size) {
    return std::string(to_string(shape.collective)) + '/' + to_string(candidate) + ", ranks " +
           std::to_string(size) + ", root " + std::to_string(shape.root) + ", bytes " +
           std::to_string(shape.length_bytes) + (shape.lengths.empty() ? "" : ", uneven") +
           (shape.op.commutes ? "" : ", operands in order");
}

}  // namespace mutirao::test
