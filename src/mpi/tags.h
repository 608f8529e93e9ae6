// What messages on a communicator's private twin are about. The calls' own data comes above.
#pragma once

#include <cstdint>

namespace mutirao::mpi {

constexpr int setup_tag = 1;    ///< measuring the network for the first time
constexpr int host_tag = 2;     ///< making the communicator of a host
constexpr int epoch_tag = 3;    ///< what the decider tells
constexpr int synchronous_tag = 4;  ///< measuring and adapting while a call waits for it
constexpr int in_band_tag = 5;  ///< the same beside the calls

/// Of the data of one call. Others may be under way at the same time, but never so many.
constexpr int tag_of_call(std::uint64_t call) {
    constexpr int first_tag = 16;
    constexpr std::uint64_t tag_values = 16384;  // MPI guarantees tags up to 32767
    return first_tag + static_cast<int>(call % tag_values);
}

}  // namespace mutirao::mpi
