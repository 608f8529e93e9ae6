// The report of one run, from which `mutirao explain` and the studies read.
#pragma once

namespace mutirao::mpi {

class Job;
struct Runtime;

/// Writes runtime.settings.report as JSON if it is set and this process is rank 0 of the job; `job` is
/// null where the MPI library took all calls. One line on stderr if the file cannot be written; never
/// more.
void write_report(Runtime& runtime, const Job* job);

/// A call of the program went to the MPI library since there is no job. The first one of a program
/// whose MPI_Init was not seen makes that its report is written when the process ends.
void note_native_call();

}  // namespace mutirao::mpi
