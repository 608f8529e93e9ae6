// Collectives of one message or none, and those that move a block for every rank. With MPI_IN_PLACE a rank's own block
// is there already.
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

namespace {

using Reads = Binding::Reads;
using Writes = Binding::Writes;

Binding of_blocks(Collective collective, int root, const Elements& block) {
    Binding binding;
    binding.shape.collective = collective;
    binding.shape.root = root;
    binding.shape.length_bytes = block.bytes();
    return binding;
}

void read(Binding& binding, const Elements& input) {
    binding.reads = Reads::input;
    binding.input = input;
}

void write(Binding& binding, const Elements& output) {
    binding.writes = Writes::output;
    binding.output = output;
}

Elements times(Elements block, int blocks) {
    block.count *= blocks;
    return block;
}

/// Unless both sides are of one length the MPI library is to say what is wrong.
bool fit(const Elements& one, const Elements& other) { return one.bytes() == other.bytes(); }

/// What the MPICH family refuses: equal types and counts, and the one block where the other shall be.
/// `blocks` are of all ranks, or of none in particular with `index` 0.
bool refused(const void* one, MPI_Count one_count, MPI_Datatype one_type, const void* blocks,
             const Elements& block, int index) {
    return refuses_one_place && one_count > 0 && one_count == block.count &&
           one_type == block.type && one != nullptr &&
           one == static_cast<const std::byte*>(blocks) +
                      static_cast<std::size_t>(index) * block.bytes();
}

/// Reads from a copy what is written before all of it has been sent.
void read(Binding& binding, const Elements& input, bool same_memory) {
    read(binding, input);
    if (same_memory) {
        binding.reads = Reads::copy;
    }
}

/// A rank that sends one block and receives one from each, unless its own is in place.
std::optional<Binding> gathers(Collective collective, int root, const void* send,
                               MPI_Count send_count, MPI_Datatype send_type, void* receive,
                               MPI_Count receive_count, MPI_Datatype receive_type,
                               const Place& here) {
    const auto block = elements(receive, receive_count, receive_type, here.quiet);
    if (!block || refused(send, send_count, send_type, receive, *block, here.rank)) {
        return std::nullopt;
    }
    Binding binding = of_blocks(collective, root, *block);
    write(binding, times(*block, here.size));
    const Elements own = nth(*block, here.rank, receive_count);
    if (send == MPI_IN_PLACE) {
        read(binding, own);
        return binding;
    }
    const auto mine = elements(send, send_count, send_type, here.quiet);
    if (!mine || !fit(*mine, *block)) {
        return std::nullopt;
    }
    read(binding, *mine, send == receive || send == own.buffer);
    return binding;
}

}  // namespace

std::optional<Binding> gather(const Place& here, const void* send, MPI_Count send_count, MPI_Datatype send_type,
                              void* receive, MPI_Count receive_count, MPI_Datatype receive_type, int root, MPI_Comm) {
    if (root < 0 || root >= here.size) {
        return std::nullopt;
    }
    if (root == here.rank) {
        return gathers(Collective::gather, root, send, send_count, send_type, receive,
                       receive_count, receive_type, here);
    }
    const auto mine = elements(send, send_count, send_type, here.quiet);
    if (!mine || send == MPI_IN_PLACE) {
        return std::nullopt;
    }
    Binding binding = of_blocks(Collective::gather, root, *mine);
    read(binding, *mine);
    return binding;
}

std::optional<Binding> scatter(const Place& here, const void* send, MPI_Count send_count, MPI_Datatype send_type,
                               void* receive, MPI_Count receive_count, MPI_Datatype receive_type, int root, MPI_Comm) {
    if (root < 0 || root >= here.size) {
        return std::nullopt;
    }
    const bool in_place = receive == MPI_IN_PLACE;
    if (root != here.rank) {
        const auto mine = elements(receive, receive_count, receive_type, here.quiet);
        if (!mine || in_place) {
            return std::nullopt;
        }
        Binding binding = of_blocks(Collective::scatter, root, *mine);
        write(binding, *mine);
        return binding;
    }
    const auto block = elements(send, send_count, send_type, here.quiet);
    if (!block || refused(receive, receive_count, receive_type, send, *block, here.rank)) {
        return std::nullopt;
    }
    Binding binding = of_blocks(Collective::scatter, root, *block);
    read(binding, times(*block, here.size),
         receive == send || receive == nth(*block, here.rank, send_count).buffer);
    if (in_place) {
        binding.writes = Writes::unseen;
        binding.output = *block;
        return binding;
    }
    const auto mine = elements(receive, receive_count, receive_type, here.quiet);
    if (!mine || !fit(*mine, *block)) {
        return std::nullopt;
    }
    write(binding, *mine);
    return binding;
}

std::optional<Binding> allgather(const Place& here, const void* send, MPI_Count send_count, MPI_Datatype send_type,
                                 void* receive, MPI_Count receive_count, MPI_Datatype receive_type, MPI_Comm) {
    return gathers(Collective::allgather, 0, send, send_count, send_type, receive,
                   receive_count, receive_type, here);
}

std::optional<Binding> alltoall(const Place& here, const void* send, MPI_Count send_count, MPI_Datatype send_type,
                                void* receive, MPI_Count receive_count, MPI_Datatype receive_type, MPI_Comm) {
    const auto block = elements(receive, receive_count, receive_type, here.quiet);
    if (!block || refused(send, send_count, send_type, receive, *block, 0)) {
        return std::nullopt;
    }
    Binding binding = of_blocks(Collective::alltoall, 0, *block);
    write(binding, times(*block, here.size));
    if (send == MPI_IN_PLACE) {
        binding.reads = Reads::copy;
        binding.input = binding.output;
        return binding;
    }
    const auto mine = elements(send, send_count, send_type, here.quiet);
    if (!mine || !fit(*mine, *block)) {
        return std::nullopt;
    }
    read(binding, times(*mine, here.size), send == receive);
    return binding;
}

}  // namespace mutirao::mpi
