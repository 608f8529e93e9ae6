// The paper's butterfly. Where p is no power of two, each rank too many reports to one of the others before and
// hears from it after.
//
// Cost, p ranks: log2 p rounds for a power of two, otherwise floor(log2 p) + 2; a message a rank and round. Both
// partners of a pair use the same link, where dissemination uses two.
#include <bit>
#include <vector>

#include "core/algorithms/algorithm.h"
#include "core/algorithms/shape.h"

namespace mutirao::barrier {

static Schedule recursive_exchange(const Request& request) {
    Schedule schedule;
    const int rank = request.rank;
    const int paired = static_cast<int>(std::bit_floor(static_cast<unsigned>(request.size)));
    if (rank >= paired) {
        schedule.send(rank - paired, signal);
        schedule.receive(rank - paired, signal);
        return schedule;
    }
    const bool has_extra = rank + paired < request.size;
    std::vector<StepId> heard;
    if (has_extra) heard.push_back(schedule.receive(rank + paired, signal));
    for (int distance = 1; distance < paired; distance *= 2) {
        schedule.send(rank ^ distance, signal, heard);
        heard.push_back(schedule.receive(rank ^ distance, signal));
    }
    if (has_extra) schedule.send(rank + paired, signal, heard);
    return schedule;
}

Algorithm recursive_exchange() {
    return {.name = "recursive_exchange",
            .summary = "pairs signal to each other at doubling distances",
            .source = "Brooks 1986, doi:10.1007/BF01407877",
            .build = recursive_exchange};
}

}  // namespace mutirao::barrier
