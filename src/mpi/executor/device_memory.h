// Memory of graphics cards, which no processor may read or write. An MPI library that takes such buffers packs from
// them and unpacks into them, and so they are treated like datatypes with holes: what runs works on packed copies.
#pragma once

namespace mutirao::mpi {

/// As the driver that the program has loaded says of CUDA or ROCm. Always false where the MPI library takes no such
/// buffers anyway.
bool is_on_device(const void* buffer);

}  // namespace mutirao::mpi
