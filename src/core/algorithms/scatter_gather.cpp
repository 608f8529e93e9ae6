// Scatters, and the gathers that are the same in time's reverse. Blocks must be equal: ranks on the way know no others'
// lengths.
#include <algorithm>
#include <utility>
#include <vector>

#include "core/algorithms/dataflow.h"
#include "core/algorithms/equal_blocks.h"
#include "core/algorithms/over_placement.h"
#include "core/algorithms/trees.h"
#include "core/text/invariant.h"

namespace mutirao {
namespace {

Region turned(Region region) {
    if (region.buffer == Buffer::scratch) return region;
    region.buffer = region.buffer == Buffer::input ? Buffer::output : Buffer::input;
    return region;
}

/// From the last step to the first: what was sent is received, and what was the input is the output. The steps may read
/// no bytes twice.
Schedule backwards(const Schedule& schedule) {
    const auto last = static_cast<StepId>(schedule.size()) - 1;
    std::vector<std::vector<StepId>> after(schedule.size());
    Schedule result;
    for (StepId id = last; id >= 0; --id) {
        const Step& step = schedule.steps()[static_cast<std::size_t>(id)];
        const Region source = turned(step.source), target = turned(step.target);
        const std::vector<StepId>& followers = after[static_cast<std::size_t>(id)];
        switch (step.kind) {
            case StepKind::send: result.receive(step.peer, source, followers); break;
            case StepKind::receive: result.send(step.peer, target, followers); break;
            case StepKind::copy: result.copy(target, source, followers); break;
            case StepKind::reduce: broken_invariant("a reduction backwards (step, last step)", id, last);
        }
        for (const StepId dependency : schedule.dependencies(step))
            after[static_cast<std::size_t>(dependency)].push_back(last - id);
    }
    return result;
}

/// Brothers stay in the order in which their parent serves them.
std::vector<TreeVisit> farthest_first(const Request& request, int parent) {
    std::vector<TreeVisit> visits = nearest_first(*request.tree, request.rank, parent);
    std::stable_sort(visits.begin(), visits.end(), [](const TreeVisit& a, const TreeVisit& b) {
        return a.distance > b.distance;
    });
    return visits;
}

}  // namespace

// Each rank gets the blocks of its subtree in one piece, whose ranks are consecutive counted from the root, and passes
// on those of its children. From the root the one piece that goes over the last rank goes as two messages, so that
// nothing has to be packed, from any root.
//
// Cost, p ranks, blocks of n bytes: depth ceil(log2 p), p messages at most; a block is sent up to ceil(log2 p) times,
// so it is for short blocks. Scratch for up to p / 2 blocks.
Schedule scatter_binomial(const Request& request) {
    const int size = request.size;
    const int rank = virtual_rank(request.rank, request.root, size);
    const bool at_root = rank == 0;
    const TreePlace place = k_nomial_place(rank, size, 2);
    const Region mine = nth_block(Buffer::output, 0, request.length_bytes);
    const Blocks blocks = blocks_of(request);
    // The block of virtual rank r is the (r - rank)-th in the scratch memory.
    const auto subtree = [&](int top, bool between_root_and_child) {
        const int first = real_rank(top, request.root, size);
        const int count = binomial_subtree_end(top, size) - top;
        std::vector<BlockRun> runs{{first, count, 0}};
        if (between_root_and_child) runs = runs_of(first, count, size);
        std::vector<Region> messages;
        for (const BlockRun& run : runs) {
            const int begin = at_root ? run.first : top - rank + run.offset;
            messages.push_back(blocks.range(begin, begin + run.count, at_root ? Buffer::input : Buffer::scratch));
        }
        return messages;
    };
    const auto real = [&](int other) { return real_rank(other, request.root, size); };
    Dataflow flow;
    if (place.children.empty() && !at_root) {
        flow.receive(real(place.parent), mine);
        return std::move(flow).take();
    }
    if (!at_root) {
        for (const Region& message : subtree(rank, place.parent == 0)) flow.receive(real(place.parent), message);
    }
    for (const int child : place.children) {
        for (const Region& message : subtree(child, at_root)) flow.send(real(child), message);
    }
    flow.copy(at_root ? blocks.block(request.rank, Buffer::input) : blocks.block(0, Buffer::scratch), mine);
    return std::move(flow).take();
}

// Each block travels by itself, so that it goes on as soon as it has come, and over long links nobody waits for a
// subtree to be complete; those of the farthest ranks leave first, which have the longest way.
//
// Cost, p ranks, blocks of n bytes: as many messages as the ranks' depths add up to; an edge passes the blocks of
// the ranks below it, each once. Scratch for the blocks of the ranks below. The tree must hang from the root.
static Schedule scatter_tree(const Request& request) {
    Dataflow flow;
    const int parent = place_in(given_tree_from_root(request), request.rank).parent;
    const bool at_root = parent < 0;
    const Region mine = nth_block(Buffer::output, 0, request.length_bytes);
    int staged = 0;
    for (const TreeVisit& visit : farthest_first(request, parent)) {
        if (visit.rank == request.rank) continue;
        if (at_root) {
            flow.send(visit.branch, nth_block(Buffer::input, visit.rank, request.length_bytes));
            continue;
        }
        const Region block = nth_block(Buffer::scratch, staged++, request.length_bytes);
        flow.receive(parent, block);
        flow.send(visit.branch, block);
    }
    if (at_root) {
        flow.copy(nth_block(Buffer::input, request.root, request.length_bytes), mine);
    } else {
        flow.receive(parent, mine);
    }
    return std::move(flow).take();
}

// The root hands each host's blocks to the ranks of its own host, which share out the other hosts, and there one rank
// hands them round. In the paper the root sends to all hosts itself; sharing as in alltoall/two_level.
//
// Cost, H hosts of m ranks, blocks of n bytes: depth 3; one message over the network to each host, of m n bytes,
// of which a rank of the root's host sends (H - 1) / m; inside the root's host as many from the root. A block is
// moved up to three times, so it is for short blocks. Scratch for m blocks in each host, in the root's for
// (H - 1) / m times as many.
static Schedule scatter_two_level(const Request& request) {
    if (request.length_bytes == 0) return {};
    const Placement& placement = given_placement(request);
    const int hosts = placement.host_count(), host = placement.host_of(request.rank);
    const int root_host = placement.host_of(request.root);
    const auto at_distance = [&](int distance) { return (root_host + distance) % hosts; };
    const auto leader = [&](int its_host) { return placement.leader(its_host, request.root); };
    // The rank of the root's host that deals with the host at that distance; the root itself last, which has most to
    // do.
    const auto gate = [&](int distance) { return placement.beside(request.root, distance); };
    const Blocks blocks = blocks_of(request);
    const Region mine = nth_block(Buffer::output, 0, request.length_bytes);
    Dataflow flow;
    Packing packing(flow, request.length_bytes);
    const auto hand = [&](int rank, Region block) {
        rank == request.rank ? flow.copy(block, mine) : flow.send(rank, block);
    };
    const auto beside = placement.ranks_of(host);
    if (request.rank == request.root) {
        for (int distance = 1; distance < hosts; ++distance) {
            std::vector<Region> theirs;
            for (const int rank : placement.ranks_of(at_distance(distance)))
                theirs.push_back(blocks.block(rank, Buffer::input));
            const bool itself = gate(distance) == request.root;
            flow.send(itself ? leader(at_distance(distance)) : gate(distance), packing.packed(theirs));
        }
        for (const int rank : beside) hand(rank, blocks.block(rank, Buffer::input));
    } else if (request.rank == leader(host)) {
        const Region all = beside.size() == 1 ? mine : packing.room(beside.size());
        flow.receive(gate((host - root_host + hosts) % hosts), all);
        for (std::size_t i = 0; beside.size() > 1 && i < beside.size(); ++i) hand(beside[i], packing.block(all, i));
    } else {
        for (int distance = 1; host == root_host && distance < hosts; ++distance) {
            if (gate(distance) != request.rank) continue;
            const Region all = packing.room(placement.ranks_of(at_distance(distance)).size());
            flow.receive(request.root, all);
            flow.send(leader(at_distance(distance)), all);
        }
        flow.receive(leader(host), mine);
    }
    return std::move(flow).take();
}

std::vector<Algorithm> scatter_gather_rows() {
    using enum Collective;
    return {
        {.collective = scatter, .name = "binomial", .summary = "binomial tree over the ranks, subtrees in one piece",
         .source = "Thakur, Rabenseifner and Gropp 2005, doi:10.1177/1094342005051521",
         .build = scatter_binomial},
        {.collective = scatter, .name = "tree",
         .summary = "down a tree made from the measured network, block by block",
         .source = tree_sources,
         .build = scatter_tree, .trees = measured_trees()},
        {.collective = scatter, .name = "two_level",
         .summary = "each host's blocks in one message, which the root's neighbours send in turn",
         .source = "after MagPIe, Kielmann et al. 1999, doi:10.1145/301104.301116",
         .build = scatter_two_level},
        {.collective = gather, .name = "binomial", .summary = "binomial tree over the ranks, subtrees in one piece",
         .source = "Thakur, Rabenseifner and Gropp 2005, doi:10.1177/1094342005051521",
         .build = [](const Request& request) { return backwards(scatter_binomial(request)); }},
        {.collective = gather, .name = "tree",
         .summary = "up a tree made from the measured network, block by block",
         .source = tree_sources,
         .build = [](const Request& request) { return backwards(scatter_tree(request)); }, .trees = measured_trees()},
        {.collective = gather, .name = "two_level",
         .summary = "each host's blocks in one message, which the root's neighbours take in turn",
         .source = "after MagPIe, Kielmann et al. 1999, doi:10.1145/301104.301116",
         .build = [](const Request& request) { return backwards(scatter_two_level(request)); }},
    };
}

}  // namespace mutirao
