// The one table of algorithms. A new one is one file, its declaration and its row here; tests,
// help, benchmark, prediction and pictures follow.
#include "core/algorithms/algorithm.h"

namespace mutirao {

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

namespace {

using enum TreeKind;

Algorithm native_of(Collective collective) {
    return {.collective = collective,
            .name = "native",
            .summary = "the MPI library's own",
            .source = "the MPI library in use"};
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
         .source = "Thome and Drummond; Gallager, Humblet and Spira 1983, "
                   "doi:10.1145/357195.357200; Bhat, Raghavendra and Prasanna 2003, "
                   "doi:10.1016/S0743-7315(03)00008-X",
         .build = broadcast::tree, .segmented = true,
         .trees = {minimum_spanning, shortest_path, greedy}},
    };
    for (Algorithm row : rows) {
        row.level = Level::hosts;
        table.push_back(std::move(row));
    }
}

std::vector<Algorithm> rows() {
    std::vector<Algorithm> table;
    for (const CollectiveRow& each : collectives) {
        table.push_back(native_of(each.collective));
        if (each.collective == Collective::broadcast) add_broadcast(table);
    }
    return table;
}

}  // namespace

std::span<const Algorithm> catalogue() {
    static const std::vector<Algorithm> table = rows();
    return table;
}

}  // namespace mutirao
