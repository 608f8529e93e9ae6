// All that is remembered of a run, as JSON.
#pragma once

#include <string>

namespace mutirao::mpi {

class Job;
struct Runtime;

/// `runtime`: null without MPI_Init. `job`: see write_report(). Beside the program if it is `running`: no lock
/// is held for long that a call may wait for, and MPI is not called once library_version() has been.
std::string report_json(Runtime* runtime, const Job* job, bool running);

}  // namespace mutirao::mpi
