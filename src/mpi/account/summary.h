// What the setting `summary` prints at the end of a program, in one line: how much faster or slower its collectives
// were than the MPI library's own, as far as that was measured, net of all that mutirao cost; how many calls ran by
// its algorithms; where none did, why. The setting `explain` adds a line for each kind of call.
#pragma once

#include <string>

#include "mpi/account/records.h"

namespace mutirao::mpi {

class Job;

/// Of all communicators. `job`: null where the MPI library took all calls, or MPI_Init was not seen.
std::string summary(const Job* job);

/// `start_ms`: what MPI_Init took longer.
std::string summary(const Sums& sums, double start_ms);

std::string explanation(const Job* job);

/// Of one communicator; `record` is locked.
std::string explanation(const Record& record);

}  // namespace mutirao::mpi
