// Preprocessed, never compiled: the binary interface that a compiler wrapper's mpi.h belongs to, by the names
// that preload/abi.cpp gives them.
#include <mpi.h>
#if defined(MPI_ABI)
mutirao_abi standard
#elif defined(OPEN_MPI)
mutirao_abi open-mpi-OMPI_MAJOR_VERSION
#elif MPI_VERSION >= 4
mutirao_abi mpich
#else
mutirao_abi mpich-3
#endif
