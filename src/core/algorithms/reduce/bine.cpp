// Cost, p ranks, n bytes: depth ceil(log2 p), p - 1 messages; a rank receives and combines up to ceil(log2 p) n
// bytes. The operator must commute: a rank has children on both sides.
#include "core/algorithms/reduction.h"

namespace mutirao::reduce {

static Schedule bine(const Request& request) {
    const int rank = virtual_rank(request.rank, request.root, request.size);
    const TreePlace place =
        with_real_ranks(bine_place(rank, request.size), request.root, request.size);
    Dataflow flow;
    pass_up(request, mirrored(place),
            whole_message(flow, request, request.rank == request.root));
    return std::move(flow).take();
}

Algorithm bine() {
    return {.collective = Collective::reduce,
            .name = "bine",
            .summary = "a binomial tree whose messages go less far round the ranks",
            .source = "De Sensi et al. 2025, doi:10.1145/3712285.3759835",
            .build = bine, .segmented = true};
}

}  // namespace mutirao::reduce
