#include "mpi/executor/binding.h"

namespace mutirao::mpi {

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

}  // namespace mutirao::mpi
