// The paper puts its reduce-scatter of short vectors together so.
//
// Cost, p ranks, blocks of n bytes, radix k: depth ceil(log_k p) + ceil(log2 p); 2 (p - 1) messages in all, fewer
// than of any exchange in which all ranks send; up to ceil(log_k p) (k - 1) p n bytes enter rank 0. For short
// blocks, and for operators that do not commute. Scratch for p blocks and for those that wait.
#include "core/algorithms/algorithm.h"

namespace mutirao::reduce {

Schedule k_nomial(const Request& request);

}  // namespace mutirao::reduce

namespace mutirao::scatter {

Schedule binomial(const Request& request);

}  // namespace mutirao::scatter

namespace mutirao::reduce_scatter_block {

static Schedule reduce_scatter(const Request& request) {
    Request whole = request;
    whole.length_bytes *= static_cast<std::size_t>(request.size);
    const bool collects = request.rank == request.root;
    const Region reduced{Buffer::scratch, 0, collects ? whole.length_bytes : 0};
    const auto as_numbered = [](int rank) { return rank; };
    Schedule schedule;
    schedule.append(reduce::k_nomial(whole), as_numbered, {.output = reduced});
    schedule.append(scatter::binomial(request), as_numbered, {.input = reduced});
    return schedule;
}

Algorithm reduce_scatter() {
    return {.collective = Collective::reduce_scatter_block,
            .name = "reduce_scatter",
            .summary = "reduced to rank 0 over a k-nomial tree, then scattered over a binomial one",
            .source = "Chan et al. 2007, doi:10.1002/cpe.1206",
            .build = reduce_scatter, .radices = {2, 4, 8}, .keeps_order = true};
}

}  // namespace mutirao::reduce_scatter_block
