// Collectives of one message, or of none.
#include "mpi/collectives/collectives.h"

namespace mutirao::mpi {

Outcome barrier(Job& job, const NativeCall& native, MPI_Comm comm) {
    return take(job, comm, native, [](const Place&) -> std::optional<Binding> {
        Binding binding;
        binding.shape.collective = Collective::barrier;
        return binding;
    });
}

Outcome broadcast(Job& job, const NativeCall& native, void* buffer, MPI_Count count,
                  MPI_Datatype type, int root, MPI_Comm comm) {
    return take(job, comm, native, [&](const Place& here) -> std::optional<Binding> {
        const auto message = elements(buffer, count, type, here.quiet);
        if (!message || root < 0 || root >= here.size) {
            return std::nullopt;
        }
        Binding binding;
        binding.shape.collective = Collective::broadcast;
        binding.shape.root = root;
        binding.shape.length_bytes = message->bytes();
        binding.writes =
            root == here.rank ? Binding::Writes::passed_on : Binding::Writes::received;
        binding.output = *message;
        return binding;
    });
}

}  // namespace mutirao::mpi
