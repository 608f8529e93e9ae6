// What the setting `explain` prints at the end of a program, under a bare preload, too: what ran for which
// calls, what that was predicted and measured to take beside the MPI library's own, why, and when it changed.
// In short: all of it is in the report.
#pragma once

#include <string>

#include "mpi/communicator/record.h"

namespace mutirao::mpi {

class Job;
struct Runtime;

/// `runtime`: null without MPI_Init. `job`: null where the MPI library took all calls.
std::string explanation(Runtime* runtime, const Job* job);

/// Of one communicator; `record` is locked.
std::string explanation(const Record& record);

}  // namespace mutirao::mpi
