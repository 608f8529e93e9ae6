// Up a tree made from the measured network, of the kinds that broadcast has: the minimum spanning
// tree that the hosts maintain (Gallager, Humblet and Spira 1983, doi:10.1145/357195.357200), the
// shortest paths, or the greedy earliest completion (Bhat, Raghavendra and Prasanna 2003,
// doi:10.1016/S0743-7315(03)00008-X). Links are taken to be alike in both directions.
//
// Cost, p ranks: p - 1 messages per segment, depth and load as the tree has them. Needs a tree over
// the same ranks that hangs from the root, and an operator that commutes: ranks below a child may
// be any.
#include "core/algorithms/over_tree.h"
#include "core/algorithms/reduction.h"

namespace mutirao::reduce {

Schedule tree(const Request& request) {
    Dataflow flow;
    pass_up(request, mirrored(place_in_given_tree(request)),
            whole_message(flow, request, request.rank == request.root));
    return std::move(flow).take();
}

}  // namespace mutirao::reduce
