// Collectives of one message, or of none.
#include "mpi/collectives/collectives.h"

namespace mutirao::mpi {

std::optional<Binding> barrier(const Place&, MPI_Comm) {
    Binding binding;
    binding.shape.collective = Collective::barrier;
    return binding;
}

std::optional<Binding> broadcast(const Place& here, void* buffer, MPI_Count count, MPI_Datatype type, int root,
                                 MPI_Comm) {
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
}

}  // namespace mutirao::mpi
