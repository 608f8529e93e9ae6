// The report of one run, from which `mutirao explain` and the studies read.
#pragma once

namespace mutirao::mpi {

struct Runtime;

/// Writes runtime.settings.report as JSON if it is set and this process is rank 0 of the job. One
/// line on stderr if the file cannot be written; never more.
void write_report(Runtime& runtime);

}  // namespace mutirao::mpi
