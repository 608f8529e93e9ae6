#include "mpi/executor/memory.h"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <numeric>

#include "mpi/base/native.h"

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

namespace {

/// cuPointerGetAttribute of CUDA's driver, hipPointerGetAttribute of ROCm's.
using GetAttribute = int (*)(void* answer, int attribute, std::uintptr_t pointer);
constexpr int memory_type = 2;  ///< the attribute's number, for both

struct Driver {
    const char* library;
    const char* function;
    unsigned least_type;  ///< of memory that may be the card's
};
constexpr std::array drivers = {
    Driver{"libcuda.so.1", "cuPointerGetAttribute", 2},
    Driver{"libamdhip64.so", "hipPointerGetAttribute", 1},  // from version 6 on also what the host has registered
};

/// The extensions by which Open MPI, MPICH and their kin tell.
bool mpi_takes_device_memory() {
    for (const char* const name : {"MPIX_Query_cuda_support", "MPIX_Query_rocm_support"}) {
        const auto query = next<int (*)()>(name);
        if (query != nullptr && query() != 0) return true;
    }
    const auto query = next<int (*)(int, int*)>("MPIX_GPU_query_support");
    bool takes = false;
    for (int kind = 0; query != nullptr && kind < 3; ++kind) {
        int supported = 0;
        takes = (query(kind, &supported) == 0 && supported != 0) || takes;
    }
    return takes;
}

/// How many libraries this process has ever loaded.
unsigned long long loaded_libraries() {
    unsigned long long count = 0;
    dl_iterate_phdr(
        [](dl_phdr_info* object, std::size_t, void* answer) {
            *static_cast<unsigned long long*>(answer) = object->dlpi_adds;
            return 1;
        },
        &count);
    return count;
}

GetAttribute find(const Driver& driver) {
    void* function = dlsym(RTLD_DEFAULT, driver.function);
    if (function == nullptr) {
        void* const library = dlopen(driver.library, RTLD_LAZY | RTLD_NOLOAD);
        function = library == nullptr ? nullptr : dlsym(library, driver.function);
    }
    return reinterpret_cast<GetAttribute>(function);
}

/// Null: not loaded. Looked for again when anything has been loaded since.
GetAttribute loaded(std::size_t which) {
    static std::array<std::atomic<GetAttribute>, drivers.size()> functions{};
    static std::array<std::atomic<unsigned long long>, drivers.size()> looked{};
    if (const GetAttribute function = functions[which].load(std::memory_order_relaxed)) {
        return function;
    }
    const unsigned long long now = loaded_libraries();
    if (looked[which].exchange(now, std::memory_order_relaxed) != now) {
        functions[which].store(find(drivers[which]), std::memory_order_relaxed);
    }
    return functions[which].load(std::memory_order_relaxed);
}

}  // namespace

bool is_on_device(const void* buffer) {
    static const bool possible = mpi_takes_device_memory();
    if (!possible || buffer == nullptr) {
        return false;
    }
    for (std::size_t which = 0; which < drivers.size(); ++which) {
        const GetAttribute get_attribute = loaded(which);
        unsigned type = 0;
        if (get_attribute != nullptr &&
            get_attribute(&type, memory_type, reinterpret_cast<std::uintptr_t>(buffer)) == 0 &&
            type >= drivers[which].least_type) {
            return true;
        }
    }
    return false;
}

}  // namespace mutirao::mpi
