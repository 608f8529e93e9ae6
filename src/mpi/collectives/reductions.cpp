// Reductions. With MPI_IN_PLACE the operands are copied first, since the result takes their place.
#include <algorithm>

#include "mpi/collectives/collectives.h"
#include "mpi/executor/memory.h"

namespace mutirao::mpi {
namespace {

using Reads = Binding::Reads;
using Writes = Binding::Writes;

struct Operands {
    const void* send;
    void* receive;
    MPI_Count count;
    MPI_Datatype type;
    MPI_Op op;
    MPI_Count operands = count;  ///< elements that are combined, on each rank
    bool has_result = true;  ///< this rank gets one
    bool may_be_in_place = true;
};

/// Result and operands in one place where the MPI library says that they are not: MPICH looks at MPI_Exscan's
/// on the first rank too, which has no result.
bool refused(Collective collective, const Operands& given) {
    if (!given.has_result && collective != Collective::exscan) {
        return false;
    }
    const bool same = given.send == given.receive && given.send != nullptr && given.operands > 0;
    const bool looks = refuses_one_place || collective == Collective::reduce ||
                       collective == Collective::allreduce;
    return (same && looks) || (refuses_one_place && given.receive == MPI_IN_PLACE);
}

std::optional<Binding> reduces(Collective collective, int root, const Operands& given,
                               const Place& here) {
    const bool in_place = given.send == MPI_IN_PLACE;
    if (in_place && !given.may_be_in_place) {
        return std::nullopt;
    }
    const auto kind = operator_kind(given.op, given.type);
    const void* const from = in_place ? given.receive : given.send;
    const auto input = elements(from, given.operands, given.type, here.quiet);
    if (!kind || !input || refused(collective, given)) {
        return std::nullopt;
    }
    Binding binding;
    binding.shape = {.collective = collective,
                     .root = root,
                     .length_bytes = static_cast<std::size_t>(given.count) *
                                     input->layout.packed_bytes,
                     .unit_bytes = std::max<std::size_t>(input->layout.packed_bytes, 1),
                     .op = *kind};
    binding.reduction = {given.op, given.type, input->layout, kind->commutes};
    if (given.has_result) {
        const auto output = elements(given.receive, given.count, given.type, here.quiet);
        if (!output) {
            return std::nullopt;
        }
        binding.writes = Writes::output;
        binding.output = *output;
    }
    const bool same_memory = in_place || (given.has_result && given.send == given.receive);
    binding.reads = same_memory ? Reads::copy : Reads::input;
    binding.input = *input;
    return binding;
}

}  // namespace

std::optional<Binding> reduce(const Place& here, const void* send, void* receive, MPI_Count count, MPI_Datatype type,
                              MPI_Op op, int root, MPI_Comm) {
    if (root < 0 || root >= here.size) {
        return std::nullopt;
    }
    const bool mine = root == here.rank;
    return reduces(Collective::reduce, root,
                   {.send = send, .receive = receive, .count = count, .type = type, .op = op,
                    .has_result = mine, .may_be_in_place = mine},
                   here);
}

std::optional<Binding> allreduce(const Place& here, const void* send, void* receive, MPI_Count count, MPI_Datatype type,
                                 MPI_Op op, MPI_Comm) {
    return reduces(Collective::allreduce, 0, {send, receive, count, type, op}, here);
}

std::optional<Binding> reduce_scatter_block(const Place& here, const void* send, void* receive, MPI_Count count,
                                            MPI_Datatype type, MPI_Op op, MPI_Comm) {
    return reduces(Collective::reduce_scatter_block, 0,
                   {.send = send, .receive = receive, .count = count, .type = type, .op = op,
                    .operands = count * here.size},
                   here);
}

// The shape of the call is as that of equal blocks, and then has their lengths.
std::optional<Binding> reduce_scatter(const Place& here, const void* send, void* receive, Numbers counts,
                                      MPI_Datatype type, MPI_Op op, MPI_Comm) {
    MPI_Count operands = 0;
    for (int rank = 0; rank < here.size; ++rank) {
        if (!counts || counts[rank] < 0) {
            return std::nullopt;
        }
        operands += counts[rank];
    }
    auto binding = reduces(Collective::reduce_scatter, 0,
                           {.send = send, .receive = receive, .count = counts[here.rank],
                            .type = type, .op = op, .operands = operands},
                           here);
    if (binding) {
        CallShape& shape = binding->shape;
        for (int rank = 0; rank < here.size; ++rank) {
            shape.lengths.push_back(static_cast<std::size_t>(counts[rank]) *
                                    binding->input.layout.packed_bytes);
        }
        shape.length_bytes = mean_length_bytes(shape.lengths);
        binding->output = or_nothing(binding->output);
    }
    return binding;
}

std::optional<Binding> scan(const Place& here, const void* send, void* receive, MPI_Count count, MPI_Datatype type,
                            MPI_Op op, MPI_Comm) {
    return reduces(Collective::scan, 0, {send, receive, count, type, op}, here);
}

// What the first rank's result is, MPI leaves undefined: it is left as it was.
std::optional<Binding> exscan(const Place& here, const void* send, void* receive, MPI_Count count, MPI_Datatype type,
                              MPI_Op op, MPI_Comm) {
    return reduces(Collective::exscan, 0,
                   {.send = send, .receive = receive, .count = count, .type = type, .op = op,
                    .has_result = here.rank != 0},
                   here);
}

}  // namespace mutirao::mpi
