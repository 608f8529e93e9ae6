// The one list of algorithms, in the order in which users see them and by which ties go. A new one is a function in
// the folder of its collective, declared in catalogue.h, and its row here; tests, help, benchmark, prediction and
// pictures follow.
#include "core/algorithms/catalogue.h"

#include <algorithm>
#include <initializer_list>
#include <iterator>
#include <string_view>
#include <utility>
#include <vector>

#include "core/algorithms/shape.h"

namespace mutirao {

namespace {

constexpr std::string_view after_chan = "after Chan et al. 2007, doi:10.1002/cpe.1206",
                           after_magpie = "after MagPIe, Kielmann et al. 1999, doi:10.1145/301104.301116",
                           all_at_once = "all operands at once, as the collective is defined",
                           bienz = "after Bienz, Gautam and Kharel 2022, arXiv:2206.03564",
                           bruck_1997 = "Bruck et al. 1997, doi:10.1109/71.642949",
                           chan = "Chan et al. 2007, doi:10.1002/cpe.1206",
                           hillis_sanders = "Hillis and Steele 1986, doi:10.1145/7902.7903; "
                                            "Sanders and Traeff 2006, doi:10.1007/11846802_15",
                           kielmann = "Kielmann et al. 1999, doi:10.1145/301104.301116",
                           patarasuk = "Patarasuk and Yuan 2009, doi:10.1016/j.jpdc.2008.09.002",
                           pjesivac = "Pjesivac-Grbovic et al. 2007, doi:10.1007/s10586-007-0012-0",
                           pjesivac_in_open_mpi =
                               "Open MPI; Pjesivac-Grbovic et al. 2007, doi:10.1007/s10586-007-0012-0",
                           rabenseifner_2004 = "Rabenseifner 2004, doi:10.1007/978-3-540-24685-5_1",
                           sanders = "Sanders and Traeff 2006, doi:10.1007/11846802_15",
                           thakur = "Thakur, Rabenseifner and Gropp 2005, doi:10.1177/1094342005051521",
                           traeff_circulant = "Traeff 2024, arXiv:2410.14234",
                           traeff_lanes = "Traeff and Hunold 2019, arXiv:1910.13373";

/// Shares of a shorter broadcast are not worth the more messages.
constexpr std::size_t least_bytes_of_shares = 4096;

/// The minimum spanning tree that the hosts maintain (Thome and Drummond, "Biblioteca de Comunicacao Coletiva para
/// Ambientes Distribuidos Dinamicos"), the shortest paths from the root, and the greedy earliest completion.
constexpr std::initializer_list<TreeKind> measured_trees = {TreeKind::minimum_spanning, TreeKind::shortest_path,
                                                            TreeKind::greedy};
constexpr std::string_view measured_tree_sources =
    "Thome and Drummond; Gallager, Humblet and Spira 1983, doi:10.1145/357195.357200; Bhat, Raghavendra and Prasanna "
    "2003, doi:10.1016/S0743-7315(03)00008-X";

constexpr std::string_view packed_tree_sources =
    "Castro et al. 2003, doi:10.1145/945445.945474; Alpert et al. 1995, doi:10.1109/43.406717";
/// Of a shorter message there are no shares worth a tree.
constexpr std::size_t least_bytes_of_packed_trees = 32768;

/// Shorter messages are at the bound by other ways, and a part of them is not worth its message.
constexpr std::size_t least_bytes_over_groups = 8192, least_block_bytes_over_groups = 2048;

Algorithm over_groups(std::string_view name, std::string_view summary, Build* build, std::size_t least_bytes,
                      InBlocks blocks = InBlocks::equal, int most_outer = 0) {
    return {.name = name, .summary = summary,
            .source = "after Traeff and Hunold 2019, arXiv:1910.13373; Bienz et al. 2022, arXiv:2206.03564",
            .build = build, .spreads = {4, 1, 16}, .most_outer = most_outer,
            .trees = {TreeKind::two_level, TreeKind::regions}, .least_bytes = least_bytes, .blocks = blocks};
}

}  // namespace

namespace barrier {

static std::vector<Algorithm> rows() {
    return {
        {.name = "dissemination", .summary = "signals ahead at growing distances",
         .source = "Hensgen, Finkel and Manber 1988, doi:10.1007/BF01379320",
         .build = dissemination, .radices = {2, 4, 8}},
        {.name = "locality_dissemination", .summary = "dissemination between hosts, whose ranks share the work",
         .source = bienz, .build = locality_dissemination, .radices = {2, 5}},
        {.name = "direct", .summary = "every rank signals to every other at once",
         .source = "Hoefler, Mehlan, Mietke and Rehm 2006, 'Fast Barrier Synchronization for InfiniBand'",
         .build = direct},
        {.name = "recursive_exchange", .summary = "pairs signal to each other at doubling distances",
         .source = "Brooks 1986, doi:10.1007/BF01407877", .build = recursive_exchange},
        {.name = "tree", .summary = "both ways over each edge of a tree made from the measured network",
         .source = measured_tree_sources, .build = tree, .trees = measured_trees},
    };
}

}  // namespace barrier

namespace broadcast {

static std::vector<Algorithm> rows() {
    return {
        {.name = "flat", .summary = "the root sends to every rank itself", .source = kielmann,
         .build = flat, .level = Level::hosts, .inside_a_host = true},
        {.name = "binomial", .summary = "binomial tree over the ranks, as MPICH", .source = thakur,
         .build = k_nomial, .segmented = true, .level = Level::hosts, .inside_a_host = true},
        {.name = "k_nomial", .summary = "k-nomial tree over the ranks: shallower, with busier ranks",
         .source = pjesivac, .build = k_nomial, .segmented = true, .radices = {3, 4, 8}, .level = Level::hosts,
         .inside_a_host = true},
        {.name = "chain", .summary = "each rank passes the message on to the next: a pipeline", .source = pjesivac,
         .build = chain, .segmented = true, .level = Level::hosts, .inside_a_host = true},
        {.name = "split_binary", .summary = "a half down each of two binary trees, then exchanged",
         .source = pjesivac_in_open_mpi, .build = split_binary, .segmented = true, .level = Level::hosts},
        {.name = "circulant", .summary = "a segment in and one out in each round, over skips that take turns",
         .source = "Traeff 2025, doi:10.1145/3735139", .build = circulant, .segmented = true, .level = Level::hosts},
        {.name = "scatter_recursive_doubling_allgather",
         .summary = "binomial scatter, then groups that exchange blocks and double", .source = thakur,
         .build = scatter_recursive_doubling_allgather, .level = Level::hosts},
        {.name = "scatter_ring_allgather",
         .summary = "binomial scatter, then the blocks go round a ring (van de Geijn)",
         .source = "Barnett et al. 1994, doi:10.1109/SHPCC.1994.296665",
         .build = scatter_ring_allgather, .level = Level::hosts},
        {.name = "two_level", .summary = "once to each site, then binomial trees inside, as MagPIe",
         .source = kielmann, .build = over_trees, .segmented = true, .trees = {TreeKind::two_level},
         .level = Level::hosts},
        {.name = "striped", .summary = "a share over each host of groups of `radix`, then exchanged in the groups",
         .source = traeff_lanes, .build = striped, .segmented = true, .segments_of_blocks = true,
         .radices = {2, 4, 8, 64}, .level = Level::hosts, .least_bytes = least_bytes_of_shares},
        {.name = "tree", .summary = "a tree made from the measured network", .source = measured_tree_sources,
         .build = over_trees, .segmented = true, .trees = measured_trees, .level = Level::hosts},
        {.name = "packed_trees",
         .summary = "a share down each of many trees that leave each other room on the links",
         .source = packed_tree_sources, .build = over_trees, .segmented = true, .segments_of_blocks = true,
         .trees = {TreeKind::packed}, .level = Level::hosts, .least_bytes = least_bytes_of_packed_trees},
        {.name = "locality_tree", .summary = "down a tree in which all ranks of a host serve other hosts",
         .source = bienz, .build = locality_tree, .segmented = true, .radices = {2, 4}},
        {.name = "multi_lane", .summary = "a share by each rank of a host, put together inside the hosts",
         .source = traeff_lanes, .build = multi_lane, .segmented = true, .segments_of_blocks = true,
         .radices = {2, 8}, .least_bytes = least_bytes_of_shares},
        over_groups("groups", "every pair of ranks of two sites carries a part, put together inside", groups,
                    least_bytes_over_groups),
    };
}

}  // namespace broadcast

namespace gather {

static std::vector<Algorithm> rows() {
    return {
        {.name = "linear", .summary = "every rank sends to the root at once", .source = thakur,
         .build = linear, .segmented = true, .blocks = InBlocks::own},
        {.name = "synchronised",
         .summary = "the root asks for one block after another, the next while the last still comes",
         .source = "Open MPI, linear_sync", .build = synchronised, .segmented = true, .blocks = InBlocks::own},
        {.name = "binomial", .summary = "binomial tree over the ranks, subtrees in one piece", .source = thakur,
         .build = binomial},
        {.name = "two_level",
         .summary = "each host's blocks in one message, which the root's neighbours take in turn",
         .source = after_magpie, .build = two_level},
        {.name = "tree", .summary = "up a tree made from the measured network, block by block",
         .source = measured_tree_sources, .build = tree, .trees = measured_trees},
        over_groups("groups", "blocks go in parts to all ranks of the root's site, and from these to it", groups,
                    least_block_bytes_over_groups),
    };
}

}  // namespace gather

namespace scatter {

static std::vector<Algorithm> rows() {
    return {
        {.name = "linear", .summary = "the root sends to every rank itself", .source = thakur,
         .build = linear, .segmented = true, .blocks = InBlocks::own},
        {.name = "binomial", .summary = "binomial tree over the ranks, subtrees in one piece", .source = thakur,
         .build = binomial},
        {.name = "two_level",
         .summary = "each host's blocks in one message, which the root's neighbours send in turn",
         .source = after_magpie, .build = two_level},
        {.name = "tree", .summary = "down a tree made from the measured network, block by block",
         .source = measured_tree_sources, .build = tree, .trees = measured_trees},
        over_groups("groups", "all ranks of the root's site send parts of each block", groups,
                    least_block_bytes_over_groups),
    };
}

}  // namespace scatter

namespace allgather {

static std::vector<Algorithm> rows() {
    return {
        {.name = "linear", .summary = "every rank sends to every other at once", .source = bruck_1997,
         .build = linear, .blocks = InBlocks::uneven},
        {.name = "two_proc", .summary = "a single exchange, which is linear between two",
         .source = "Open MPI; Bruck et al. 1997, doi:10.1109/71.642949",
         .build = linear, .fits = [](int size) { return size == 2; }, .blocks = InBlocks::uneven},
        {.name = "ring", .summary = "the blocks go round a ring", .source = thakur,
         .build = ring, .blocks = InBlocks::uneven},
        {.name = "recursive_doubling", .summary = "pairs exchange all that they hold", .source = thakur,
         .build = recursive_doubling, .fits = is_power_of_two, .blocks = InBlocks::uneven},
        {.name = "bruck", .summary = "all that is held comes from ranks ahead, at growing distances",
         .source = bruck_1997, .build = bruck, .radices = {2, 4, 8}, .blocks = InBlocks::uneven},
        {.name = "neighbor_exchange", .summary = "two blocks at a time between neighbours, in turn",
         .source = "Chen et al. 2005, doi:10.1109/HPCASIA.2005.79",
         .build = neighbor_exchange, .fits = [](int size) { return size % 2 == 0; }, .blocks = InBlocks::uneven},
        {.name = "sparbit", .summary = "far ranks first, so that most blocks go to near ones",
         .source = "Loch and Koslovski 2021, arXiv:2109.08751", .build = sparbit, .blocks = InBlocks::uneven},
        {.name = "circulant", .summary = "like bruck with skips that halve p, without staging",
         .source = traeff_circulant, .build = circulant, .blocks = InBlocks::uneven},
        {.name = "locality_bruck",
         .summary = "bruck between hosts, whose ranks share the work and exchange what comes",
         .source = "Bienz, Gautam and Kharel 2022, arXiv:2206.03564",
         .build = locality_bruck, .radices = {2, 5}, .blocks = InBlocks::uneven},
        {.name = "gather_broadcast", .summary = "up a binomial tree to rank 0, and down again what a subtree lacks",
         .source = chan, .build = gather_broadcast, .blocks = InBlocks::uneven},
        {.name = "tree", .summary = "outwards from every rank over a tree made from the measured network",
         .source = measured_tree_sources, .build = tree, .trees = measured_trees, .blocks = InBlocks::uneven},
        over_groups("groups", "blocks go in parts to all ranks of each site, put together inside", groups,
                    least_block_bytes_over_groups, InBlocks::uneven),
    };
}

}  // namespace allgather

namespace alltoall {

static std::vector<Algorithm> rows() {
    return {
        {.name = "linear", .summary = "all blocks at once, beginning with the next rank", .source = thakur,
         .build = linear, .segmented = true, .blocks = InBlocks::own},
        {.name = "pairwise", .summary = "one partner at a time", .source = thakur,
         .build = pairwise, .blocks = InBlocks::own},
        {.name = "windowed", .summary = "at most `radix` partners at a time", .source = thakur,
         .build = windowed, .radices = {4, 16, 32}, .blocks = InBlocks::own},
        {.name = "bruck", .summary = "blocks travel digit by digit of their distance, many in a message",
         .source = bruck_1997, .build = bruck, .radices = {2, 4, 8}},
        {.name = "two_level",
         .summary = "one message between two hosts, by ranks that each speak for some of the others",
         .source = "Kinkead et al. 2025, arXiv:2601.17606", .build = two_level},
    };
}

}  // namespace alltoall

namespace reduce {

static std::vector<Algorithm> rows() {
    return {
        {.name = "flat", .summary = "every rank sends to the root, which combines in order", .source = kielmann,
         .build = flat, .keeps_order = true, .from_first = true},
        {.name = "k_nomial", .summary = "k-nomial tree over the ranks, binomial for radix 2", .source = thakur,
         .build = k_nomial, .segmented = true, .radices = {2, 4, 8}, .keeps_order = true},
        {.name = "locality_tree", .summary = "up a tree in which all ranks of a host serve other hosts",
         .source = bienz, .build = locality_tree, .segmented = true, .radices = {2, 4}},
        {.name = "chain", .summary = "each rank adds its operand and passes it on: a pipeline", .source = pjesivac,
         .build = chain, .segmented = true, .keeps_order = true},
        {.name = "in_order_binary", .summary = "a binary tree with every rank between its children's ranks",
         .source = pjesivac_in_open_mpi, .build = in_order_binary, .segmented = true, .keeps_order = true},
        {.name = "circulant", .summary = "a segment in and one out in each round, over skips that take turns",
         .source = "Traeff 2024, arXiv:2407.18004", .build = circulant, .segmented = true},
        {.name = "rabenseifner", .summary = "recursive halving, then the blocks are gathered at the root",
         .source = rabenseifner_2004, .build = rabenseifner, .keeps_order = true},
        {.name = "tree", .summary = "up a tree made from the measured network", .source = measured_tree_sources,
         .build = over_trees, .segmented = true, .trees = measured_trees},
        {.name = "packed_trees", .summary = "a share up each of many trees that leave each other room on the links",
         .source = packed_tree_sources, .build = over_trees, .segmented = true, .segments_of_blocks = true,
         .trees = {TreeKind::packed}, .least_bytes = least_bytes_of_packed_trees},
        over_groups("groups", "combined inside each site, by all its ranks sent to the root's site", groups,
                    least_bytes_over_groups),
    };
}

}  // namespace reduce

namespace allreduce {

static std::vector<Algorithm> rows() {
    return {
        {.name = "recursive_doubling", .summary = "partners exchange all that they have, at doubling distances",
         .source = thakur, .build = recursive_multiplying, .keeps_order = true},
        {.name = "recursive_multiplying", .summary = "k ranks at a time exchange all that they have",
         .source = "Ruefenacht, Bull and Booth 2017, doi:10.1016/j.parco.2017.08.004",
         .build = recursive_multiplying, .radices = {3, 4, 8}, .keeps_order = true},
        {.name = "rabenseifner", .summary = "recursive halving, then the blocks are spread by doubling",
         .source = rabenseifner_2004, .build = rabenseifner, .keeps_order = true},
        {.name = "ring", .summary = "blocks go round a ring, reduced on the way, then once more",
         .source = patarasuk, .build = ring, .segmented = true, .segments_of_blocks = true},
        {.name = "circulant",
         .summary = "reduce-scatter and allgather along halving skips, for any number of ranks",
         .source = traeff_circulant, .build = circulant},
        {.name = "direct", .summary = "every rank sends to every other and combines by itself",
         .source = all_at_once, .build = direct, .keeps_order = true, .from_first = true},
        {.name = "direct_shares", .summary = "every rank combines a share of all operands and sends it to every other",
         .source = chan, .build = direct_shares, .keeps_order = true, .from_first = true},
        {.name = "reduce_broadcast", .summary = "up and down a k-nomial tree over the ranks", .source = chan,
         .build = reduce_broadcast, .segmented = true, .radices = {2, 4, 8}, .keeps_order = true},
        {.name = "tree", .summary = "up and down a tree made from the measured network",
         .source = measured_tree_sources, .build = over_trees, .segmented = true, .trees = measured_trees},
        {.name = "packed_trees",
         .summary = "a share up and down each of many trees that leave each other room on the links",
         .source = packed_tree_sources, .build = over_trees, .segmented = true, .segments_of_blocks = true,
         .trees = {TreeKind::packed_both_ways}, .least_bytes = least_bytes_of_packed_trees},
        {.name = "multi_lane",
         .summary = "a share by each rank of a host between the hosts, put together inside them",
         .source = traeff_lanes, .build = multi_lane},
        {.name = "multi_lane_multiplying",
         .summary = "the same by recursive multiplying between the hosts, for short messages",
         .source = traeff_lanes, .build = multi_lane_multiplying, .radices = {2, 4, 8}},
        {.name = "locality_exchange",
         .summary = "each host's sum to all ranks, by ranks of a host that share the work",
         .source = "after Bienz, Olson and Gropp 2019, arXiv:1910.09650",
         .build = locality_exchange, .radices = {2, 5}},
        over_groups("groups", "combined inside each site, exchanged by all pairs of ranks at once", groups,
                    least_bytes_over_groups),
        over_groups("groups_twice", "a block is combined by each rank, then gathered by all sites", groups_twice,
                    least_bytes_over_groups, InBlocks::equal, 1),
    };
}

}  // namespace allreduce

namespace reduce_scatter_block {

static std::vector<Algorithm> rows() {
    return {
        {.name = "direct", .summary = "every rank sends each other its block and combines in order",
         .source = all_at_once, .build = direct, .keeps_order = true, .from_first = true, .blocks = InBlocks::uneven},
        {.name = "pairwise", .summary = "one peer at a time, at growing distance", .source = thakur,
         .build = pairwise, .blocks = InBlocks::uneven},
        {.name = "recursive_halving",
         .summary = "partners split the blocks that both hold, at halving distances", .source = thakur,
         .build = recursive_halving, .blocks = InBlocks::uneven},
        {.name = "ring", .summary = "blocks go round a ring and are reduced on the way", .source = patarasuk,
         .build = ring, .segmented = true, .blocks = InBlocks::uneven},
        {.name = "circulant", .summary = "along halving skips, for any number of ranks",
         .source = traeff_circulant, .build = circulant, .blocks = InBlocks::uneven},
        {.name = "pat", .summary = "up a tree to every rank, with up to `radix` partial results in a message",
         .source = "Jeaugey 2025, arXiv:2506.20252", .build = pat, .radices = {4, 16, 64}},
        {.name = "reduce_scatter",
         .summary = "reduced to rank 0 over a k-nomial tree, then scattered over a binomial one", .source = chan,
         .build = reduce_scatter, .radices = {2, 4, 8}, .keeps_order = true},
        over_groups("groups", "a part of each block is combined by each rank of a site", groups,
                    least_block_bytes_over_groups, InBlocks::uneven),
    };
}

}  // namespace reduce_scatter_block

namespace scan {

static std::vector<Algorithm> rows() {
    return {
        {.name = "linear", .summary = "each rank adds its operand and passes it on: a pipeline", .source = sanders,
         .build = linear, .segmented = true, .keeps_order = true, .from_first = true},
        {.name = "recursive_doubling", .summary = "every rank sends on what it has, at doubling distances",
         .source = hillis_sanders, .build = recursive_doubling, .keeps_order = true},
        {.name = "direct", .summary = "every rank sends to all ranks after it", .source = all_at_once,
         .build = direct, .keeps_order = true, .from_first = true},
        {.name = "direct_shares", .summary = "every rank adds up a share and sends each rank its prefix",
         .source = after_chan, .build = direct_shares, .segmented = true, .segments_of_blocks = true,
         .keeps_order = true, .from_first = true},
        {.name = "two_level",
         .summary = "sums inside each host and between the hosts' last ranks, then added inside",
         .source = sanders, .build = two_level, .keeps_order = true},
    };
}

}  // namespace scan

namespace exscan {

/// A row of scan, by another function.
static Algorithm like_scan(std::string_view name, Build* build) {
    const std::vector<Algorithm> rows = scan::rows();
    Algorithm row = *std::ranges::find(rows, name, &Algorithm::name);
    row.build = build;
    return row;
}

static std::vector<Algorithm> rows() {
    return {
        like_scan("linear", linear),
        like_scan("recursive_doubling", recursive_doubling),
        like_scan("direct", direct),
        like_scan("direct_shares", direct_shares),
        like_scan("two_level", two_level),
    };
}

}  // namespace exscan

namespace {

// A library that chooses badly for one collective often has others that do the same work sooner. These are the mock-ups
// of PGMPITuneLib (Hunold and Carpen-Amarie, HPC Asia 2018), but for those with a reduce_scatter_block: MPICH 5.0's
// gives wrong results for elements with holes. What runs them stands in src/mpi/executor/native_compositions.cpp.

/// A shorter message is not worth cutting into blocks.
constexpr std::size_t least_bytes_of_blocks = 4096;

bool in_blocks(Collective collective) { return row_of(collective).in_blocks != InBlocks::none; }

Algorithm made_of(std::vector<Collective> calls, Collective collective, std::string_view name,
                  std::string_view summary) {
    const bool cut = in_blocks(calls.front()) && !in_blocks(collective);
    return {.collective = collective,
            .name = name,
            .summary = summary,
            .source = "Hunold and Carpen-Amarie 2018, doi:10.1145/3149457.3149461",
            .least_bytes = cut ? least_bytes_of_blocks : 0,
            .keeps_order = row_of(collective).reduces,
            .calls = std::move(calls)};
}

std::vector<Algorithm> native_compositions() {
    using enum Collective;
    return {
        made_of({scatter, allgather}, broadcast, "native_scatter_allgather",
                "the MPI library's scatter and allgather of a block for every rank"),
        made_of({allgather}, gather, "native_allgather",
                "the MPI library's allgather, of which the root alone keeps anything"),
        made_of({broadcast}, scatter, "native_broadcast",
                "the MPI library's broadcast of all blocks, of which each rank keeps its own"),
        made_of({gather, broadcast}, allgather, "native_gather_broadcast",
                "the MPI library's gather to the first rank and broadcast from there"),
        made_of({allreduce}, reduce, "native_allreduce",
                "the MPI library's allreduce, of which the root alone keeps the result"),
        made_of({reduce, broadcast}, allreduce, "native_reduce_broadcast",
                "the MPI library's reduce to the first rank and broadcast from there"),
        made_of({allreduce}, reduce_scatter_block, "native_allreduce",
                "the MPI library's allreduce of all blocks, of which each rank keeps its own"),
        made_of({reduce, scatter}, reduce_scatter_block, "native_reduce_scatter",
                "the MPI library's reduce to the first rank and scatter from there"),
    };
}

std::vector<Algorithm> rows_of_all() {
    std::vector<Algorithm> all;
    const auto add = [&](Collective collective, std::vector<Algorithm> rows) {
        for (Algorithm& each : rows) {
            each.collective = collective;
            all.push_back(std::move(each));
        }
    };
    add(Collective::barrier, barrier::rows());
    add(Collective::broadcast, broadcast::rows());
    add(Collective::gather, gather::rows());
    add(Collective::scatter, scatter::rows());
    add(Collective::allgather, allgather::rows());
    add(Collective::alltoall, alltoall::rows());
    add(Collective::reduce, reduce::rows());
    add(Collective::allreduce, allreduce::rows());
    add(Collective::reduce_scatter_block, reduce_scatter_block::rows());
    add(Collective::scan, scan::rows());
    add(Collective::exscan, exscan::rows());
    std::ranges::move(native_compositions(), std::back_inserter(all));
    return all;
}

/// A collective whose blocks are not equal has the rows of its base that can do with that.
std::vector<Algorithm> whole_table() {
    const std::vector<Algorithm> rows = rows_of_all();
    std::vector<Algorithm> table;
    for (const CollectiveRow& row : collectives) {
        table.push_back({.collective = row.collective,
                         .name = "native",
                         .summary = "the MPI library's own",
                         .source = "the MPI library in use"});
        for (Algorithm each : rows) {
            const bool can = row.base == row.collective || each.blocks >= row.in_blocks;
            if (each.collective != row.base || !can) continue;
            each.collective = row.collective;
            table.push_back(std::move(each));
        }
    }
    return table;
}

}  // namespace

std::span<const Algorithm> catalogue() {
    static const std::vector<Algorithm> table = whole_table();
    return table;
}

}  // namespace mutirao
