// Memory for elements of any datatype, as the program could have got it.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <memory>

namespace mutirao::mpi {

class TypedMemory {
  public:
    TypedMemory() = default;
    TypedMemory(MPI_Datatype type, MPI_Count count);

    /// Where the first element is: what MPI functions take as the buffer.
    void* first() { return first_; }

  private:
    std::unique_ptr<std::byte[]> memory_;
    std::byte* first_ = nullptr;
};

}  // namespace mutirao::mpi
