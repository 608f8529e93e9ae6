// The one table of algorithms. A new one is one file, its declaration and its row here; tests,
// help, benchmark, prediction and pictures follow.
#include <bit>

#include "core/algorithms/algorithm.h"
#include "core/algorithms/shape.h"

namespace mutirao {

namespace barrier {

Schedule dissemination(const Request& request);
Schedule direct(const Request& request);
Schedule recursive_exchange(const Request& request);
Schedule tree(const Request& request);

}  // namespace barrier

namespace gather {

Schedule linear(const Request& request);
Schedule binomial(const Request& request);
Schedule tree(const Request& request);

}  // namespace gather

namespace scatter {

Schedule linear(const Request& request);
Schedule binomial(const Request& request);
Schedule tree(const Request& request);

}  // namespace scatter

namespace allgather {

Schedule linear(const Request& request);
Schedule ring(const Request& request);
Schedule recursive_doubling(const Request& request);
Schedule bruck(const Request& request);
Schedule neighbor_exchange(const Request& request);
Schedule sparbit(const Request& request);
Schedule circulant(const Request& request);
Schedule tree(const Request& request);

}  // namespace allgather

namespace alltoall {

Schedule linear(const Request& request);
Schedule pairwise(const Request& request);
Schedule windowed(const Request& request);
Schedule bruck(const Request& request);

}  // namespace alltoall

namespace broadcast {

Schedule flat(const Request& request);
Schedule binomial(const Request& request);
Schedule k_nomial(const Request& request);
Schedule chain(const Request& request);
Schedule split_binary(const Request& request);
Schedule scatter_recursive_doubling_allgather(const Request& request);
Schedule scatter_ring_allgather(const Request& request);
Schedule two_level(const Request& request);
Schedule tree(const Request& request);

}  // namespace broadcast

namespace reduce {

Schedule flat(const Request& request);
Schedule k_nomial(const Request& request);
Schedule chain(const Request& request);
Schedule in_order_binary(const Request& request);
Schedule rabenseifner(const Request& request);
Schedule tree(const Request& request);

}  // namespace reduce

namespace allreduce {

Schedule recursive_doubling(const Request& request);
Schedule recursive_multiplying(const Request& request);
Schedule rabenseifner(const Request& request);
Schedule ring(const Request& request);
Schedule circulant(const Request& request);
Schedule swing(const Request& request);
Schedule direct(const Request& request);
Schedule tree(const Request& request);

}  // namespace allreduce

namespace reduce_scatter_block {

Schedule direct(const Request& request);
Schedule pairwise(const Request& request);
Schedule recursive_halving(const Request& request);
Schedule ring(const Request& request);
Schedule circulant(const Request& request);

}  // namespace reduce_scatter_block

namespace scan {

Schedule linear(const Request& request);
Schedule recursive_doubling(const Request& request);
Schedule direct(const Request& request);

}  // namespace scan

namespace exscan {

Schedule linear(const Request& request);
Schedule recursive_doubling(const Request& request);
Schedule direct(const Request& request);

}  // namespace exscan

namespace {

using enum TreeKind;

Algorithm native_of(Collective collective) {
    return {.collective = collective,
            .name = "native",
            .summary = "the MPI library's own",
            .source = "the MPI library in use"};
}

/// Of broadcast/tree.cpp; whatever goes over such a tree has these.
constexpr std::string_view tree_sources =
    "Thome and Drummond; Gallager, Humblet and Spira 1983, doi:10.1145/357195.357200; Bhat, "
    "Raghavendra and Prasanna 2003, doi:10.1016/S0743-7315(03)00008-X";

std::vector<TreeKind> measured_trees() { return {minimum_spanning, shortest_path, greedy}; }

void add_barrier(std::vector<Algorithm>& table) {
    constexpr Collective barrier = Collective::barrier;
    const std::vector<Algorithm> rows = {
        {.collective = barrier, .name = "dissemination",
         .summary = "signals ahead at growing distances",
         .source = "Hensgen, Finkel and Manber 1988, doi:10.1007/BF01379320",
         .build = barrier::dissemination, .radices = {2, 4, 8}},
        {.collective = barrier, .name = "direct",
         .summary = "every rank signals to every other at once",
         .source = "Hoefler, Mehlan, Mietke and Rehm 2006, "
                   "'Fast Barrier Synchronization for InfiniBand'",
         .build = barrier::direct},
        {.collective = barrier, .name = "recursive_exchange",
         .summary = "pairs signal to each other at doubling distances",
         .source = "Brooks 1986, doi:10.1007/BF01407877",
         .build = barrier::recursive_exchange},
        {.collective = barrier, .name = "tree",
         .summary = "both ways over each edge of a tree made from the measured network",
         .source = tree_sources,
         .build = barrier::tree, .trees = measured_trees()},
    };
    table.insert(table.end(), rows.begin(), rows.end());
}

void add_gather(std::vector<Algorithm>& table) {
    constexpr Collective gather = Collective::gather;
    const std::vector<Algorithm> rows = {
        {.collective = gather, .name = "linear",
         .summary = "every rank sends to the root at once",
         .source = "Thakur, Rabenseifner and Gropp 2005, doi:10.1177/1094342005051521",
         .build = gather::linear},
        {.collective = gather, .name = "binomial",
         .summary = "binomial tree over the ranks, subtrees in one piece",
         .source = "Thakur, Rabenseifner and Gropp 2005, doi:10.1177/1094342005051521",
         .build = gather::binomial},
        {.collective = gather, .name = "tree",
         .summary = "up a tree made from the measured network, block by block",
         .source = tree_sources,
         .build = gather::tree, .trees = measured_trees()},
    };
    table.insert(table.end(), rows.begin(), rows.end());
}

void add_scatter(std::vector<Algorithm>& table) {
    constexpr Collective scatter = Collective::scatter;
    const std::vector<Algorithm> rows = {
        {.collective = scatter, .name = "linear",
         .summary = "the root sends to every rank itself",
         .source = "Thakur, Rabenseifner and Gropp 2005, doi:10.1177/1094342005051521",
         .build = scatter::linear},
        {.collective = scatter, .name = "binomial",
         .summary = "binomial tree over the ranks, subtrees in one piece",
         .source = "Thakur, Rabenseifner and Gropp 2005, doi:10.1177/1094342005051521",
         .build = scatter::binomial},
        {.collective = scatter, .name = "tree",
         .summary = "down a tree made from the measured network, block by block",
         .source = tree_sources,
         .build = scatter::tree, .trees = measured_trees()},
    };
    table.insert(table.end(), rows.begin(), rows.end());
}

void add_allgather(std::vector<Algorithm>& table) {
    constexpr Collective allgather = Collective::allgather;
    const std::vector<Algorithm> rows = {
        {.collective = allgather, .name = "linear",
         .summary = "every rank sends to every other at once",
         .source = "Bruck et al. 1997, doi:10.1109/71.642949",
         .build = allgather::linear},
        {.collective = allgather, .name = "ring",
         .summary = "the blocks go round a ring",
         .source = "Thakur, Rabenseifner and Gropp 2005, doi:10.1177/1094342005051521",
         .build = allgather::ring},
        {.collective = allgather, .name = "recursive_doubling",
         .summary = "pairs exchange all that they hold",
         .source = "Thakur, Rabenseifner and Gropp 2005, doi:10.1177/1094342005051521",
         .build = allgather::recursive_doubling,
         .fits = [](int size) { return std::has_single_bit(static_cast<unsigned>(size)); }},
        {.collective = allgather, .name = "bruck",
         .summary = "all that is held comes from ranks ahead, at growing distances",
         .source = "Bruck et al. 1997, doi:10.1109/71.642949",
         .build = allgather::bruck, .radices = {2, 4, 8}},
        {.collective = allgather, .name = "neighbor_exchange",
         .summary = "two blocks at a time between neighbours, in turn",
         .source = "Chen et al. 2005, doi:10.1109/HPCASIA.2005.79",
         .build = allgather::neighbor_exchange,
         .fits = [](int size) { return size % 2 == 0; }},
        {.collective = allgather, .name = "sparbit",
         .summary = "far ranks first, so that most blocks go to near ones",
         .source = "Loch and Koslovski 2021, arXiv:2109.08751",
         .build = allgather::sparbit},
        {.collective = allgather, .name = "circulant",
         .summary = "like bruck with skips that halve p, without staging",
         .source = "Traeff 2024, arXiv:2410.14234",
         .build = allgather::circulant},
        {.collective = allgather, .name = "tree",
         .summary = "outwards from every rank over a tree made from the measured network",
         .source = tree_sources,
         .build = allgather::tree, .trees = measured_trees()},
    };
    table.insert(table.end(), rows.begin(), rows.end());
}

void add_alltoall(std::vector<Algorithm>& table) {
    constexpr Collective alltoall = Collective::alltoall;
    const std::vector<Algorithm> rows = {
        {.collective = alltoall, .name = "linear",
         .summary = "all blocks at once, beginning with the next rank",
         .source = "Thakur, Rabenseifner and Gropp 2005, doi:10.1177/1094342005051521",
         .build = alltoall::linear},
        {.collective = alltoall, .name = "pairwise",
         .summary = "one partner at a time",
         .source = "Thakur, Rabenseifner and Gropp 2005, doi:10.1177/1094342005051521",
         .build = alltoall::pairwise},
        {.collective = alltoall, .name = "windowed",
         .summary = "at most `radix` partners at a time",
         .source = "Thakur, Rabenseifner and Gropp 2005, doi:10.1177/1094342005051521",
         .build = alltoall::windowed, .radices = {4, 16, 32}},
        {.collective = alltoall, .name = "bruck",
         .summary = "blocks travel digit by digit of their distance, many in a message",
         .source = "Bruck et al. 1997, doi:10.1109/71.642949",
         .build = alltoall::bruck, .radices = {2, 4, 8}},
    };
    table.insert(table.end(), rows.begin(), rows.end());
}

void add_broadcast(std::vector<Algorithm>& table) {
    constexpr Collective broadcast = Collective::broadcast;
    const std::vector<Algorithm> rows = {
        {.collective = broadcast, .name = "flat",
         .summary = "the root sends to every rank itself",
         .source = "Kielmann et al. 1999, doi:10.1145/301104.301116",
         .build = broadcast::flat, .inside_a_host = true},
        {.collective = broadcast, .name = "binomial",
         .summary = "binomial tree over the ranks, as MPICH",
         .source = "Thakur, Rabenseifner and Gropp 2005, doi:10.1177/1094342005051521",
         .build = broadcast::binomial, .segmented = true, .inside_a_host = true},
        {.collective = broadcast, .name = "k_nomial",
         .summary = "k-nomial tree over the ranks: shallower, with busier ranks",
         .source = "Pjesivac-Grbovic et al. 2007, doi:10.1007/s10586-007-0012-0",
         .build = broadcast::k_nomial, .segmented = true, .radices = {3, 4, 8},
         .inside_a_host = true},
        {.collective = broadcast, .name = "chain",
         .summary = "each rank passes the message on to the next: a pipeline",
         .source = "Pjesivac-Grbovic et al. 2007, doi:10.1007/s10586-007-0012-0",
         .build = broadcast::chain, .segmented = true, .inside_a_host = true},
        {.collective = broadcast, .name = "split_binary",
         .summary = "a half down each of two binary trees, then exchanged",
         .source = "Open MPI; Pjesivac-Grbovic et al. 2007, doi:10.1007/s10586-007-0012-0",
         .build = broadcast::split_binary, .segmented = true},
        {.collective = broadcast, .name = "scatter_recursive_doubling_allgather",
         .summary = "binomial scatter, then groups that exchange blocks and double",
         .source = "Thakur, Rabenseifner and Gropp 2005, doi:10.1177/1094342005051521",
         .build = broadcast::scatter_recursive_doubling_allgather},
        {.collective = broadcast, .name = "scatter_ring_allgather",
         .summary = "binomial scatter, then the blocks go round a ring (van de Geijn)",
         .source = "Barnett et al. 1994, doi:10.1109/SHPCC.1994.296665",
         .build = broadcast::scatter_ring_allgather},
        {.collective = broadcast, .name = "two_level",
         .summary = "once to each site, then binomial trees inside, as MagPIe",
         .source = "Kielmann et al. 1999, doi:10.1145/301104.301116",
         .build = broadcast::two_level, .segmented = true, .trees = {two_level}},
        {.collective = broadcast, .name = "tree",
         .summary = "a tree made from the measured network",
         .source = tree_sources,
         .build = broadcast::tree, .segmented = true, .trees = measured_trees()},
    };
    for (Algorithm row : rows) {
        row.level = Level::hosts;
        table.push_back(std::move(row));
    }
}

void add_reduce(std::vector<Algorithm>& table) {
    constexpr Collective reduce = Collective::reduce;
    const std::vector<Algorithm> rows = {
        {.collective = reduce, .name = "flat",
         .summary = "every rank sends to the root, which combines in order",
         .source = "Kielmann et al. 1999, doi:10.1145/301104.301116",
         .build = reduce::flat, .keeps_order = true},
        {.collective = reduce, .name = "k_nomial",
         .summary = "k-nomial tree over the ranks, binomial for radix 2",
         .source = "Thakur, Rabenseifner and Gropp 2005, doi:10.1177/1094342005051521",
         .build = reduce::k_nomial, .segmented = true, .radices = {2, 4, 8}, .keeps_order = true},
        {.collective = reduce, .name = "chain",
         .summary = "each rank adds its operand and passes it on: a pipeline",
         .source = "Pjesivac-Grbovic et al. 2007, doi:10.1007/s10586-007-0012-0",
         .build = reduce::chain, .segmented = true, .keeps_order = true},
        {.collective = reduce, .name = "in_order_binary",
         .summary = "a binary tree with every rank between its children's ranks",
         .source = "Open MPI; Pjesivac-Grbovic et al. 2007, doi:10.1007/s10586-007-0012-0",
         .build = reduce::in_order_binary, .segmented = true, .keeps_order = true},
        {.collective = reduce, .name = "rabenseifner",
         .summary = "recursive halving, then the blocks are gathered at the root",
         .source = "Rabenseifner 2004, doi:10.1007/978-3-540-24685-5_1",
         .build = reduce::rabenseifner, .keeps_order = true},
        {.collective = reduce, .name = "tree",
         .summary = "up a tree made from the measured network",
         .source = "Gallager, Humblet and Spira 1983, doi:10.1145/357195.357200; Bhat, "
                   "Raghavendra and Prasanna 2003, doi:10.1016/S0743-7315(03)00008-X",
         .build = reduce::tree, .segmented = true,
         .trees = {minimum_spanning, shortest_path, greedy}},
    };
    table.insert(table.end(), rows.begin(), rows.end());
}

void add_allreduce(std::vector<Algorithm>& table) {
    constexpr Collective allreduce = Collective::allreduce;
    const std::vector<Algorithm> rows = {
        {.collective = allreduce, .name = "recursive_doubling",
         .summary = "partners exchange all that they have, at doubling distances",
         .source = "Thakur, Rabenseifner and Gropp 2005, doi:10.1177/1094342005051521",
         .build = allreduce::recursive_doubling, .keeps_order = true},
        {.collective = allreduce, .name = "recursive_multiplying",
         .summary = "k ranks at a time exchange all that they have",
         .source = "Ruefenacht, Bull and Booth 2017, doi:10.1016/j.parco.2017.08.004",
         .build = allreduce::recursive_multiplying, .radices = {3, 4, 8}, .keeps_order = true},
        {.collective = allreduce, .name = "rabenseifner",
         .summary = "recursive halving, then the blocks are spread by doubling",
         .source = "Rabenseifner 2004, doi:10.1007/978-3-540-24685-5_1",
         .build = allreduce::rabenseifner, .keeps_order = true},
        {.collective = allreduce, .name = "ring",
         .summary = "blocks go round a ring, reduced on the way, then once more",
         .source = "Patarasuk and Yuan 2009, doi:10.1016/j.jpdc.2008.09.002",
         .build = allreduce::ring, .segmented = true, .segments_of_blocks = true},
        {.collective = allreduce, .name = "circulant",
         .summary = "reduce-scatter and allgather along halving skips, for any number of ranks",
         .source = "Traeff 2024, arXiv:2410.14234",
         .build = allreduce::circulant},
        {.collective = allreduce, .name = "swing",
         .summary = "halving and doubling with partners that swing around a ring or torus",
         .source = "De Sensi et al. 2024, arXiv:2401.09356",
         .build = allreduce::swing, .fits = is_power_of_two},
        {.collective = allreduce, .name = "direct",
         .summary = "every rank sends to every other and combines by itself",
         .source = "all operands at once, as the collective is defined",
         .build = allreduce::direct, .keeps_order = true},
        {.collective = allreduce, .name = "tree",
         .summary = "up and down a tree made from the measured network",
         .source = "Gallager, Humblet and Spira 1983, doi:10.1145/357195.357200; Bhat, "
                   "Raghavendra and Prasanna 2003, doi:10.1016/S0743-7315(03)00008-X",
         .build = allreduce::tree, .segmented = true,
         .trees = {minimum_spanning, shortest_path, greedy}},
    };
    table.insert(table.end(), rows.begin(), rows.end());
}

void add_reduce_scatter_block(std::vector<Algorithm>& table) {
    constexpr Collective reduce_scatter_block = Collective::reduce_scatter_block;
    const std::vector<Algorithm> rows = {
        {.collective = reduce_scatter_block, .name = "direct",
         .summary = "every rank sends each other its block and combines in order",
         .source = "all operands at once, as the collective is defined",
         .build = reduce_scatter_block::direct, .keeps_order = true},
        {.collective = reduce_scatter_block, .name = "pairwise",
         .summary = "one peer at a time, at growing distance",
         .source = "Thakur, Rabenseifner and Gropp 2005, doi:10.1177/1094342005051521",
         .build = reduce_scatter_block::pairwise},
        {.collective = reduce_scatter_block, .name = "recursive_halving",
         .summary = "partners split the blocks that both hold, at halving distances",
         .source = "Thakur, Rabenseifner and Gropp 2005, doi:10.1177/1094342005051521",
         .build = reduce_scatter_block::recursive_halving},
        {.collective = reduce_scatter_block, .name = "ring",
         .summary = "blocks go round a ring and are reduced on the way",
         .source = "Patarasuk and Yuan 2009, doi:10.1016/j.jpdc.2008.09.002",
         .build = reduce_scatter_block::ring, .segmented = true},
        {.collective = reduce_scatter_block, .name = "circulant",
         .summary = "along halving skips, for any number of ranks",
         .source = "Traeff 2024, arXiv:2410.14234",
         .build = reduce_scatter_block::circulant},
    };
    table.insert(table.end(), rows.begin(), rows.end());
}

void add_scan(std::vector<Algorithm>& table) {
    constexpr Collective scan = Collective::scan;
    const std::vector<Algorithm> rows = {
        {.collective = scan, .name = "linear",
         .summary = "each rank adds its operand and passes it on: a pipeline",
         .source = "Sanders and Traeff 2006, doi:10.1007/11846802_15",
         .build = scan::linear, .segmented = true, .keeps_order = true},
        {.collective = scan, .name = "recursive_doubling",
         .summary = "every rank sends on what it has, at doubling distances",
         .source = "Hillis and Steele 1986, doi:10.1145/7902.7903; "
                   "Sanders and Traeff 2006, doi:10.1007/11846802_15",
         .build = scan::recursive_doubling, .keeps_order = true},
        {.collective = scan, .name = "direct",
         .summary = "every rank sends to all ranks after it",
         .source = "all operands at once, as the collective is defined",
         .build = scan::direct, .keeps_order = true},
    };
    table.insert(table.end(), rows.begin(), rows.end());
}

void add_exscan(std::vector<Algorithm>& table) {
    constexpr Collective exscan = Collective::exscan;
    const std::vector<Algorithm> rows = {
        {.collective = exscan, .name = "linear",
         .summary = "each rank adds its operand and passes it on: a pipeline",
         .source = "Sanders and Traeff 2006, doi:10.1007/11846802_15",
         .build = exscan::linear, .segmented = true, .keeps_order = true},
        {.collective = exscan, .name = "recursive_doubling",
         .summary = "every rank sends on what it has, at doubling distances",
         .source = "Hillis and Steele 1986, doi:10.1145/7902.7903; "
                   "Sanders and Traeff 2006, doi:10.1007/11846802_15",
         .build = exscan::recursive_doubling, .keeps_order = true},
        {.collective = exscan, .name = "direct",
         .summary = "every rank sends to all ranks after it",
         .source = "all operands at once, as the collective is defined",
         .build = exscan::direct, .keeps_order = true},
    };
    table.insert(table.end(), rows.begin(), rows.end());
}

std::vector<Algorithm> rows() {
    std::vector<Algorithm> table;
    for (const CollectiveRow& each : collectives) {
        table.push_back(native_of(each.collective));
        if (each.collective == Collective::barrier) add_barrier(table);
        if (each.collective == Collective::broadcast) add_broadcast(table);
        if (each.collective == Collective::gather) add_gather(table);
        if (each.collective == Collective::scatter) add_scatter(table);
        if (each.collective == Collective::allgather) add_allgather(table);
        if (each.collective == Collective::alltoall) add_alltoall(table);
        if (each.collective == Collective::reduce) add_reduce(table);
        if (each.collective == Collective::allreduce) add_allreduce(table);
        if (each.collective == Collective::reduce_scatter_block) add_reduce_scatter_block(table);
        if (each.collective == Collective::scan) add_scan(table);
        if (each.collective == Collective::exscan) add_exscan(table);
    }
    return table;
}

}  // namespace

std::span<const Algorithm> catalogue() {
    static const std::vector<Algorithm> table = rows();
    return table;
}

}  // namespace mutirao
