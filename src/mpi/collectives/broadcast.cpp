#include <optional>

#include "mpi/collectives/collectives.h"
#include "mpi/executor/datatype.h"

namespace mutirao::mpi {
namespace {

// A step's length is an int in MPI's functions; longer messages are the MPI library's, on all ranks.
constexpr std::size_t longest_bytes = std::size_t{1} << 30;

}  // namespace

Outcome broadcast(Job& job, const NativeCall& native, void* buffer, MPI_Count count,
                  MPI_Datatype type, int root, MPI_Comm comm) {
    if (comm == MPI_COMM_NULL || type == MPI_DATATYPE_NULL || count < 0) {
        return {native(), false};
    }
    Communicator& communicator = communicator_of(comm, job);
    if (communicator.is_native()) {
        return {native(), false};
    }
    // Empty messages may be spelt in many ways, all of them equal.
    const auto layout = count == 0 ? std::optional<TypeShape>(TypeShape{})
                                   : shape_of(buffer, count, type, job.twin());
    if (!layout || root < 0 || root >= communicator.rank_count()) {
        return {native(), false};
    }
    const std::size_t length_bytes = static_cast<std::size_t>(count) * layout->packed_bytes;
    CallShape shape;
    shape.collective = Collective::broadcast;
    shape.root = root;
    shape.length_bytes = length_bytes > longest_bytes ? 0 : length_bytes;
    return run(communicator, shape, native,
               [&](Execution& execution, int tag, const Execution::Surroundings& surroundings) {
                   PackedMessage message(buffer, count, type, *layout, job.twin(),
                                         root == communicator.my_rank());
                   Memory memory;
                   memory.output = &message;
                   return execution.run(memory, tag, surroundings);
               });
}

}  // namespace mutirao::mpi
