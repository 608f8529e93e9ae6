// The report of one run, from which `mutirao explain` and the studies read.
#pragma once

#include <string>

namespace mutirao::mpi {

class Job;
struct Runtime;

/// Writes runtime.settings.report as JSON if it is set and this process is rank 0 of the job; `job` is
/// null where the MPI library took all calls. One line on stderr if the file cannot be written; never
/// more.
void write_report(Runtime& runtime, const Job* job);

/// The MPI library's name and version, e.g. "Open MPI v5.0.11"; so it stands in profiles, too.
std::string library_version();

/// A call of the program went to the MPI library since there is no job. The first one of a program
/// whose MPI_Init was not seen makes that its report is written when the process ends.
void note_native_call();

}  // namespace mutirao::mpi
