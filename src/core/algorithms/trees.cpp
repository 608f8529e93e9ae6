// All that goes down or up a tree of ranks: each algorithm is a choice of places in it, and nothing else.
#include "core/algorithms/trees.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <utility>

#include "core/algorithms/dataflow.h"
#include "core/algorithms/equal_blocks.h"
#include "core/algorithms/reduction.h"
#include "core/text/invariant.h"

namespace mutirao {

Schedule pass_down_shares(std::span<const TreePlace> places, const Request& request) {
    const Blocks shares(request.length_bytes, static_cast<int>(places.size()));
    std::vector<std::vector<Region>> segments;
    for (std::size_t share = 0; share < places.size(); ++share) {
        segments.push_back(segments_of(shares.block(static_cast<int>(share)),
                                       request.parameters.segment_bytes));
    }
    Schedule schedule;
    // The first share is never shorter than another.
    for (std::size_t turn = 0; turn < segments.front().size(); ++turn) {
        for (std::size_t share = 0; share < places.size(); ++share) {
            if (turn >= segments[share].size()) continue;
            const TreePlace& place = places[share];
            std::vector<StepId> arrival;
            if (place.parent >= 0) arrival.push_back(schedule.receive(place.parent, segments[share][turn]));
            for (const int child : place.children) schedule.send(child, segments[share][turn], arrival);
        }
    }
    return schedule;
}

Schedule over_place(const Request& request, const TreePlace& place) {
    return pass_down_shares(std::span(&place, 1), request);
}

const Tree& given_tree(const Request& request) {
    if (request.tree == nullptr) {
        broken_invariant("tree algorithm without a tree (ranks, root)", request.size,
                         request.root);
    }
    if (request.tree->size() != request.size) {
        broken_invariant("tree does not fit (its ranks, ranks)", request.tree->size(),
                         request.size);
    }
    return *request.tree;
}

const Tree& given_tree_from_root(const Request& request) {
    const Tree& tree = given_tree(request);
    if (tree.root != request.root) broken_invariant("tree does not fit (its root, root)", tree.root, request.root);
    return tree;
}

TreePlace place_in(const Tree& tree, int of_rank) {
    const auto rank = static_cast<std::size_t>(of_rank);
    return {tree.parent[rank], tree.children[rank]};
}

std::vector<int> neighbours_in(const Tree& tree, int rank) {
    const auto index = static_cast<std::size_t>(rank);
    std::vector<int> neighbours = tree.children[index];
    if (tree.parent[index] >= 0) neighbours.insert(neighbours.begin(), tree.parent[index]);
    return neighbours;
}

std::vector<TreeVisit> nearest_first(const Tree& tree, int from, int barred) {
    std::vector<TreeVisit> order{{from, -1, -1, 0}};
    for (std::size_t next = 0; next < order.size(); ++next) {
        const TreeVisit at = order[next];
        for (const int neighbour : neighbours_in(tree, at.rank)) {
            if (neighbour == at.previous || (next == 0 && neighbour == barred)) continue;
            order.push_back({neighbour, next == 0 ? neighbour : at.branch, at.rank,
                             at.distance + 1});
        }
    }
    return order;
}

namespace {

/// Packed trees, each for an equal share of the message; otherwise the tree itself.
std::span<const Tree> shares_of(const Tree& tree) {
    return tree.shares.empty() ? std::span(&tree, 1) : std::span(tree.shares);
}

/// A place over virtual ranks, with the request's root, length and segments.
Schedule over_virtual_tree(const Request& request, const TreePlace& place) {
    return over_place(request, with_real_ranks(place, request.root, request.size));
}

Algorithm tree_row(Collective collective, std::string_view summary, Build* build, Level level = Level::ranks) {
    return {.collective = collective, .name = "tree", .summary = summary,
            .source = tree_sources,
            .build = build, .segmented = true, .trees = measured_trees(), .level = level};
}

/// Of a shorter message there are no shares worth a tree.
constexpr std::size_t least_bytes_of_packed_trees = 32768;

Algorithm packed_row(Collective collective, std::string_view summary, Build* build, TreeKind kind) {
    return {.collective = collective, .name = "packed_trees", .summary = summary,
            .source = "Castro et al. 2003, doi:10.1145/945445.945474; Alpert et al. 1995, doi:10.1109/43.406717",
            .build = build, .segmented = true, .segments_of_blocks = true, .trees = {kind},
            .least_bytes = least_bytes_of_packed_trees};
}

}  // namespace

// A rank serves up to k - 1 children per digit of base k; what pays where starting a send is cheap beside a link's
// latency. Radix 2 is the binomial tree, with MPICH's numbering: ranks relative to the root, the highest child first
// (the tree itself is that of Johnsson and Ho 1989, doi:10.1109/12.29465).
//
// Cost, p ranks, radix k, n bytes: depth ceil(log_k p), p - 1 messages; the root sends (k - 1) ceil(log_k p) n bytes.
// In s segments the depth is passed once and each further segment follows at the root's pace.
Schedule broadcast_k_nomial(const Request& request) {
    const int rank = virtual_rank(request.rank, request.root, request.size);
    return over_virtual_tree(request, k_nomial_place(rank, request.size, request.parameters.radix));
}

// With segments, it moves a long message at the speed of one link (the paper's chain, with one chain).
//
// Cost, p ranks, n bytes in s segments: depth p - 1, (p - 1) s messages; every rank sends n bytes at most, and the
// last has the whole after p + s - 2 steps of n / s bytes.
static Schedule broadcast_chain(const Request& request) {
    const int rank = virtual_rank(request.rank, request.root, request.size);
    return over_virtual_tree(request, chain_place(rank, request.size));
}

// Down the tree that is given, or a share down each of packed ones. It must hang from the root.
//
// Cost, p ranks: p - 1 messages per segment, depth and load as the tree has them; k packed trees pass k times as many
// of a k-th. A two-level tree of q sites of up to m hosts: q - 1 messages between sites, one after the other over no
// site twice; depth 1 + ceil(log2 m).
//
// Splitting over several trees is SplitStream (the first paper of packed_trees); that a tree suits the links it goes
// over as far as others have not taken them is what packing adds (packed.cpp). For long messages over long links.
static Schedule broadcast_over_trees(const Request& request) {
    std::vector<TreePlace> places;
    for (const Tree& tree : shares_of(given_tree_from_root(request))) places.push_back(place_in(tree, request.rank));
    return pass_down_shares(places, request);
}

namespace {

/// A rank's place in a tree whose children's results go before and after its own operand.
struct UpwardPlace {
    int parent = -1;  ///< -1: the root
    std::vector<int> before{};
    std::vector<int> after{};
};

UpwardPlace mirrored(const TreePlace& place) {
    return {.parent = place.parent, .after = {place.children.rbegin(), place.children.rend()}};
}

/// Every part goes up as soon as the children's are combined with it, and is settled at the root of the tree.
std::vector<Partial> pass_up(std::vector<Partial> parts, const UpwardPlace& place) {
    for (Partial& part : parts) {
        part.combine(place.before, place.after);
        place.parent >= 0 ? part.send(place.parent) : part.settle();
    }
    return parts;
}

Schedule up(const Request& request, const UpwardPlace& place) {
    Dataflow flow;
    pass_up(parts_of(request, whole_message(flow, request, request.rank == request.root)), place);
    return std::move(flow).take();
}

struct ShareOnItsWay {
    TreePlace place;
    std::vector<Partial> parts;
};
/// A share of the message up each of Request::tree's packed trees, or all of it up the tree where these are none. The
/// last tree first: that is a broadcast over them in time's reverse. By the trees' numbers.
std::vector<ShareOnItsWay> pass_up_shares(const Request& request, const Partial& whole) {
    const std::span<const Tree> trees = shares_of(given_tree(request));
    const Blocks shares(request.length_bytes, static_cast<int>(trees.size()), request.unit_bytes);
    std::vector<ShareOnItsWay> result(trees.size());
    for (std::size_t i = trees.size(); i-- > 0;) {
        const TreePlace place = place_in(trees[i], request.rank);
        Partial share = whole;
        share.narrow(shares.block(static_cast<int>(i)));
        result[i] = {place, pass_up(parts_of(request, share), mirrored(place))};
    }
    return result;
}

/// Up a tree over virtual ranks, whose children and their subtrees follow their parent in ranks. Ranks are counted from
/// the root, or from rank 0 if operands must stay in order; rank 0 then hands the result to the root.
Schedule up_virtual_tree(const Request& request, const std::function<TreePlace(int rank)>& place_of) {
    const int top = request.commutes ? request.root : 0;
    TreePlace place = place_of(virtual_rank(request.rank, top, request.size));
    std::sort(place.children.begin(), place.children.end());
    place = with_real_ranks(place, top, request.size);

    Dataflow flow;
    const bool is_root = request.rank == request.root;
    const auto parts = pass_up(parts_of(request, whole_message(flow, request, is_root)),
                               {.parent = place.parent, .after = place.children});
    for (const Partial& part : parts) {
        if (request.rank == top && !is_root) part.send(request.root);
        if (is_root && request.rank != top) flow.receive(top, part.home());
    }
    return std::move(flow).take();
}

/// The top of the balanced tree of these ranks.
int middle_of(int first, int end) { return first + (end - first) / 2; }

UpwardPlace in_order_place(const Request& request) {
    UpwardPlace place;
    int first = 0;
    int end = request.size;
    int top = request.root;
    while (top != request.rank) {
        place.parent = top;
        (request.rank < top ? end : first) = request.rank < top ? top : top + 1;
        top = middle_of(first, end);
    }
    if (first < top) place.before.push_back(middle_of(first, top));
    if (top + 1 < end) place.after.push_back(middle_of(top + 1, end));
    return place;
}

}  // namespace

Schedule up_from_place(const Request& request, const TreePlace& place) { return up(request, mirrored(place)); }

// Radices other than 2: Pjesivac-Grbovic et al. 2007, doi:10.1007/s10586-007-0012-0. The ranks below a child
// follow its parent's in a row, so operands stay in order if they are counted from rank 0.
//
// Cost, p ranks, radix k, n bytes: depth ceil(log_k p), p - 1 messages; a rank receives and combines up to (k - 1)
// ceil(log_k p) n bytes. One more message of n bytes, from rank 0 to the root, where operands must stay in order.
Schedule reduce_k_nomial(const Request& request) {
    return up_virtual_tree(request, [&](int rank) {
        return k_nomial_place(rank, request.size, request.parameters.radix);
    });
}

// With segments, it moves a long message at the speed of one link.
//
// Cost, p ranks, n bytes in s segments: depth p - 1, (p - 1) s messages; every rank receives, combines and sends
// n bytes at most; p + s - 2 steps of n / s bytes. One more, from rank 0 to the root, where operands must stay in
// order.
static Schedule reduce_chain(const Request& request) {
    return up_virtual_tree(request, [&](int rank) { return chain_place(rank, request.size); });
}

// What comes from a rank's children is combined on either side of its own operand. Open MPI's tree hangs from the
// last rank and needs one message more to the root; here the root itself is on top, with the balanced trees of the
// ranks before and after it below.
//
// Cost, p ranks, n bytes in s segments: depth at most 1 + ceil(log2 p), (p - 1) s messages; a rank receives at
// most 2 n bytes. Operands stay in order, wherever the root is.
static Schedule reduce_in_order_binary(const Request& request) { return up(request, in_order_place(request)); }

// The broadcast in time's reverse; links are taken to be alike in both directions.
//
// Cost, p ranks: p - 1 messages per segment, depth and load as the tree has them. It must hang from the root, and
// the operator commute: ranks below a child may be any.
static Schedule reduce_over_trees(const Request& request) {
    Dataflow flow;
    pass_up_shares(request, whole_message(flow, request, request.rank == request.root));
    return std::move(flow).take();
}

// Up and down the tree, or a share over each of packed trees. A segment goes down as soon as it is reduced, while later
// ones still come up.
//
// Cost, p ranks: 2 (p - 1) messages per segment, twice the depth of the tree, which may hang from any rank; every
// link carries the message once in each direction. Over packed trees from the host that is nearest to all there is
// hardly a longer way than between the two farthest.
static Schedule allreduce_over_trees(const Request& request) {
    Dataflow flow;
    for (const auto& [place, parts] : pass_up_shares(request, whole_message(flow, request, true))) {
        for (const Partial& part : parts) {
            if (place.parent >= 0) flow.receive(place.parent, part.home());
            for (const int child : place.children) flow.send(child, part.home());
        }
    }
    return std::move(flow).take();
}

// A segment goes down as soon as it is reduced, while later ones still come up.
//
// Cost, p ranks, n bytes, radix k: depth 2 ceil(log_k p); 2 (p - 1) messages of n bytes in all. As the paper's
// collectives of short vectors, which go through one rank, in fewer messages than of an exchange in which all send.
static Schedule allreduce_reduce_broadcast(const Request& request) {
    Schedule schedule = reduce_k_nomial(request);
    schedule.append(broadcast_k_nomial(request));
    return schedule;
}

// Through one rank as well.
//
// Cost, p ranks, blocks of n bytes, radix k: depth ceil(log_k p) + ceil(log2 p); 2 (p - 1) messages in all; up to
// ceil(log_k p) (k - 1) p n bytes enter rank 0. For short blocks, and for operators that do not commute. Scratch for p
// blocks and for those that wait.
static Schedule reduce_scatter_block_reduce_scatter(const Request& request) {
    Request whole = request;
    whole.length_bytes *= static_cast<std::size_t>(request.size);
    const bool collects = request.rank == request.root;
    const Region reduced{Buffer::scratch, 0, collects ? whole.length_bytes : 0};
    Schedule schedule;
    schedule.append(reduce_k_nomial(whole), {}, {.output = reduced});
    schedule.append(scatter_binomial(request), {}, {.input = reduced});
    return schedule;
}

// Through one rank as well, up and down a binomial tree. Every rank keeps the blocks of its subtree, which are
// consecutive, and gets from its parent only the others, in up to two messages around them.
//
// Cost, p ranks, blocks of n bytes: depth 2 ceil(log2 p); 3 (p - 1) messages in all; (p - 1) n bytes enter a rank, and
// up to ceil(log2 p) times as many leave it. For short blocks, or where messages are dear.
static Schedule allgather_gather_broadcast(const Request& request) {
    Dataflow flow;
    const int size = request.size;
    const Blocks all = blocks_of(request);
    const auto blocks = [&](int first, int end) { return all.range(first, end); };
    const auto subtree_end = [&](int rank) { return binomial_subtree_end(rank, size); };
    const TreePlace place = k_nomial_place(request.rank, size, 2);

    flow.copy(own_input(request), blocks(request.rank, request.rank + 1));
    for (const int child : place.children) flow.receive(child, blocks(child, subtree_end(child)));
    if (place.parent >= 0) {
        const int end = subtree_end(request.rank);
        flow.send(place.parent,
                  place.children.empty() ? own_input(request) : blocks(request.rank, end));
        flow.receive(place.parent, blocks(0, request.rank));
        flow.receive(place.parent, blocks(end, size));
    }
    for (const int child : place.children) {
        flow.send(child, blocks(0, child));
        flow.send(child, blocks(subtree_end(child), size));
    }
    return std::move(flow).take();
}

// What comes from one neighbour goes on to all others at once, so every block passes every edge at most once, and
// nothing goes to the root to come back.
//
// Cost, p ranks, blocks of n bytes: p (p - 1) messages in all, p of them over each edge in its two directions
// together; depth the tree's diameter, wherever it hangs from. A rank with d neighbours sends (d - 1) (p - 1) + 1
// messages.
static Schedule allgather_tree(const Request& request) {
    const Blocks blocks = blocks_of(request);
    Dataflow flow;
    const Tree& tree = given_tree(request);
    const std::vector<int> neighbours = neighbours_in(tree, request.rank);
    for (const int neighbour : neighbours) flow.send(neighbour, own_input(request));
    for (const TreeVisit& visit : nearest_first(tree, request.rank)) {
        if (visit.rank == request.rank) continue;
        const Region block = blocks.block(visit.rank);
        flow.receive(visit.branch, block);
        for (const int neighbour : neighbours) {
            if (neighbour != visit.branch) flow.send(neighbour, block);
        }
    }
    flow.copy(own_input(request), blocks.block(request.rank));
    return std::move(flow).take();
}

// A rank signals to a neighbour once it has heard from all its others, so what comes over an edge speaks for all
// ranks behind it. A tree barrier (Mellor-Crummey and Scott 1991, doi:10.1145/103727.103729) gathers at the root
// and returns from there; here the two directions of an edge may pass each other, and nobody waits for an echo of
// its own signal.
//
// Cost, p ranks: 2 (p - 1) messages; a rank is done after the longest path that ends at it, so all are after the
// tree's diameter, wherever it hangs from.
static Schedule barrier_tree(const Request& request) {
    Schedule schedule;
    const std::vector<int> neighbours = neighbours_in(given_tree(request), request.rank);
    std::vector<StepId> heard;
    heard.reserve(neighbours.size());
    for (const int neighbour : neighbours) heard.push_back(schedule.receive(neighbour, signal));
    for (std::size_t i = 0; i < neighbours.size(); ++i) {
        // The step to be left out of the dependencies comes last for a moment.
        std::swap(heard[i], heard.back());
        schedule.send(neighbours[i], signal, Schedule::After(heard).first(heard.size() - 1));
        std::swap(heard[i], heard.back());
    }
    return schedule;
}

std::vector<Algorithm> trees_rows() {
    using enum Collective;
    return {
        {.collective = broadcast, .name = "binomial", .summary = "binomial tree over the ranks, as MPICH",
         .source = "Thakur, Rabenseifner and Gropp 2005, doi:10.1177/1094342005051521",
         .build = broadcast_k_nomial, .segmented = true, .level = Level::hosts, .inside_a_host = true},
        {.collective = broadcast, .name = "k_nomial",
         .summary = "k-nomial tree over the ranks: shallower, with busier ranks",
         .source = "Pjesivac-Grbovic et al. 2007, doi:10.1007/s10586-007-0012-0",
         .build = broadcast_k_nomial, .segmented = true, .radices = {3, 4, 8}, .level = Level::hosts,
         .inside_a_host = true},
        {.collective = broadcast, .name = "chain", .summary = "each rank passes the message on to the next: a pipeline",
         .source = "Pjesivac-Grbovic et al. 2007, doi:10.1007/s10586-007-0012-0",
         .build = broadcast_chain, .segmented = true, .level = Level::hosts, .inside_a_host = true},
        {.collective = broadcast, .name = "two_level",
         .summary = "once to each site, then binomial trees inside, as MagPIe",
         .source = "Kielmann et al. 1999, doi:10.1145/301104.301116",
         .build = broadcast_over_trees, .segmented = true, .trees = {TreeKind::two_level}, .level = Level::hosts},
        tree_row(broadcast, "a tree made from the measured network", broadcast_over_trees, Level::hosts),
        packed_row(broadcast, "a share down each of many trees that leave each other room on the links",
                   broadcast_over_trees, TreeKind::packed),
        {.collective = reduce, .name = "k_nomial", .summary = "k-nomial tree over the ranks, binomial for radix 2",
         .source = "Thakur, Rabenseifner and Gropp 2005, doi:10.1177/1094342005051521",
         .build = reduce_k_nomial, .segmented = true, .radices = {2, 4, 8}, .keeps_order = true},
        {.collective = reduce, .name = "chain", .summary = "each rank adds its operand and passes it on: a pipeline",
         .source = "Pjesivac-Grbovic et al. 2007, doi:10.1007/s10586-007-0012-0",
         .build = reduce_chain, .segmented = true, .keeps_order = true},
        {.collective = reduce, .name = "in_order_binary",
         .summary = "a binary tree with every rank between its children's ranks",
         .source = "Open MPI; Pjesivac-Grbovic et al. 2007, doi:10.1007/s10586-007-0012-0",
         .build = reduce_in_order_binary, .segmented = true, .keeps_order = true},
        tree_row(reduce, "up a tree made from the measured network", reduce_over_trees),
        packed_row(reduce, "a share up each of many trees that leave each other room on the links",
                   reduce_over_trees, TreeKind::packed),
        tree_row(allreduce, "up and down a tree made from the measured network", allreduce_over_trees),
        packed_row(allreduce, "a share up and down each of many trees that leave each other room on the links",
                   allreduce_over_trees, TreeKind::packed_both_ways),
        {.collective = allreduce, .name = "reduce_broadcast", .summary = "up and down a k-nomial tree over the ranks",
         .source = "Chan et al. 2007, doi:10.1002/cpe.1206",
         .build = allreduce_reduce_broadcast, .segmented = true, .radices = {2, 4, 8}, .keeps_order = true},
        {.collective = reduce_scatter_block, .name = "reduce_scatter",
         .summary = "reduced to rank 0 over a k-nomial tree, then scattered over a binomial one",
         .source = "Chan et al. 2007, doi:10.1002/cpe.1206",
         .build = reduce_scatter_block_reduce_scatter, .radices = {2, 4, 8}, .keeps_order = true},
        {.collective = allgather, .name = "gather_broadcast",
         .summary = "up a binomial tree to rank 0, and down again what a subtree lacks",
         .source = "Chan et al. 2007, doi:10.1002/cpe.1206",
         .build = allgather_gather_broadcast, .blocks = InBlocks::uneven},
        {.collective = allgather, .name = "tree",
         .summary = "outwards from every rank over a tree made from the measured network",
         .source = tree_sources,
         .build = allgather_tree, .trees = measured_trees(), .blocks = InBlocks::uneven},
        {.collective = barrier, .name = "tree",
         .summary = "both ways over each edge of a tree made from the measured network",
         .source = tree_sources,
         .build = barrier_tree, .trees = measured_trees()},
    };
}

}  // namespace mutirao
