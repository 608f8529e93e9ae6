// A collective call as the program makes it, and what it comes to: its shape, and what this rank alone knows of it
// (MPI 4.0, chapter 6).
#pragma once

#include <mpi.h>

#include <variant>

#include "core/collectives/collective.h"
#include "mpi/executor/memory.h"

namespace mutirao::mpi {

/// Counts or displacements as the program gives them: ints, or larger in the forms with _c.
class Numbers {
  public:
    Numbers() = default;
    Numbers(const int* numbers) : numbers_(numbers) {}
    Numbers(const long* numbers) : numbers_(numbers) {}
    Numbers(const long long* numbers) : numbers_(numbers) {}

    MPI_Count operator[](int index) const {
        return std::visit([&](auto numbers) { return static_cast<MPI_Count>(numbers[index]); },
                          numbers_);
    }
    explicit operator bool() const {
        return std::visit([](auto numbers) { return numbers != nullptr; }, numbers_);
    }
    /// The very same numbers.
    bool operator==(const Numbers&) const = default;

  private:
    std::variant<const int*, const long*, const long long*> numbers_{};
};

/// What a call sends, or receives: one block, or one for every rank.
struct Side {
    const void* buffer = nullptr;
    MPI_Count count = 0;  ///< of the block, or of each
    MPI_Datatype type = MPI_DATATYPE_NULL;
    // Where each has its own length.
    Numbers counts{};
    Numbers displacements{};  ///< in extents of the type, or where each has its own type in bytes
    const MPI_Datatype* types = nullptr;
};

/// What the program passed, as far as the collective has it. Where there is one count and type for both sides, or only
/// one side, `receive` has it.
struct Given {
    Collective collective = Collective::barrier;
    Side send{};
    Side receive{};
    MPI_Op op = MPI_OP_NULL;
    int root = 0;
};

/// False: the call is the MPI library's and does not count, on all ranks of a correct program alike. What is wrong on this
/// rank alone, and MPI libraries may take, counts (Binding::to_native). With MPI_IN_PLACE a rank's own block is there
/// already.
bool bind(const Given& given, const Place& here, Binding& binding);

/// Longer calls are the MPI library's, on all ranks. Where one rank does not know how long the others' are,
/// long blocks go as several messages instead.
bool is_too_long(const CallShape& shape, int size);

}  // namespace mutirao::mpi
