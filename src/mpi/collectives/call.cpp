#include "mpi/collectives/call.h"

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

int lay_out(const Binding& binding, Memory& memory) {
    switch (binding.writes) {
        case Binding::Writes::nothing: break;
        case Binding::Writes::output: memory.write(binding.output); break;
        case Binding::Writes::unseen: memory.discard(binding.output.bytes()); break;
        case Binding::Writes::blocks: memory.write_blocks(binding.output_blocks); break;
        case Binding::Writes::received: memory.pass_on(binding.output, false); break;
        case Binding::Writes::passed_on: memory.pass_on(binding.output, true); break;
    }
    memory.reduction = binding.reduction;
    switch (binding.reads) {
        case Binding::Reads::nothing: break;
        case Binding::Reads::input: memory.read(binding.input); break;
        case Binding::Reads::copy: return memory.read_copy(binding.input);
        case Binding::Reads::blocks: return memory.read_blocks(binding.input_blocks);
    }
    return MPI_SUCCESS;
}

}  // namespace

std::optional<Elements> elements(const void* buffer, MPI_Count count, MPI_Datatype type,
                                 MPI_Comm twin) {
    if (type == MPI_DATATYPE_NULL || count < 0 || buffer == MPI_IN_PLACE) {
        return std::nullopt;
    }
    // Empty messages may be spelt in many ways, all of them equal.
    const auto layout = count == 0 ? std::optional<TypeShape>(TypeShape{})
                                   : shape_of(buffer, count, type, twin);
    if (!layout) {
        return std::nullopt;
    }
    return Elements{const_cast<void*>(buffer), count, type, *layout};
}

Elements nth(const Elements& blocks, int index, MPI_Count count) {
    auto extent = static_cast<MPI_Aint>(blocks.layout.packed_bytes);
    if (!blocks.layout.in_place) {
        MPI_Aint lower = 0;
        PMPI_Type_get_extent(blocks.type, &lower, &extent);
    }
    Elements one = blocks;
    one.buffer = static_cast<std::byte*>(blocks.buffer) +
                 static_cast<MPI_Aint>(index) * static_cast<MPI_Aint>(count) * extent;
    one.count = count;
    return one;
}

Outcome run(Communicator& communicator, const Binding& binding, MPI_Comm twin,
            const NativeCall& native) {
    if (is_too_long(binding.shape, communicator.rank_count())) {
        return {native(), false};
    }
    const Communicator::Turn turn = communicator.enter(binding.shape);
    Outcome outcome;
    if (turn.execution == nullptr) {
        outcome.error = native();
    } else {
        Memory memory(twin);
        outcome.error = lay_out(binding, memory);
        if (outcome.error == MPI_SUCCESS) {
            outcome.error = turn.execution->run(memory, turn.tag, communicator.surroundings());
        }
        outcome.to_be_raised = outcome.error != MPI_SUCCESS;
    }
    communicator.leave(turn);
    return outcome;
}

}  // namespace mutirao::mpi
