// The catalogue's rows of the collectives that reduce.
#include "core/algorithms/catalogue_rows.h"
#include "core/algorithms/shape.h"

namespace mutirao {

namespace reduce {

Schedule flat(const Request& request);
Schedule k_nomial(const Request& request);
Schedule bine(const Request& request);
Schedule locality_tree(const Request& request);
Schedule chain(const Request& request);
Schedule in_order_binary(const Request& request);
Schedule circulant(const Request& request);
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
Schedule bine(const Request& request);
Schedule direct(const Request& request);
Schedule direct_shares(const Request& request);
Schedule multi_lane(const Request& request);
Schedule multi_lane_multiplying(const Request& request);
Schedule locality_exchange(const Request& request);
Schedule reduce_broadcast(const Request& request);
Schedule tree(const Request& request);

}  // namespace allreduce

namespace reduce_scatter_block {

Schedule direct(const Request& request);
Schedule pairwise(const Request& request);
Schedule recursive_halving(const Request& request);
Schedule ring(const Request& request);
Schedule circulant(const Request& request);
Schedule pat(const Request& request);
Schedule reduce_scatter(const Request& request);

}  // namespace reduce_scatter_block

namespace scan {

Schedule linear(const Request& request);
Schedule recursive_doubling(const Request& request);
Schedule direct(const Request& request);
Schedule two_level(const Request& request);

}  // namespace scan

namespace exscan {

Schedule linear(const Request& request);
Schedule recursive_doubling(const Request& request);
Schedule direct(const Request& request);
Schedule two_level(const Request& request);

}  // namespace exscan

std::vector<Algorithm> reduce_rows() {
    constexpr Collective reduce = Collective::reduce;
    return {
        {.collective = reduce, .name = "flat",
         .summary = "every rank sends to the root, which combines in order",
         .source = "Kielmann et al. 1999, doi:10.1145/301104.301116",
         .build = reduce::flat, .keeps_order = true, .from_first = true},
        {.collective = reduce, .name = "k_nomial",
         .summary = "k-nomial tree over the ranks, binomial for radix 2",
         .source = "Thakur, Rabenseifner and Gropp 2005, doi:10.1177/1094342005051521",
         .build = reduce::k_nomial, .segmented = true, .radices = {2, 4, 8}, .keeps_order = true},
        {.collective = reduce, .name = "bine",
         .summary = "a binomial tree whose messages go less far round the ranks",
         .source = "De Sensi et al. 2025, doi:10.1145/3712285.3759835",
         .build = reduce::bine, .segmented = true},
        {.collective = reduce, .name = "locality_tree",
         .summary = "up a tree in which all ranks of a host serve other hosts",
         .source = "after Bienz, Gautam and Kharel 2022, arXiv:2206.03564",
         .build = reduce::locality_tree, .segmented = true, .radices = {2, 4}},
        {.collective = reduce, .name = "chain",
         .summary = "each rank adds its operand and passes it on: a pipeline",
         .source = "Pjesivac-Grbovic et al. 2007, doi:10.1007/s10586-007-0012-0",
         .build = reduce::chain, .segmented = true, .keeps_order = true},
        {.collective = reduce, .name = "in_order_binary",
         .summary = "a binary tree with every rank between its children's ranks",
         .source = "Open MPI; Pjesivac-Grbovic et al. 2007, doi:10.1007/s10586-007-0012-0",
         .build = reduce::in_order_binary, .segmented = true, .keeps_order = true},
        {.collective = reduce, .name = "circulant",
         .summary = "a segment in and one out in each round, over skips that take turns",
         .source = "Traeff 2024, arXiv:2407.18004",
         .build = reduce::circulant, .segmented = true},
        {.collective = reduce, .name = "rabenseifner",
         .summary = "recursive halving, then the blocks are gathered at the root",
         .source = "Rabenseifner 2004, doi:10.1007/978-3-540-24685-5_1",
         .build = reduce::rabenseifner, .keeps_order = true},
        {.collective = reduce, .name = "tree",
         .summary = "up a tree made from the measured network",
         .source = tree_sources,
         .build = reduce::tree, .segmented = true,
         .trees = measured_trees()},
    };
}

std::vector<Algorithm> allreduce_rows_by_hosts() {
    constexpr Collective allreduce = Collective::allreduce;
    return {
        {.collective = allreduce, .name = "multi_lane",
         .summary = "a share by each rank of a host between the hosts, put together inside them",
         .source = "Traeff and Hunold 2019, arXiv:1910.13373",
         .build = allreduce::multi_lane},
        {.collective = allreduce, .name = "multi_lane_multiplying",
         .summary = "the same by recursive multiplying between the hosts, for short messages",
         .source = "Traeff and Hunold 2019, arXiv:1910.13373",
         .build = allreduce::multi_lane_multiplying, .radices = {2, 4, 8}},
        {.collective = allreduce, .name = "locality_exchange",
         .summary = "each host's sum to all ranks, by ranks of a host that share the work",
         .source = "after Bienz, Olson and Gropp 2019, arXiv:1910.09650",
         .build = allreduce::locality_exchange, .radices = {2, 5}},
    };
}

std::vector<Algorithm> allreduce_rows() {
    constexpr Collective allreduce = Collective::allreduce;
    std::vector<Algorithm> rows = {
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
        {.collective = allreduce, .name = "bine",
         .summary = "as recursive_doubling, with partners that are less far apart",
         .source = "De Sensi et al. 2025, doi:10.1145/3712285.3759835",
         .build = allreduce::bine, .fits = is_power_of_two},
        {.collective = allreduce, .name = "direct",
         .summary = "every rank sends to every other and combines by itself",
         .source = "all operands at once, as the collective is defined",
         .build = allreduce::direct, .keeps_order = true, .from_first = true},
        {.collective = allreduce, .name = "direct_shares",
         .summary = "every rank combines a share of all operands and sends it to every other",
         .source = "Chan et al. 2007, doi:10.1002/cpe.1206",
         .build = allreduce::direct_shares, .keeps_order = true, .from_first = true},
        {.collective = allreduce, .name = "reduce_broadcast",
         .summary = "up and down a k-nomial tree over the ranks",
         .source = "Chan et al. 2007, doi:10.1002/cpe.1206",
         .build = allreduce::reduce_broadcast, .segmented = true, .radices = {2, 4, 8},
         .keeps_order = true},
        {.collective = allreduce, .name = "tree",
         .summary = "up and down a tree made from the measured network",
         .source = tree_sources,
         .build = allreduce::tree, .segmented = true,
         .trees = measured_trees()},
    };
    const std::vector<Algorithm> by_hosts = allreduce_rows_by_hosts();
    rows.insert(rows.end(), by_hosts.begin(), by_hosts.end());
    return rows;
}

std::vector<Algorithm> reduce_scatter_block_rows() {
    constexpr Collective reduce_scatter_block = Collective::reduce_scatter_block;
    return {
        {.collective = reduce_scatter_block, .name = "direct",
         .summary = "every rank sends each other its block and combines in order",
         .source = "all operands at once, as the collective is defined",
         .build = reduce_scatter_block::direct, .keeps_order = true, .from_first = true,
         .blocks = InBlocks::uneven},
        {.collective = reduce_scatter_block, .name = "pairwise",
         .summary = "one peer at a time, at growing distance",
         .source = "Thakur, Rabenseifner and Gropp 2005, doi:10.1177/1094342005051521",
         .build = reduce_scatter_block::pairwise, .blocks = InBlocks::uneven},
        {.collective = reduce_scatter_block, .name = "recursive_halving",
         .summary = "partners split the blocks that both hold, at halving distances",
         .source = "Thakur, Rabenseifner and Gropp 2005, doi:10.1177/1094342005051521",
         .build = reduce_scatter_block::recursive_halving, .blocks = InBlocks::uneven},
        {.collective = reduce_scatter_block, .name = "ring",
         .summary = "blocks go round a ring and are reduced on the way",
         .source = "Patarasuk and Yuan 2009, doi:10.1016/j.jpdc.2008.09.002",
         .build = reduce_scatter_block::ring, .segmented = true, .blocks = InBlocks::uneven},
        {.collective = reduce_scatter_block, .name = "circulant",
         .summary = "along halving skips, for any number of ranks",
         .source = "Traeff 2024, arXiv:2410.14234",
         .build = reduce_scatter_block::circulant, .blocks = InBlocks::uneven},
        {.collective = reduce_scatter_block, .name = "pat",
         .summary = "up a tree to every rank, with up to `radix` partial results in a message",
         .source = "Jeaugey 2025, arXiv:2506.20252",
         .build = reduce_scatter_block::pat, .radices = {4, 16, 64}},
        {.collective = reduce_scatter_block, .name = "reduce_scatter",
         .summary = "reduced to rank 0 over a k-nomial tree, then scattered over a binomial one",
         .source = "Chan et al. 2007, doi:10.1002/cpe.1206",
         .build = reduce_scatter_block::reduce_scatter, .radices = {2, 4, 8},
         .keeps_order = true},
    };
}

std::vector<Algorithm> scan_rows() {
    constexpr Collective scan = Collective::scan;
    return {
        {.collective = scan, .name = "linear",
         .summary = "each rank adds its operand and passes it on: a pipeline",
         .source = "Sanders and Traeff 2006, doi:10.1007/11846802_15",
         .build = scan::linear, .segmented = true, .keeps_order = true, .from_first = true},
        {.collective = scan, .name = "recursive_doubling",
         .summary = "every rank sends on what it has, at doubling distances",
         .source = "Hillis and Steele 1986, doi:10.1145/7902.7903; "
                   "Sanders and Traeff 2006, doi:10.1007/11846802_15",
         .build = scan::recursive_doubling, .keeps_order = true},
        {.collective = scan, .name = "direct",
         .summary = "every rank sends to all ranks after it",
         .source = "all operands at once, as the collective is defined",
         .build = scan::direct, .keeps_order = true, .from_first = true},
        {.collective = scan, .name = "two_level",
         .summary = "sums inside each host and between the hosts' last ranks, then added inside",
         .source = "Sanders and Traeff 2006, doi:10.1007/11846802_15",
         .build = scan::two_level, .keeps_order = true},
    };
}

std::vector<Algorithm> exscan_rows() {
    constexpr Collective exscan = Collective::exscan;
    return {
        {.collective = exscan, .name = "linear",
         .summary = "each rank adds its operand and passes it on: a pipeline",
         .source = "Sanders and Traeff 2006, doi:10.1007/11846802_15",
         .build = exscan::linear, .segmented = true, .keeps_order = true, .from_first = true},
        {.collective = exscan, .name = "recursive_doubling",
         .summary = "every rank sends on what it has, at doubling distances",
         .source = "Hillis and Steele 1986, doi:10.1145/7902.7903; "
                   "Sanders and Traeff 2006, doi:10.1007/11846802_15",
         .build = exscan::recursive_doubling, .keeps_order = true},
        {.collective = exscan, .name = "direct",
         .summary = "every rank sends to all ranks after it",
         .source = "all operands at once, as the collective is defined",
         .build = exscan::direct, .keeps_order = true, .from_first = true},
        {.collective = exscan, .name = "two_level",
         .summary = "sums inside each host and between the hosts' last ranks, then added inside",
         .source = "Sanders and Traeff 2006, doi:10.1007/11846802_15",
         .build = exscan::two_level, .keeps_order = true},
    };
}

}  // namespace mutirao
