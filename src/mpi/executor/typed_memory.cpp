#include "mpi/executor/typed_memory.h"

#include <algorithm>

namespace mutirao::mpi {

TypedMemory::TypedMemory(MPI_Datatype type, MPI_Count count) {
    MPI_Aint lower = 0, extent = 0, true_lower = 0, true_extent = 0;
    PMPI_Type_get_extent(type, &lower, &extent);
    PMPI_Type_get_true_extent(type, &true_lower, &true_extent);
    const MPI_Aint steps = extent * static_cast<MPI_Aint>(std::max<MPI_Count>(count, 1) - 1);
    // Elements are aligned here as they are in the program's memory.
    constexpr MPI_Aint alignment = alignof(std::max_align_t);
    const MPI_Aint lowest = true_lower + std::min<MPI_Aint>(0, steps);
    const MPI_Aint begin = lowest - (lowest % alignment + alignment) % alignment;
    const MPI_Aint end = true_lower + true_extent + std::max<MPI_Aint>(0, steps);
    memory_ = std::make_unique_for_overwrite<std::byte[]>(static_cast<std::size_t>(end - begin));
    first_ = memory_.get() - begin;
}

}  // namespace mutirao::mpi
