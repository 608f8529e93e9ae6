#include "mpi/collectives/collectives.h"

#include "mpi/executor/memory.h"

namespace mutirao::mpi {
namespace {

// Longer calls are the MPI library's, on all ranks. Where one rank does not know how long the others' are,
// long blocks go as several messages instead.
bool is_too_long(const CallShape& shape, int size) {
    const InBlocks in_blocks = row_of(shape.collective).in_blocks;
    if (in_blocks == InBlocks::own) {
        return false;
    }
    const std::size_t blocks = in_blocks == InBlocks::none ? 1 : static_cast<std::size_t>(size);
    return shape.length_bytes > longest_step_bytes / blocks;
}

}  // namespace

std::optional<Elements> elements(const void* buffer, MPI_Count count, MPI_Datatype type,
                                 MPI_Comm quiet) {
    if (type == MPI_DATATYPE_NULL || count < 0 || buffer == MPI_IN_PLACE) {
        return std::nullopt;
    }
    // Empty messages may be spelt in many ways, all of them equal.
    const auto layout = count == 0 ? std::optional<TypeShape>(TypeShape{})
                                   : shape_of(buffer, count, type, quiet);
    if (!layout) {
        return std::nullopt;
    }
    Elements all{const_cast<void*>(buffer), count, type, *layout};
    all.layout.in_place = layout->in_place && !is_on_device(buffer);
    return all;
}

Outcome run(Communicator& communicator, const Binding& binding, MPI_Comm comm, MPI_Comm quiet,
            const NativeCall& native) {
    if (is_too_long(binding.shape, communicator.rank_count())) {
        return {native(), false};
    }
    const Communicator::Turn turn = communicator.enter(binding.shape);
    const auto& [plan, composition] = turn.by;
    Outcome outcome;
    if (plan != nullptr) {
        Operation& operation = communicator.operation();
        outcome.error = lay_out(binding, operation.memory(quiet));
        if (outcome.error == MPI_SUCCESS) {
            outcome.error = operation.run(*plan, turn.tag, communicator.surroundings());
        }
        outcome.to_be_raised = outcome.error != MPI_SUCCESS;
    } else if (composition != nullptr) {
        outcome = composition({binding, comm, communicator.my_rank(), communicator.rank_count(), quiet});
    } else {
        outcome.error = native();
    }
    communicator.leave(turn);
    return outcome;
}

}  // namespace mutirao::mpi
