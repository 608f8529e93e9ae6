// Reductions with the program's own operators.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <optional>

#include "core/collectives/call_shape.h"
#include "mpi/executor/memory.h"

namespace mutirao::mpi {

/// What may be done with `op` on elements of `type` (MPI 4.0, section 6.9.2). Nothing where that is
/// for the MPI library to say: errors, and what the standard does not promise.
std::optional<OperatorKind> operator_kind(MPI_Op op, MPI_Datatype type);

/// target = source op target, of packed elements. Returns an MPI error code.
int reduce_packed(const Reduction& reduction, const std::byte* source, std::byte* target,
                  std::size_t length_bytes);

}  // namespace mutirao::mpi
