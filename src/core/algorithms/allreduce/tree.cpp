// Up a tree made from the measured network and down again: a segment goes down as soon as it is
// reduced, while later ones still come up. The trees are those of the broadcast: minimum spanning
// (Gallager, Humblet and Spira 1983, doi:10.1145/357195.357200), shortest paths, or greedy (Bhat,
// Raghavendra and Prasanna 2003, doi:10.1016/S0743-7315(03)00008-X).
//
// Cost, p ranks: 2 (p - 1) messages per segment, twice the depth of the tree; every link carries
// the message once in each direction. Needs a tree over the same ranks, which may hang from any,
// and an operator that commutes.
#include "core/algorithms/over_tree.h"
#include "core/algorithms/reduction.h"

namespace mutirao::allreduce {

Schedule tree(const Request& request) {
    Dataflow flow;
    const TreePlace place = place_in_given_tree(request);
    for (const Partial& part :
         pass_up(request, mirrored(place), whole_message(flow, request, true))) {
        if (place.parent >= 0) flow.receive(place.parent, part.home());
        for (const int child : place.children) flow.send(child, part.home());
    }
    return std::move(flow).take();
}

}  // namespace mutirao::allreduce
