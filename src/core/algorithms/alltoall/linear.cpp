// All blocks are sent at once, each rank beginning with the next so that they do not all begin with
// the same (Thakur, Rabenseifner and Gropp 2005, doi:10.1177/1094342005051521).
//
// Cost, p ranks, blocks of n bytes: depth 1, p - 1 messages a rank; a port sends and receives
// (p - 1) n bytes. Each latency is passed once and all together, but many messages may meet at a
// port. No restrictions.
#include "core/algorithms/alltoall/rounds.h"

namespace mutirao::alltoall {

Schedule linear(const Request& request) {
    return in_rounds(request, Partners::shifted, request.size);
}

}  // namespace mutirao::alltoall
