// As linear, but with at most `radix` ranks sent to and as many received from at a time, which
// bounds how many messages meet at a port, as in the throttled exchange that MPICH makes of its
// linear one (Thakur, Rabenseifner and Gropp 2005, doi:10.1177/1094342005051521).
//
// Cost, p ranks, blocks of n bytes, window w: about (p - 1) / w latencies in a row, p - 1 messages
// a rank; a port sends and receives (p - 1) n bytes. No restrictions; window 1 is pairwise but for
// powers of two, a window of p - 1 linear.
#include "core/algorithms/alltoall/rounds.h"

namespace mutirao::alltoall {

Schedule windowed(const Request& request) {
    return in_rounds(request, Partners::shifted, request.parameters.radix);
}

}  // namespace mutirao::alltoall
