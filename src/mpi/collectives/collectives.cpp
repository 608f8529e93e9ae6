#include "mpi/collectives/collectives.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "core/schedule/schedule.h"

namespace mutirao::mpi {
namespace {

using Reads = Binding::Reads;
using Writes = Binding::Writes;

#if defined(OPEN_MPI)
constexpr bool is_open_mpi = true;
#else
constexpr bool is_open_mpi = false;
#endif
/// Where the program names memory to be read that is written too, the MPICH family refuses what it sees of that, on the
/// ranks that it concerns; Open MPI reads first.
constexpr bool refuses_one_place = !is_open_mpi;

bool is_uneven(const Given& given) { return row_of(given.collective).in_blocks >= InBlocks::uneven; }

/// Nothing where the MPI library is to judge: what it refuses, and what no schedule can hold. A buffer that
/// may be in place and is, is no buffer.
std::optional<Elements> elements(const void* buffer, MPI_Count count, MPI_Datatype type, MPI_Comm quiet) {
    // Empty messages may be spelt in many ways, all of them equal; and a block of nothing may lie anywhere.
    if (count == 0) {
        return Elements{const_cast<void*>(buffer), 0, type, {}};
    }
    if (type == MPI_DATATYPE_NULL || count < 0 || buffer == MPI_IN_PLACE) {
        return std::nullopt;
    }
    const auto layout = shape_of(buffer, count, type, quiet);
    if (!layout) {
        return std::nullopt;
    }
    Elements all{const_cast<void*>(buffer), count, type, *layout};
    all.layout.in_place = layout->in_place && !is_on_device(buffer);
    return all;
}

bool is_type(MPI_Datatype type, MPI_Comm quiet) {
    return type != MPI_DATATYPE_NULL && shape_of(&quiet, 1, type, quiet).has_value();
}

/// As elements(), but a type must be one even if there are no elements: what the others do here they cannot
/// know, so there are no calls that are empty for all.
std::optional<Elements> typed_elements(const void* buffer, MPI_Count count, MPI_Datatype type, MPI_Comm quiet) {
    const auto block = is_type(type, quiet) ? elements(buffer, count, type, quiet) : std::nullopt;
    return block ? std::optional(or_nothing(*block)) : std::nullopt;
}

/// Of a side that has one. In place it has none, and nothing else of it may be looked at.
std::optional<Elements> block_of(const Given& given, const Side& side, const Place& here) {
    if (side.buffer == MPI_IN_PLACE) {
        return std::nullopt;
    }
    return is_uneven(given) ? typed_elements(side.buffer, side.count, side.type, here.quiet)
                            : elements(side.buffer, side.count, side.type, here.quiet);
}

void* moved(const void* buffer, MPI_Count bytes) {
    return const_cast<std::byte*>(static_cast<const std::byte*>(buffer)) + bytes;
}

/// A block for every rank.
struct Blocks {
    Elements block{};              ///< each, where all are of one length
    std::vector<Elements> each{};  ///< of others, by rank

    Elements of(int rank) const {
        return each.empty() ? nth(block, rank, block.count) : each[static_cast<std::size_t>(rank)];
    }
    void add_lengths_to(std::vector<std::size_t>& lengths) const {
        for (const Elements& one : each) lengths.push_back(one.bytes());
    }
};

/// False: the MPI library is to judge.
bool find_blocks(const Given& given, const Side& side, const Place& here, Blocks& blocks) {
    if (!is_uneven(given)) {
        const auto block = elements(side.buffer, side.count, side.type, here.quiet);
        if (block) {
            blocks.block = *block;
        }
        return block.has_value();
    }
    const bool typed_each = given.collective == Collective::alltoallw;
    if (!side.counts || !side.displacements || side.buffer == MPI_IN_PLACE ||
        !(typed_each ? side.types != nullptr : is_type(side.type, here.quiet))) {
        return false;
    }
    const MPI_Count unit = typed_each ? 1 : extent_of(side.type);
    // Where there is one type for all, all MPI libraries look at it; of types of nothing beside others only this one.
    const auto make = typed_each && is_open_mpi ? typed_elements : elements;
    blocks.each.reserve(static_cast<std::size_t>(here.size));
    for (int rank = 0; rank < here.size; ++rank) {
        const auto block = make(moved(side.buffer, side.displacements[rank] * unit), side.counts[rank],
                                typed_each ? side.types[rank] : side.type, here.quiet);
        if (!block) {
            return false;
        }
        blocks.each.push_back(or_nothing(*block));
    }
    return true;
}

/// Of blocks that have their own length, as far as this rank knows these.
void set_lengths(Binding& binding, const Given& given, std::vector<std::size_t> lengths) {
    const bool knows_own = row_of(given.collective).in_blocks == InBlocks::own;
    binding.shape.length_bytes = knows_own ? nominal_block_bytes : mean_length_bytes(lengths);
    binding.shape.lengths = std::move(lengths);
}

void set_shape(Binding& binding, const Given& given, const Elements& block) {
    if (is_uneven(given)) {
        set_lengths(binding, given, {block.bytes()});
    } else {
        binding.shape.length_bytes = block.bytes();
    }
}

/// `more`: on the other side of the call, or null.
void set_shape(Binding& binding, const Given& given, const Blocks& blocks, const Blocks* more = nullptr) {
    if (blocks.each.empty()) {
        binding.shape.length_bytes = blocks.block.bytes();
        return;
    }
    std::vector<std::size_t> lengths;
    blocks.add_lengths_to(lengths);
    if (more != nullptr) {
        more->add_lengths_to(lengths);
    }
    set_lengths(binding, given, std::move(lengths));
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

/// All of them as one; false where there is anything between the blocks, or in them, so that they go through a copy.
bool join(const Blocks& blocks, int size, Elements& all) {
    if (blocks.each.empty()) {
        all = blocks.block;
        all.count *= size;
        return true;
    }
    all = plain_bytes(nullptr, 0);
    for (const Elements& block : blocks.each) {
        if (block.bytes() == 0) {
            continue;
        }
        if (all.count == 0) {
            all.buffer = block.buffer;
        }
        if (!block.layout.in_place || block.buffer != moved(all.buffer, all.count)) {
            return false;
        }
        all.count += static_cast<MPI_Count>(block.bytes());
    }
    return true;
}

void read_all(Binding& binding, Blocks& blocks, int size, bool same_memory) {
    if (join(blocks, size, binding.input)) {
        binding.reads = same_memory ? Reads::copy : Reads::input;
    } else {
        binding.reads = Reads::blocks;
        binding.input_blocks = std::move(blocks.each);
    }
}

void write_all(Binding& binding, Blocks& blocks, int size) {
    if (join(blocks, size, binding.output)) {
        binding.writes = Writes::output;
    } else {
        binding.writes = Writes::blocks;
        binding.output_blocks = std::move(blocks.each);
    }
}

/// What the MPICH family refuses: a rank's one block where its own among all shall be. It takes displacements in sizes.
bool refused(const Given& given, const Side& one, const Side& all, const Blocks& blocks, int rank) {
    if (!refuses_one_place || one.type != all.type || one.count <= 0 || one.buffer == nullptr) {
        return false;
    }
    const bool uneven = is_uneven(given);
    if (uneven ? all.counts[rank] == 0 : one.count != all.count) {
        return false;
    }
    auto size = static_cast<MPI_Count>(blocks.block.layout.packed_bytes);
    if (uneven) {
        PMPI_Type_size_x(all.type, &size);
    }
    return one.buffer == moved(all.buffer, (uneven ? all.displacements[rank] : rank * all.count) * size);
}

/// One block as its sender has it and as its receiver has room for it: of one length, as MPI asks. Where they differ, MPI
/// libraries fill a part of the room; what does not fit is an error of this rank's call, and the others' goes on. False:
/// the shorter one ends within an element of the other.
bool make_alike(Elements& sent, Elements& room, Binding& binding) {
    binding.truncated = sent.bytes() > room.bytes();
    Elements& longer = binding.truncated ? sent : room;
    const std::size_t bytes = std::min(sent.bytes(), room.bytes());
    if (longer.bytes() == bytes) {
        return true;
    }
    longer.count = static_cast<MPI_Count>(bytes / longer.layout.packed_bytes);
    longer = or_nothing(longer);
    return longer.bytes() == bytes;
}

bool broadcast(const Given& given, const Place& here, Binding& binding) {
    const auto message = block_of(given, given.receive, here);
    if (!message) {
        return false;
    }
    binding.shape.length_bytes = message->bytes();
    binding.writes = given.root == here.rank ? Writes::passed_on : Writes::output;
    binding.output = *message;
    return true;
}

/// Calls in which every rank has one block, and each rank or only a root has one for every rank: these are gathered there,
/// or scattered from there.
bool gathers_or_scatters(const Given& given, const Place& here, Binding& binding) {
    const bool scatters = row_of(given.collective).base == Collective::scatter;
    const Side &one = scatters ? given.receive : given.send, &all = scatters ? given.send : given.receive;
    auto mine = block_of(given, one, here);
    if (row_of(given.collective).rooted && given.root != here.rank) {
        if (!mine) {
            return false;
        }
        set_shape(binding, given, *mine);
        scatters ? write(binding, *mine) : read(binding, *mine);
        return true;
    }
    Blocks blocks;
    const bool in_place = one.buffer == MPI_IN_PLACE;
    if (!find_blocks(given, all, here, blocks) || !(mine || in_place)) {
        return false;
    }
    if (!in_place && row_of(given.collective).in_blocks == InBlocks::own) {
        Elements& among_all = blocks.each[static_cast<std::size_t>(here.rank)];
        binding.to_native = !(scatters ? make_alike(among_all, *mine, binding) : make_alike(*mine, among_all, binding));
    }
    const Elements own = blocks.of(here.rank);
    binding.to_native = binding.to_native || refused(given, one, all, blocks, here.rank) ||
                        (!in_place && mine->bytes() != own.bytes());
    set_shape(binding, given, blocks);
    const Elements& block = in_place ? own : *mine;
    const bool same_memory = one.buffer == all.buffer || one.buffer == own.buffer;
    if (!scatters) {
        read(binding, block, same_memory);
        write_all(binding, blocks, here.size);
        return true;
    }
    binding.writes = in_place ? Writes::unseen : Writes::output;
    binding.output = block;
    read_all(binding, blocks, here.size, same_memory);
    return true;
}

bool exchanges(const Given& given, const Place& here, Binding& binding) {
    const Side &from = given.send, &to = given.receive;
    const bool in_place = from.buffer == MPI_IN_PLACE;
    Blocks sent, received;
    if (!find_blocks(given, to, here, received) || !(in_place || find_blocks(given, from, here, sent))) {
        return false;
    }
    if (in_place) {
        sent = received;
    }
    const bool alike = from.type == to.type && from.types == to.types && from.counts == to.counts &&
                       from.count == to.count && (to.count > 0 || is_uneven(given));
    binding.to_native = refuses_one_place && alike && from.buffer == to.buffer;
    if (row_of(given.collective).in_blocks == InBlocks::own) {
        const auto own = static_cast<std::size_t>(here.rank);
        binding.to_native = !make_alike(sent.each[own], received.each[own], binding) || binding.to_native;
    } else if (sent.of(here.rank).bytes() != received.of(here.rank).bytes()) {
        binding.to_native = true;
    }
    set_shape(binding, given, sent, &received);
    read_all(binding, sent, here.size, in_place || from.buffer == to.buffer);
    write_all(binding, received, here.size);
    return true;
}

// --- reductions. With MPI_IN_PLACE the operands are copied first, since the result takes their place ---------

/// What the first rank's result of MPI_Exscan is, MPI leaves undefined: it is left as it was.
bool has_result(const Given& given, const Place& here) {
    switch (given.collective) {
        case Collective::reduce: return given.root == here.rank;
        case Collective::exscan: return here.rank != 0;
        default: return true;
    }
}

/// Elements that are combined, on each rank; negative: wrong counts.
MPI_Count operands_of(const Given& given, const Place& here) {
    const Side& to = given.receive;
    if (given.collective != Collective::reduce_scatter) {
        return given.collective == Collective::reduce_scatter_block ? to.count * here.size : to.count;
    }
    MPI_Count operands = 0;
    for (int rank = 0; rank < here.size; ++rank) {
        if (!to.counts || to.counts[rank] < 0) {
            return -1;
        }
        operands += to.counts[rank];
    }
    return operands;
}

/// Result and operands in one place where the MPI library says that they are not: MPICH looks at MPI_Exscan's
/// on the first rank too, which has no result.
bool refused(const Given& given, MPI_Count operands, bool gets_result) {
    if (!gets_result && given.collective != Collective::exscan) {
        return false;
    }
    const void* const send = given.send.buffer;
    // Open MPI takes an allreduce of one element so.
    const bool is_one = is_open_mpi && given.collective == Collective::allreduce && operands == 1;
    const bool same = send == given.receive.buffer && send != nullptr && operands > 0 && !is_one;
    const bool looks = refuses_one_place || given.collective == Collective::reduce ||
                       given.collective == Collective::allreduce;
    return (same && looks) || (refuses_one_place && given.receive.buffer == MPI_IN_PLACE);
}

std::vector<std::size_t> lengths_of_results(const Given& given, std::size_t element_bytes, const Place& here) {
    std::vector<std::size_t> lengths;
    lengths.reserve(static_cast<std::size_t>(here.size));
    for (int rank = 0; rank < here.size; ++rank) {
        lengths.push_back(static_cast<std::size_t>(given.receive.counts[rank]) * element_bytes);
    }
    return lengths;
}

bool reduces(const Given& given, const Place& here, Binding& binding) {
    const Side& to = given.receive;
    const bool in_place = given.send.buffer == MPI_IN_PLACE, gets_result = has_result(given, here);
    const bool may_be_in_place = given.collective != Collective::reduce || given.root == here.rank;
    const MPI_Count operands = operands_of(given, here);
    if ((in_place && !may_be_in_place) || operands < 0 || to.type == MPI_DATATYPE_NULL) {
        return false;
    }
    const auto kind = operator_kind(given.op, to.type);
    const auto input = elements(in_place ? to.buffer : given.send.buffer, operands, to.type, here.quiet);
    if (!kind || !input) {
        return false;
    }
    binding.to_native = refused(given, operands, gets_result);
    const std::size_t element_bytes = input->layout.packed_bytes;
    const bool uneven = given.collective == Collective::reduce_scatter;
    const MPI_Count count = uneven ? to.counts[here.rank] : to.count;
    binding.shape.length_bytes = static_cast<std::size_t>(count) * element_bytes;
    binding.shape.unit_bytes = std::max<std::size_t>(element_bytes, 1);
    binding.shape.op = *kind;
    binding.reduction = {given.op, to.type, input->layout, kind->commutes};
    if (uneven) {
        set_lengths(binding, given, lengths_of_results(given, element_bytes, here));
    }
    if (gets_result) {
        const auto output = elements(to.buffer, count, to.type, here.quiet);
        if (!output) {
            return false;
        }
        write(binding, uneven ? or_nothing(*output) : *output);
    }
    read(binding, *input, in_place || (gets_result && given.send.buffer == to.buffer));
    return true;
}

}  // namespace

bool bind(const Given& given, const Place& here, Binding& binding) {
    const CollectiveRow& row = row_of(given.collective);
    if (row.rooted && (given.root < 0 || given.root >= here.size)) {
        return false;
    }
    binding.shape.collective = given.collective;
    binding.shape.root = given.root;
    if (row.reduces) {
        return reduces(given, here, binding);
    }
    switch (row.base) {  // which is of equal blocks where these have their own lengths
        case Collective::barrier: return true;
        case Collective::broadcast: return broadcast(given, here, binding);
        case Collective::alltoall: return exchanges(given, here, binding);
        default: return gathers_or_scatters(given, here, binding);
    }
}

bool is_too_long(const CallShape& shape, int size) {
    const InBlocks in_blocks = row_of(shape.collective).in_blocks;
    if (in_blocks == InBlocks::own) {
        return false;
    }
    const std::size_t blocks = in_blocks == InBlocks::none ? 1 : static_cast<std::size_t>(size);
    return shape.length_bytes > longest_step_bytes / blocks;
}

}  // namespace mutirao::mpi
