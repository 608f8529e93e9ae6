#include "mpi/executor/memory.h"

#include <algorithm>
#include <cstring>
#include <numeric>

namespace mutirao::mpi {
namespace {

std::size_t bytes_of(std::span<const Elements> blocks) {
    return std::accumulate(blocks.begin(), blocks.end(), std::size_t{0},
                           [](std::size_t sum, const Elements& each) { return sum + each.bytes(); });
}

int pack(const Elements& from, std::byte* packed, MPI_Comm comm) {
    PackedMessage message(from.buffer, from.count, from.type, from.layout, comm, true);
    const int error = message.prepare(from.bytes());
    if (error == MPI_SUCCESS) {
        std::memcpy(packed, message.data(), from.bytes());
    }
    return error;
}

int unpack(const std::byte* packed, const Elements& to, MPI_Comm comm) {
    PackedMessage message(to.buffer, to.count, to.type, to.layout, comm, false);
    std::memcpy(message.data(), packed, to.bytes());
    return message.finish();
}

}  // namespace

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

int copy(const Elements& from, const Elements& to, MPI_Comm comm) {
    PackedMessage message(from.buffer, from.count, from.type, from.layout, comm, true);
    const int error = message.prepare(from.bytes());
    return error == MPI_SUCCESS ? unpack(message.data(), to, comm) : error;
}

int Memory::read_blocks(std::span<const Elements> blocks) {
    const std::size_t length_bytes = bytes_of(blocks);
    input_copy_ = std::make_unique_for_overwrite<std::byte[]>(length_bytes);
    std::byte* next = input_copy_.get();
    int error = MPI_SUCCESS;
    for (const Elements& block : blocks) {
        if (block.bytes() > 0 && error == MPI_SUCCESS) {
            error = pack(block, next, comm_);
        }
        next += block.bytes();
    }
    read(plain_bytes(input_copy_.get(), length_bytes));
    return error;
}

void Memory::write_blocks(std::span<const Elements> blocks) {
    discard(bytes_of(blocks));
    blocks_to_write_ = blocks;
}

void Memory::discard(std::size_t length_bytes) {
    output_copy_ = std::make_unique_for_overwrite<std::byte[]>(length_bytes);
    write(plain_bytes(output_copy_.get(), length_bytes));
}

int Memory::finish() {
    const int error = output_ ? output_->finish() : MPI_SUCCESS;
    return error == MPI_SUCCESS && !blocks_to_write_.empty() ? finish_blocks() : error;
}

int Memory::finish_blocks() {
    const std::byte* next = output_copy_.get();
    for (const Elements& block : blocks_to_write_) {
        const int error = block.bytes() > 0 ? unpack(next, block, comm_) : MPI_SUCCESS;
        if (error != MPI_SUCCESS) {
            return error;
        }
        next += block.bytes();
    }
    return MPI_SUCCESS;
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

TypedMemory::TypedMemory(MPI_Datatype type, MPI_Count count) {
    MPI_Aint lower = 0, extent = 0, true_lower = 0, true_extent = 0;
    PMPI_Type_get_extent(type, &lower, &extent);
    PMPI_Type_get_true_extent(type, &true_lower, &true_extent);
    const MPI_Aint steps = extent * static_cast<MPI_Aint>(std::max<MPI_Count>(count, 1) - 1);
    // Elements are aligned here as they are in the program's memory.
    constexpr MPI_Aint alignment = alignof(std::max_align_t);
    const MPI_Aint lowest = true_lower + std::min<MPI_Aint>(0, steps);
    const MPI_Aint begin = lowest - (lowest % alignment + alignment) % alignment;
    const MPI_Aint end = true_lower + true_extent + std::max<MPI_Aint>(0, steps);
    memory_ = std::make_unique_for_overwrite<std::byte[]>(static_cast<std::size_t>(end - begin));
    first_ = memory_.get() - begin;
}

}  // namespace mutirao::mpi
