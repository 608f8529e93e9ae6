// Open MPI's processes learn each other's addresses (the modex) by PMIx, each when it first needs it, and wait inside
// the call for the launcher's host and back: between sites a first broadcast takes seconds for that (docs/results.md).
#pragma once

namespace mutirao::mpi {

/// Asks PMIx for the addresses of all ranks of MPI_COMM_WORLD that calls may need first, once, and waits for nothing:
/// the MPI library then finds them in the process. All of them up to a size, beyond that those that trees and
/// dissemination lead to. Nothing happens where PMIx is not the way, or the library needs no addresses of TCP.
void fetch_modex_ahead();

}  // namespace mutirao::mpi
