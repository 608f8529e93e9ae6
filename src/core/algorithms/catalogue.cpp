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

constexpr bool segmented = true;
constexpr bool whole = false;
constexpr bool inside_a_host = true;

std::vector<Algorithm> rows() {
    using enum TreeKind;
    constexpr Collective collective = Collective::broadcast;
    return {
        {collective, "native", "the MPI library's own broadcast", "the MPI library in use",
         whole, {}, {}, nullptr},
        {collective, "flat", "the root sends to every rank itself",
         "Kielmann et al. 1999, doi:10.1145/301104.301116",
         whole, {}, {}, broadcast::flat, inside_a_host},
        {collective, "binomial", "binomial tree over the ranks, as MPICH",
         "Thakur, Rabenseifner and Gropp 2005, doi:10.1177/1094342005051521",
         segmented, {}, {}, broadcast::binomial, inside_a_host},
        {collective, "k_nomial", "k-nomial tree over the ranks: shallower, with busier ranks",
         "Pjesivac-Grbovic et al. 2007, doi:10.1007/s10586-007-0012-0",
         segmented, {3, 4, 8}, {}, broadcast::k_nomial, inside_a_host},
        {collective, "chain", "each rank passes the message on to the next: a pipeline",
         "Pjesivac-Grbovic et al. 2007, doi:10.1007/s10586-007-0012-0",
         segmented, {}, {}, broadcast::chain, inside_a_host},
        {collective, "split_binary", "a half down each of two binary trees, then exchanged",
         "Open MPI; Pjesivac-Grbovic et al. 2007, doi:10.1007/s10586-007-0012-0",
         segmented, {}, {}, broadcast::split_binary},
        {collective, "scatter_recursive_doubling_allgather",
         "binomial scatter, then groups that exchange blocks and double",
         "Thakur, Rabenseifner and Gropp 2005, doi:10.1177/1094342005051521",
         whole, {}, {}, broadcast::scatter_recursive_doubling_allgather},
        {collective, "scatter_ring_allgather",
         "binomial scatter, then the blocks go round a ring (van de Geijn)",
         "Barnett et al. 1994, doi:10.1109/SHPCC.1994.296665",
         whole, {}, {}, broadcast::scatter_ring_allgather},
        {collective, "two_level", "once to each site, then binomial trees inside, as MagPIe",
         "Kielmann et al. 1999, doi:10.1145/301104.301116",
         segmented, {}, {two_level}, broadcast::two_level},
        {collective, "tree", "a tree made from the measured network",
         "Thome and Drummond; Gallager, Humblet and Spira 1983, doi:10.1145/357195.357200; "
         "Bhat, Raghavendra and Prasanna 2003, doi:10.1016/S0743-7315(03)00008-X",
         segmented, {}, {minimum_spanning, shortest_path, greedy}, broadcast::tree},
    };
}

}  // namespace

std::span<const Algorithm> catalogue() {
    static const std::vector<Algorithm> table = rows();
    return table;
}

}  // namespace mutirao
