// Collectives that move a block for every rank, each of its own length. Blocks that lie one behind another
// in memory are read and written in place, others through a copy.
#include "mpi/collectives/collectives.h"

namespace mutirao::mpi {
namespace {

using Reads = Binding::Reads;
using Writes = Binding::Writes;
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
    Binding binding;
    binding.shape.collective = collective;
    binding.shape.root = root;
    binding.shape.length_bytes = row_of(collective).in_blocks == InBlocks::own
                                     ? nominal_block_bytes
                                     : mean_length_bytes(lengths);
    binding.shape.lengths = std::move(lengths);
    return binding;
}

/// `same_memory`: that is written before all of it has been sent.
void read_one(Binding& binding, const Elements& input, bool same_memory) {
    binding.reads = same_memory ? Reads::copy : Reads::input;
    binding.input = input;
}

void read_all(Binding& binding, Blocks blocks, bool same_memory) {
    if (const auto one = as_one(blocks)) {
        read_one(binding, *one, same_memory);
    } else {
        binding.reads = Reads::blocks;
        binding.input_blocks = std::move(blocks);
    }
}

void write_one(Binding& binding, const Elements& output) {
    binding.writes = Writes::output;
    binding.output = output;
}

void write_all(Binding& binding, Blocks blocks) {
    if (const auto one = as_one(blocks)) {
        write_one(binding, *one);
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

/// The same of two sides.
bool refused(const void* send, const void* receive, bool alike) {
    return refuses_one_place && alike && send == receive;
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
        read_one(binding, own(*blocks, here), false);
    } else {
        const auto mine = typed_elements(send, send_count, send_type, here.quiet);
        const bool fits = mine && mine->bytes() == own(*blocks, here).bytes();
        if (!fits || refused(send, send_type, send_count, to, here.rank)) {
            return std::nullopt;
        }
        read_one(binding, *mine, send == to.buffer || send == own(*blocks, here).buffer);
    }
    write_all(binding, std::move(*blocks));
    return binding;
}

std::optional<Binding> exchanges(Collective collective, std::optional<Blocks> sent,
                                 std::optional<Blocks> received, bool same_memory,
                                 const Place& here) {
    if (!sent || !received || own(*sent, here).bytes() != own(*received, here).bytes()) {
        return std::nullopt;
    }
    std::vector<std::size_t> lengths = lengths_of(*sent);
    const std::vector<std::size_t> lengths_received = lengths_of(*received);
    lengths.insert(lengths.end(), lengths_received.begin(), lengths_received.end());
    Binding binding = of_lengths(collective, 0, std::move(lengths));
    read_all(binding, std::move(*sent), same_memory);
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
    read_one(binding, *mine, false);
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
        write_one(binding, *mine);
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
        write_one(binding, *mine);
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
    const auto received =
        blocks_of({receive, receive_counts, receive_displacements, receive_type}, here);
    if (send == MPI_IN_PLACE) {
        return exchanges(Collective::alltoallv, received, received, true, here);
    }
    const bool alike = send_type == receive_type && send_counts == receive_counts;
    if (refused(send, receive, alike)) {
        return std::nullopt;
    }
    return exchanges(Collective::alltoallv,
                     blocks_of({send, send_counts, send_displacements, send_type}, here),
                     received, send == receive, here);
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
    const auto received =
        blocks(receive, receive_counts, receive_displacements, receive_types);
    if (send == MPI_IN_PLACE) {
        return exchanges(Collective::alltoallw, received, received, true, here);
    }
    const bool alike = send_types == receive_types && send_counts == receive_counts;
    if (refused(send, receive, alike)) {
        return std::nullopt;
    }
    return exchanges(Collective::alltoallw,
                     blocks(send, send_counts, send_displacements, send_types), received,
                     send == receive, here);
}

}  // namespace mutirao::mpi
