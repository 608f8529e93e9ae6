// The one table of algorithms. A new one is one file, its declaration and its row, here or in
// catalogue_broadcasts.cpp or, where the collective reduces, in catalogue_reductions.cpp; tests, help,
// benchmark, prediction and pictures follow.
#include <algorithm>
#include <iterator>

#include "core/algorithms/catalogue_rows.h"
#include "core/algorithms/shape.h"

namespace mutirao {

namespace barrier {

Schedule dissemination(const Request& request);
Schedule locality_dissemination(const Request& request);
Schedule direct(const Request& request);
Schedule recursive_exchange(const Request& request);
Schedule tree(const Request& request);

}  // namespace barrier

namespace gather {

Schedule linear(const Request& request);
Schedule synchronised(const Request& request);
Schedule two_level(const Request& request);
Schedule binomial(const Request& request);
Schedule tree(const Request& request);

}  // namespace gather

namespace scatter {

Schedule linear(const Request& request);
Schedule synchronised(const Request& request);
Schedule two_level(const Request& request);
Schedule binomial(const Request& request);
Schedule tree(const Request& request);

}  // namespace scatter

namespace allgather {

Schedule linear(const Request& request);
Schedule ring(const Request& request);
Schedule recursive_doubling(const Request& request);
Schedule bruck(const Request& request);
Schedule neighbor_exchange(const Request& request);
Schedule bine(const Request& request);
Schedule sparbit(const Request& request);
Schedule pat(const Request& request);
Schedule circulant(const Request& request);
Schedule locality_bruck(const Request& request);
Schedule gather_broadcast(const Request& request);
Schedule tree(const Request& request);

}  // namespace allgather

namespace alltoall {

Schedule linear(const Request& request);
Schedule pairwise(const Request& request);
Schedule windowed(const Request& request);
Schedule bruck(const Request& request);
Schedule two_level(const Request& request);

}  // namespace alltoall

namespace {

Algorithm native_of(Collective collective) {
    return {.collective = collective,
            .name = "native",
            .summary = "the MPI library's own",
            .source = "the MPI library in use"};
}

std::vector<Algorithm> barrier_rows() {
    constexpr Collective barrier = Collective::barrier;
    return {
        {.collective = barrier, .name = "dissemination",
         .summary = "signals ahead at growing distances",
         .source = "Hensgen, Finkel and Manber 1988, doi:10.1007/BF01379320",
         .build = barrier::dissemination, .radices = {2, 4, 8}},
        {.collective = barrier, .name = "locality_dissemination",
         .summary = "dissemination between hosts, whose ranks share the work",
         .source = "after Bienz, Gautam and Kharel 2022, arXiv:2206.03564",
         .build = barrier::locality_dissemination, .radices = {2, 5}},
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
}

std::vector<Algorithm> gather_rows() {
    constexpr Collective gather = Collective::gather;
    return {
        {.collective = gather, .name = "linear",
         .summary = "every rank sends to the root at once",
         .source = "Thakur, Rabenseifner and Gropp 2005, doi:10.1177/1094342005051521",
         .build = gather::linear, .blocks = InBlocks::own},
        {.collective = gather, .name = "synchronised",
         .summary = "the root asks for one block after another, the next while the last still comes",
         .source = "Open MPI, linear_sync",
         .build = gather::synchronised, .segmented = true, .blocks = InBlocks::own},
        {.collective = gather, .name = "binomial",
         .summary = "binomial tree over the ranks, subtrees in one piece",
         .source = "Thakur, Rabenseifner and Gropp 2005, doi:10.1177/1094342005051521",
         .build = gather::binomial},
        {.collective = gather, .name = "two_level",
         .summary = "each host's blocks in one message, which the root's neighbours take in turn",
         .source = "after MagPIe, Kielmann et al. 1999, doi:10.1145/301104.301116",
         .build = gather::two_level},
        {.collective = gather, .name = "tree",
         .summary = "up a tree made from the measured network, block by block",
         .source = tree_sources,
         .build = gather::tree, .trees = measured_trees()},
    };
}

std::vector<Algorithm> scatter_rows() {
    constexpr Collective scatter = Collective::scatter;
    return {
        {.collective = scatter, .name = "linear",
         .summary = "the root sends to every rank itself",
         .source = "Thakur, Rabenseifner and Gropp 2005, doi:10.1177/1094342005051521",
         .build = scatter::linear, .blocks = InBlocks::own},
        {.collective = scatter, .name = "synchronised",
         .summary = "the root sends each rank its block once that says that it is ready",
         .source = "the counterpart of Open MPI's gather linear_sync",
         .build = scatter::synchronised, .blocks = InBlocks::own},
        {.collective = scatter, .name = "binomial",
         .summary = "binomial tree over the ranks, subtrees in one piece",
         .source = "Thakur, Rabenseifner and Gropp 2005, doi:10.1177/1094342005051521",
         .build = scatter::binomial},
        {.collective = scatter, .name = "two_level",
         .summary = "each host's blocks in one message, which the root's neighbours send in turn",
         .source = "after MagPIe, Kielmann et al. 1999, doi:10.1145/301104.301116",
         .build = scatter::two_level},
        {.collective = scatter, .name = "tree",
         .summary = "down a tree made from the measured network, block by block",
         .source = tree_sources,
         .build = scatter::tree, .trees = measured_trees()},
    };
}

std::vector<Algorithm> allgather_rows() {
    constexpr Collective allgather = Collective::allgather;
    return {
        {.collective = allgather, .name = "linear",
         .summary = "every rank sends to every other at once",
         .source = "Bruck et al. 1997, doi:10.1109/71.642949",
         .build = allgather::linear, .blocks = InBlocks::uneven},
        {.collective = allgather, .name = "two_proc",
         .summary = "a single exchange, which is linear between two",
         .source = "Open MPI; Bruck et al. 1997, doi:10.1109/71.642949",
         .build = allgather::linear,
         .fits = [](int size) { return size == 2; }, .blocks = InBlocks::uneven},
        {.collective = allgather, .name = "ring",
         .summary = "the blocks go round a ring",
         .source = "Thakur, Rabenseifner and Gropp 2005, doi:10.1177/1094342005051521",
         .build = allgather::ring, .blocks = InBlocks::uneven},
        {.collective = allgather, .name = "recursive_doubling",
         .summary = "pairs exchange all that they hold",
         .source = "Thakur, Rabenseifner and Gropp 2005, doi:10.1177/1094342005051521",
         .build = allgather::recursive_doubling,
         .fits = is_power_of_two, .blocks = InBlocks::uneven},
        {.collective = allgather, .name = "bruck",
         .summary = "all that is held comes from ranks ahead, at growing distances",
         .source = "Bruck et al. 1997, doi:10.1109/71.642949",
         .build = allgather::bruck, .radices = {2, 4, 8}, .blocks = InBlocks::uneven},
        {.collective = allgather, .name = "neighbor_exchange",
         .summary = "two blocks at a time between neighbours, in turn",
         .source = "Chen et al. 2005, doi:10.1109/HPCASIA.2005.79",
         .build = allgather::neighbor_exchange,
         .fits = [](int size) { return size % 2 == 0; }, .blocks = InBlocks::uneven},
        {.collective = allgather, .name = "bine",
         .summary = "pairs exchange all that they hold, far ones first, and less far apart",
         .source = "De Sensi et al. 2025, doi:10.1145/3712285.3759835",
         .build = allgather::bine, .fits = is_power_of_two, .blocks = InBlocks::uneven},
        {.collective = allgather, .name = "sparbit",
         .summary = "far ranks first, so that most blocks go to near ones",
         .source = "Loch and Koslovski 2021, arXiv:2109.08751",
         .build = allgather::sparbit, .blocks = InBlocks::uneven},
        {.collective = allgather, .name = "pat",
         .summary = "as sparbit, with up to `radix` blocks in a message",
         .source = "Jeaugey 2025, arXiv:2506.20252",
         .build = allgather::pat, .radices = {4, 16, 64}},
        {.collective = allgather, .name = "circulant",
         .summary = "like bruck with skips that halve p, without staging",
         .source = "Traeff 2024, arXiv:2410.14234",
         .build = allgather::circulant, .blocks = InBlocks::uneven},
        {.collective = allgather, .name = "locality_bruck",
         .summary = "bruck between hosts, whose ranks share the work and exchange what comes",
         .source = "Bienz, Gautam and Kharel 2022, arXiv:2206.03564",
         .build = allgather::locality_bruck, .radices = {2, 5}, .blocks = InBlocks::uneven},
        {.collective = allgather, .name = "gather_broadcast",
         .summary = "up a binomial tree to rank 0, and down again what a subtree lacks",
         .source = "Chan et al. 2007, doi:10.1002/cpe.1206",
         .build = allgather::gather_broadcast, .blocks = InBlocks::uneven},
        {.collective = allgather, .name = "tree",
         .summary = "outwards from every rank over a tree made from the measured network",
         .source = tree_sources,
         .build = allgather::tree, .trees = measured_trees(), .blocks = InBlocks::uneven},
    };
}

std::vector<Algorithm> alltoall_rows() {
    constexpr Collective alltoall = Collective::alltoall;
    return {
        {.collective = alltoall, .name = "linear",
         .summary = "all blocks at once, beginning with the next rank",
         .source = "Thakur, Rabenseifner and Gropp 2005, doi:10.1177/1094342005051521",
         .build = alltoall::linear, .blocks = InBlocks::own},
        {.collective = alltoall, .name = "pairwise",
         .summary = "one partner at a time",
         .source = "Thakur, Rabenseifner and Gropp 2005, doi:10.1177/1094342005051521",
         .build = alltoall::pairwise, .blocks = InBlocks::own},
        {.collective = alltoall, .name = "windowed",
         .summary = "at most `radix` partners at a time",
         .source = "Thakur, Rabenseifner and Gropp 2005, doi:10.1177/1094342005051521",
         .build = alltoall::windowed, .radices = {4, 16, 32}, .blocks = InBlocks::own},
        {.collective = alltoall, .name = "bruck",
         .summary = "blocks travel digit by digit of their distance, many in a message",
         .source = "Bruck et al. 1997, doi:10.1109/71.642949",
         .build = alltoall::bruck, .radices = {2, 4, 8}},
        {.collective = alltoall, .name = "two_level",
         .summary = "one message between two hosts, by ranks that each speak for some of the others",
         .source = "Kinkead et al. 2025, arXiv:2601.17606",
         .build = alltoall::two_level},
    };
}

// Among all ranks, since they are nothing between one rank of each host:

std::vector<Algorithm> rows_made_for(Collective collective) {
    switch (collective) {
        case Collective::barrier: return barrier_rows();
        case Collective::broadcast: return broadcast_rows();
        case Collective::gather: return gather_rows();
        case Collective::scatter: return scatter_rows();
        case Collective::allgather: return allgather_rows();
        case Collective::alltoall: return alltoall_rows();
        case Collective::reduce: return reduce_rows();
        case Collective::allreduce: return allreduce_rows();
        case Collective::reduce_scatter_block: return reduce_scatter_block_rows();
        case Collective::scan: return scan_rows();
        case Collective::exscan: return exscan_rows();
        case Collective::gatherv:
        case Collective::scatterv:
        case Collective::allgatherv:
        case Collective::alltoallv:
        case Collective::alltoallw:
        case Collective::reduce_scatter: break;
    }
    return {};
}

/// A collective whose blocks are not equal has the rows of its base that can do with that.
std::vector<Algorithm> rows_of(const CollectiveRow& row) {
    std::vector<Algorithm> rows = rows_made_for(row.base);
    std::ranges::copy(native_composition_rows(row.base), std::back_inserter(rows));
    if (row.base == row.collective) return rows;
    std::erase_if(rows, [&](const Algorithm& each) { return each.blocks < row.in_blocks; });
    for (Algorithm& each : rows) each.collective = row.collective;
    return rows;
}

std::vector<Algorithm> whole_table() {
    std::vector<Algorithm> table;
    for (const CollectiveRow& each : collectives) {
        table.push_back(native_of(each.collective));
        const std::vector<Algorithm> rows = rows_of(each);
        table.insert(table.end(), rows.begin(), rows.end());
    }
    return table;
}

}  // namespace

std::span<const Algorithm> catalogue() {
    static const std::vector<Algorithm> table = whole_table();
    return table;
}

}  // namespace mutirao
