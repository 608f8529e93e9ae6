// What people read of a record, in the words of `explain` and `verbose`.
#pragma once

#include <cstddef>
#include <string>

#include "mpi/communicator/record.h"

namespace mutirao::mpi {

/// "MPI_COMM_WORLD (4 ranks)".
std::string title_of(const Record& record);

/// "allgather of 4 KiB"; `length_bytes`: of such calls.
std::string name_of(const ShapeClass& shapes, std::size_t length_bytes);
/// The same of calls of the communicator that `record` is of, which is locked.
std::string name_of(const Record& record, const ShapeClass& shapes);

/// "from call 21 on, allgather of 4 KiB: native -> ring"; `record` is locked.
std::string said_of(const Record& record, const ChoiceChange& change);

}  // namespace mutirao::mpi
