#include "mpi/collectives/collectives.h"

#include <algorithm>

#include "core/schedule/schedule.h"

namespace mutirao::mpi {
bool is_too_long(const CallShape& shape, int size) {
    const InBlocks in_blocks = row_of(shape.collective).in_blocks;
    if (in_blocks == InBlocks::own) {
        return false;
    }
    const std::size_t blocks = in_blocks == InBlocks::none ? 1 : static_cast<std::size_t>(size);
    return shape.length_bytes > longest_step_bytes / blocks;
}

namespace {

using Reads = Binding::Reads;
using Writes = Binding::Writes;

/// Where the program names memory to be read that is written too. The MPICH family refuses what it sees
/// of that, on the ranks that it concerns; Open MPI reads first. Neither is left to the MPI library by one
/// rank alone, where others cannot know of it.
#if defined(OPEN_MPI)
constexpr bool refuses_one_place = false;
#else
constexpr bool refuses_one_place = true;
#endif

/// Nothing where the MPI library is to judge: what it refuses, and what no schedule can hold. A buffer that
/// may be in place and is, is no buffer.
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

Binding binding_of(Collective collective, int root = 0, std::size_t length_bytes = 0) {
    Binding binding;
    binding.shape.collective = collective;
    binding.shape.root = root;
    binding.shape.length_bytes = length_bytes;
    return binding;
}

/// `same_memory`: that is written before all of it has been sent, and so read from a copy.
void read(Binding& binding, const Elements& input, bool same_memory = false) {
    binding.reads = same_memory ? Reads::copy : Reads::input;
    binding.input = input;
}

void write(Binding& binding, const Elements& output) {
    binding.writes = Writes::output;
    binding.output = output;
}

}  // namespace

std::optional<Binding> barrier(const Place&, MPI_Comm) { return binding_of(Collective::barrier); }

std::optional<Binding> broadcast(const Place& here, void* buffer, MPI_Count count, MPI_Datatype type, int root,
                                 MPI_Comm) {
    const auto message = elements(buffer, count, type, here.quiet);
    if (!message || root < 0 || root >= here.size) {
        return std::nullopt;
    }
    Binding binding = binding_of(Collective::broadcast, root, message->bytes());
    binding.writes = root == here.rank ? Writes::passed_on : Writes::output;
    binding.output = *message;
    return binding;
}

// --- a block for every rank, all of one length --------------------------------------------------------------

namespace {

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

/// A rank that sends one block and receives one from each, unless its own is in place.
std::optional<Binding> gathers(Collective collective, int root, const void* send,
                               MPI_Count send_count, MPI_Datatype send_type, void* receive,
                               MPI_Count receive_count, MPI_Datatype receive_type,
                               const Place& here) {
    const auto block = elements(receive, receive_count, receive_type, here.quiet);
    if (!block || refused(send, send_count, send_type, receive, *block, here.rank)) {
        return std::nullopt;
    }
    Binding binding = binding_of(collective, root, block->bytes());
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
    Binding binding = binding_of(Collective::gather, root, mine->bytes());
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
        Binding binding = binding_of(Collective::scatter, root, mine->bytes());
        write(binding, *mine);
        return binding;
    }
    const auto block = elements(send, send_count, send_type, here.quiet);
    if (!block || refused(receive, receive_count, receive_type, send, *block, here.rank)) {
        return std::nullopt;
    }
    Binding binding = binding_of(Collective::scatter, root, block->bytes());
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
    Binding binding = binding_of(Collective::alltoall, 0, block->bytes());
    write(binding, times(*block, here.size));
    if (send == MPI_IN_PLACE) {
        read(binding, binding.output, true);
        return binding;
    }
    const auto mine = elements(send, send_count, send_type, here.quiet);
    if (!mine || !fit(*mine, *block)) {
        return std::nullopt;
    }
    read(binding, times(*mine, here.size), send == receive);
    return binding;
}

// --- a block for every rank, each of its own length ----------------------------------------------------------
//
// Blocks that lie one behind another in memory are read and written in place, others through a copy.

namespace {

using Blocks = std::vector<Elements>;

/// Of a block in a type of its own; where there is one type for all, all MPI libraries look at it.
#if defined(OPEN_MPI)
constexpr bool looks_at_types_of_nothing = true;
#else
constexpr bool looks_at_types_of_nothing = false;
#endif

/// One side of a call: a block for each rank, at displacements in extents of the type.
struct Side {
    const void* buffer;
    Numbers counts;
    Numbers displacements;
    MPI_Datatype type;
};

/// As elements(), but a type must be one even if there are no elements: what the others do here they cannot
/// know, so there are no calls that are empty for all.
std::optional<Elements> typed_elements(const void* buffer, MPI_Count count, MPI_Datatype type,
                                       MPI_Comm quiet) {
    // MPICH looks only at the types of messages that have elements.
    const bool has_type =
        type != MPI_DATATYPE_NULL && shape_of(&quiet, 1, type, quiet).has_value();
    const auto block = has_type ? elements(buffer, count, type, quiet) : std::nullopt;
    return block ? std::optional(or_nothing(*block)) : std::nullopt;
}

void* moved(const void* buffer, MPI_Count bytes) {
    return const_cast<std::byte*>(static_cast<const std::byte*>(buffer)) + bytes;
}

MPI_Count extent_of(MPI_Datatype type) {
    MPI_Count lower = 0;
    MPI_Count extent = 0;
    PMPI_Type_get_extent_x(type, &lower, &extent);
    return extent;
}

/// `nth`: from a rank to its block, or nothing.
template <typename Nth>
std::optional<Blocks> all_blocks(const Place& here, const Nth& nth) {
    Blocks blocks;
    blocks.reserve(static_cast<std::size_t>(here.size));
    for (int rank = 0; rank < here.size; ++rank) {
        const std::optional<Elements> block = nth(rank);
        if (!block) {
            return std::nullopt;
        }
        blocks.push_back(or_nothing(*block));
    }
    return blocks;
}

std::optional<Blocks> blocks_of(const Side& side, const Place& here) {
    if (!side.counts || !side.displacements || side.buffer == MPI_IN_PLACE ||
        !typed_elements(nullptr, 0, side.type, here.quiet)) {
        return std::nullopt;
    }
    const MPI_Count extent = extent_of(side.type);
    return all_blocks(here, [&](int rank) {
        return elements(moved(side.buffer, side.displacements[rank] * extent), side.counts[rank],
                        side.type, here.quiet);
    });
}

std::vector<std::size_t> lengths_of(const Blocks& blocks) {
    std::vector<std::size_t> lengths;
    lengths.reserve(blocks.size());
    for (const Elements& block : blocks) {
        lengths.push_back(block.bytes());
    }
    return lengths;
}

/// Nothing where there is anything between the blocks, or in them.
std::optional<Elements> as_one(const Blocks& blocks) {
    Elements all = plain_bytes(nullptr, 0);
    for (const Elements& block : blocks) {
        if (block.bytes() == 0) {
            continue;
        }
        if (all.count == 0) {
            all.buffer = block.buffer;
        }
        if (!block.layout.in_place || block.buffer != moved(all.buffer, all.count)) {
            return std::nullopt;
        }
        all.count += static_cast<MPI_Count>(block.bytes());
    }
    return all;
}

Binding of_lengths(Collective collective, int root, std::vector<std::size_t> lengths) {
    const bool knows_own = row_of(collective).in_blocks == InBlocks::own;
    Binding binding = binding_of(collective, root, knows_own ? nominal_block_bytes : mean_length_bytes(lengths));
    binding.shape.lengths = std::move(lengths);
    return binding;
}

void read_all(Binding& binding, Blocks blocks, bool same_memory) {
    if (const auto one = as_one(blocks)) {
        read(binding, *one, same_memory);
    } else {
        binding.reads = Reads::blocks;
        binding.input_blocks = std::move(blocks);
    }
}

void write_all(Binding& binding, Blocks blocks) {
    if (const auto one = as_one(blocks)) {
        write(binding, *one);
    } else {
        binding.writes = Writes::blocks;
        binding.output_blocks = std::move(blocks);
    }
}

const Elements& own(const Blocks& blocks, const Place& here) {
    return blocks[static_cast<std::size_t>(here.rank)];
}

/// What the MPICH family refuses: the one block where the other shall be. It takes displacements in sizes.
bool refused(const void* one, MPI_Datatype one_type, MPI_Count one_count, const Side& side, int rank) {
    if (!refuses_one_place || one_type != side.type || one_count == 0 || side.counts[rank] == 0) {
        return false;
    }
    MPI_Count size = 0;
    PMPI_Type_size_x(side.type, &size);
    return one != nullptr && one == moved(side.buffer, side.displacements[rank] * size);
}

/// A rank that sends one block and receives one from each, unless its own is in place.
std::optional<Binding> gathers(Collective collective, int root, const void* send,
                               MPI_Count send_count, MPI_Datatype send_type, const Side& to,
                               const Place& here) {
    auto blocks = blocks_of(to, here);
    if (!blocks) {
        return std::nullopt;
    }
    Binding binding = of_lengths(collective, root, lengths_of(*blocks));
    if (send == MPI_IN_PLACE) {
        read(binding, own(*blocks, here));
    } else {
        const auto mine = typed_elements(send, send_count, send_type, here.quiet);
        const bool fits = mine && mine->bytes() == own(*blocks, here).bytes();
        if (!fits || refused(send, send_type, send_count, to, here.rank)) {
            return std::nullopt;
        }
        read(binding, *mine, send == to.buffer || send == own(*blocks, here).buffer);
    }
    write_all(binding, std::move(*blocks));
    return binding;
}

/// `alike`: by the counts and types, of which the MPICH family refuses both sides in one place.
std::optional<Binding> exchanges(Collective collective, const void* send, const void* receive, bool alike,
                                 std::optional<Blocks> sent, std::optional<Blocks> received, const Place& here) {
    const bool in_place = send == MPI_IN_PLACE;
    if (in_place) {
        sent = received;
    }
    const bool refused = refuses_one_place && alike && send == receive && !in_place;
    if (refused || !sent || !received || own(*sent, here).bytes() != own(*received, here).bytes()) {
        return std::nullopt;
    }
    std::vector<std::size_t> lengths = lengths_of(*sent);
    const std::vector<std::size_t> lengths_received = lengths_of(*received);
    lengths.insert(lengths.end(), lengths_received.begin(), lengths_received.end());
    Binding binding = of_lengths(collective, 0, std::move(lengths));
    read_all(binding, std::move(*sent), in_place || send == receive);
    write_all(binding, std::move(*received));
    return binding;
}

}  // namespace

std::optional<Binding> gatherv(const Place& here, const void* send, MPI_Count send_count, MPI_Datatype send_type,
                               void* receive, Numbers receive_counts, Numbers displacements, MPI_Datatype receive_type,
                               int root, MPI_Comm) {
    if (root < 0 || root >= here.size) {
        return std::nullopt;
    }
    if (root == here.rank) {
        return gathers(Collective::gatherv, root, send, send_count, send_type,
                       {receive, receive_counts, displacements, receive_type}, here);
    }
    const auto mine = typed_elements(send, send_count, send_type, here.quiet);
    if (!mine) {
        return std::nullopt;
    }
    Binding binding = of_lengths(Collective::gatherv, root, {mine->bytes()});
    read(binding, *mine);
    return binding;
}

std::optional<Binding> scatterv(const Place& here, const void* send, Numbers send_counts, Numbers displacements,
                                MPI_Datatype send_type, void* receive, MPI_Count receive_count,
                                MPI_Datatype receive_type, int root, MPI_Comm) {
    if (root < 0 || root >= here.size) {
        return std::nullopt;
    }
    const bool in_place = receive == MPI_IN_PLACE;
    const auto mine = in_place ? std::nullopt
                               : typed_elements(receive, receive_count, receive_type,
                                                here.quiet);
    if (root != here.rank) {
        if (!mine) {
            return std::nullopt;
        }
        Binding binding = of_lengths(Collective::scatterv, root, {mine->bytes()});
        write(binding, *mine);
        return binding;
    }
    const Side from{send, send_counts, displacements, send_type};
    auto blocks = blocks_of(from, here);
    if (!blocks) {
        return std::nullopt;
    }
    const Elements its_own = own(*blocks, here);
    Binding binding = of_lengths(Collective::scatterv, root, lengths_of(*blocks));
    const bool fits = mine && mine->bytes() == its_own.bytes();
    if (in_place) {
        binding.writes = Writes::unseen;
        binding.output = its_own;
    } else if (fits && !refused(receive, receive_type, receive_count, from, here.rank)) {
        write(binding, *mine);
    } else {
        return std::nullopt;
    }
    read_all(binding, std::move(*blocks), receive == send || receive == its_own.buffer);
    return binding;
}

std::optional<Binding> allgatherv(const Place& here, const void* send, MPI_Count send_count, MPI_Datatype send_type,
                                  void* receive, Numbers receive_counts, Numbers displacements,
                                  MPI_Datatype receive_type, MPI_Comm) {
    return gathers(Collective::allgatherv, 0, send, send_count, send_type,
                   {receive, receive_counts, displacements, receive_type}, here);
}

std::optional<Binding> alltoallv(const Place& here, const void* send, Numbers send_counts, Numbers send_displacements,
                                 MPI_Datatype send_type, void* receive, Numbers receive_counts,
                                 Numbers receive_displacements, MPI_Datatype receive_type, MPI_Comm) {
    const bool alike = send_type == receive_type && send_counts == receive_counts;
    return exchanges(Collective::alltoallv, send, receive, alike,
                     blocks_of({send, send_counts, send_displacements, send_type}, here),
                     blocks_of({receive, receive_counts, receive_displacements, receive_type}, here), here);
}

std::optional<Binding> alltoallw(const Place& here, const void* send, Numbers send_counts, Numbers send_displacements,
                                 const MPI_Datatype* send_types, void* receive, Numbers receive_counts,
                                 Numbers receive_displacements, const MPI_Datatype* receive_types, MPI_Comm) {
    const auto blocks = [&](const void* buffer, Numbers counts, Numbers displacements,
                            const MPI_Datatype* types) -> std::optional<Blocks> {
        if (!counts || !displacements || types == nullptr || buffer == MPI_IN_PLACE) {
            return std::nullopt;
        }
        const auto make = looks_at_types_of_nothing ? typed_elements : elements;
        return all_blocks(here, [&](int rank) {
            return make(moved(buffer, displacements[rank]), counts[rank], types[rank],
                        here.quiet);
        });
    };
    const bool alike = send_types == receive_types && send_counts == receive_counts;
    return exchanges(Collective::alltoallw, send, receive, alike,
                     blocks(send, send_counts, send_displacements, send_types),
                     blocks(receive, receive_counts, receive_displacements, receive_types), here);
}

// --- reductions. With MPI_IN_PLACE the operands are copied first, since the result takes their place ---------

namespace {

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
        write(binding, *output);
    }
    read(binding, *input, in_place || (given.has_result && given.send == given.receive));
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
