#include "mpi/executor/memory.h"

#include <cstring>

namespace mutirao::mpi {
namespace {

constexpr TypeShape single_bytes{1, true};

}  // namespace

int Memory::read_copy(const Elements& from) {
    const std::size_t length_bytes = from.bytes();
    spare_ = std::make_unique_for_overwrite<std::byte[]>(length_bytes);
    PackedMessage original(from.buffer, from.count, from.type, from.layout, comm_, true);
    const int error = original.prepare(length_bytes);
    if (error == MPI_SUCCESS) {
        std::memcpy(spare_.get(), original.data(), length_bytes);
    }
    input_.emplace(spare_.get(), static_cast<MPI_Count>(length_bytes), MPI_BYTE, single_bytes, comm_,
                   true);
    return error;
}

void Memory::discard(std::size_t length_bytes) {
    spare_ = std::make_unique_for_overwrite<std::byte[]>(length_bytes);
    output_.emplace(spare_.get(), static_cast<MPI_Count>(length_bytes), MPI_BYTE, single_bytes, comm_,
                    false);
}

}  // namespace mutirao::mpi
