// Pairs of ranks exchange all that they hold, and hold twice as much (Thakur, Rabenseifner and
// Gropp 2005, doi:10.1177/1094342005051521).
//
// Cost, p ranks, blocks of n bytes: log2 p steps and messages a rank; a port sends and receives
// (p - 1) n bytes. Half of the bytes go between ranks p / 2 apart. Only for powers of two:
// otherwise bruck, circulant and sparbit take as many steps.
#include <vector>

#include "core/algorithms/equal_blocks.h"

namespace mutirao::allgather {

Schedule recursive_doubling(const Request& request) {
    Schedule schedule;
    if (request.length_bytes == 0) return schedule;
    // What is sent in later steps lies beside the own block, so they come after its copy too.
    std::vector<StepId> held{copy_own_block(schedule, request)};
    for (int group = 1; group < request.size; group *= 2) {
        const int peer = request.rank ^ group;
        const int mine = request.rank / group * group;
        const int theirs = peer / group * group;
        if (group == 1) {
            schedule.send(peer, own_input(request));
        } else {
            schedule.send(peer, blocks_from(Buffer::output, mine, group, request.length_bytes),
                          held);
        }
        held.push_back(schedule.receive(
            peer, blocks_from(Buffer::output, theirs, group, request.length_bytes)));
    }
    return schedule;
}

}  // namespace mutirao::allgather
