// Over a tree made from the measured network: the minimum spanning tree that the hosts maintain
// (Thome and Drummond, "Biblioteca de Comunicacao Coletiva para Ambientes Distribuidos Dinamicos";
// Gallager, Humblet and Spira 1983, doi:10.1145/357195.357200), the shortest paths from the root,
// or the greedy earliest completion of Bhat, Raghavendra and Prasanna 2003
// (doi:10.1016/S0743-7315(03)00008-X).
//
// Cost, p ranks: p - 1 messages per segment, depth and load as the tree has them. Needs a tree
// over the same ranks that hangs from the root.
#include "core/algorithms/over_tree.h"

namespace mutirao::broadcast {

Schedule tree(const Request& request) { return over_given_tree(request); }

}  // namespace mutirao::broadcast
