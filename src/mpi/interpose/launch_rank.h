// This process' rank as its launcher tells it, before MPI is initialised.
#pragma once

namespace mutirao::mpi {

/// True in the process that should print a message meant once per job: rank 0, or any process
/// whose launcher does not say its rank.
bool speaks_for_job();

}  // namespace mutirao::mpi
