// Whether a private communicator pays: it takes as long as some messages between the farthest hosts, before a call
// can gain anything (docs/architecture.md, The start). So long as nobody knows how long the program will go on, it is
// taken to be half way; who ran before under the same name is taken to run as long again.
#pragma once

#include <optional>

#include "core/selection/profile.h"

namespace mutirao {

struct Investment {
    double cost_us = 0;  ///< of making it
    double ran_us = 0;   ///< since MPI_Init
    double gain_us = 0;  ///< predicted: what the calls so far would have taken less
    std::optional<ProgramRun> before{};
};

bool pays(const Investment& investment);

}  // namespace mutirao
