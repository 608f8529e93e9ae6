// The catalogue's rows of broadcasts.
#include "core/algorithms/catalogue_rows.h"
#include "core/algorithms/shape.h"

namespace mutirao {

namespace broadcast {

Schedule flat(const Request& request);
Schedule binomial(const Request& request);
Schedule k_nomial(const Request& request);
Schedule locality_tree(const Request& request);
Schedule chain(const Request& request);
Schedule bine(const Request& request);
Schedule split_binary(const Request& request);
Schedule circulant(const Request& request);
Schedule scatter_recursive_doubling_allgather(const Request& request);
Schedule scatter_ring_allgather(const Request& request);
Schedule two_level(const Request& request);
Schedule multi_lane(const Request& request);
Schedule packed_trees(const Request& request);
Schedule striped(const Request& request);
Schedule tree(const Request& request);

}  // namespace broadcast

namespace {

/// Shares of a shorter broadcast are not worth the more messages.
constexpr std::size_t least_bytes_of_shares = 4096;

Algorithm locality_tree_broadcast() {
    return {.collective = Collective::broadcast, .name = "locality_tree",
            .summary = "down a tree in which all ranks of a host serve other hosts",
            .source = "after Bienz, Gautam and Kharel 2022, arXiv:2206.03564",
            .build = broadcast::locality_tree, .segmented = true, .radices = {2, 4}};
}

Algorithm multi_lane_broadcast() {
    return {.collective = Collective::broadcast, .name = "multi_lane",
            .summary = "a share by each rank of a host, put together inside the hosts",
            .source = "Traeff and Hunold 2019, arXiv:1910.13373",
            .build = broadcast::multi_lane, .segmented = true, .segments_of_blocks = true,
            .radices = {2, 8}, .least_bytes = least_bytes_of_shares};
}

Algorithm packed_trees_broadcast() {
    return {.collective = Collective::broadcast, .name = "packed_trees",
            .summary = "a share down each of many trees that leave each other room on the links",
            .source = "Castro et al. 2003, doi:10.1145/945445.945474; Alpert et al. 1995, doi:10.1109/43.406717",
            .build = broadcast::packed_trees, .segmented = true, .segments_of_blocks = true,
            .trees = {TreeKind::packed}, .least_bytes = 32768};
}

}  // namespace

std::vector<Algorithm> broadcast_rows() {
    constexpr Collective broadcast = Collective::broadcast;
    std::vector<Algorithm> rows = {
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
        {.collective = broadcast, .name = "bine",
         .summary = "a binomial tree whose messages go less far round the ranks",
         .source = "De Sensi et al. 2025, doi:10.1145/3712285.3759835",
         .build = broadcast::bine, .segmented = true},
        {.collective = broadcast, .name = "split_binary",
         .summary = "a half down each of two binary trees, then exchanged",
         .source = "Open MPI; Pjesivac-Grbovic et al. 2007, doi:10.1007/s10586-007-0012-0",
         .build = broadcast::split_binary, .segmented = true},
        {.collective = broadcast, .name = "circulant",
         .summary = "a segment in and one out in each round, over skips that take turns",
         .source = "Traeff 2025, doi:10.1145/3735139",
         .build = broadcast::circulant, .segmented = true},
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
         .build = broadcast::two_level, .segmented = true, .trees = {TreeKind::two_level}},
        {.collective = broadcast, .name = "striped",
         .summary = "a share over each host of groups of `radix`, then exchanged in the groups",
         .source = "Traeff and Hunold 2019, arXiv:1910.13373",
         .build = broadcast::striped, .segmented = true, .segments_of_blocks = true,
         .radices = {2, 4, 8, 64}, .least_bytes = least_bytes_of_shares},
        {.collective = broadcast, .name = "tree",
         .summary = "a tree made from the measured network",
         .source = tree_sources,
         .build = broadcast::tree, .segmented = true, .trees = measured_trees()},
    };
    rows.push_back(packed_trees_broadcast());
    for (Algorithm& row : rows) row.level = Level::hosts;
    rows.push_back(locality_tree_broadcast());
    rows.push_back(multi_lane_broadcast());
    return rows;
}

}  // namespace mutirao
