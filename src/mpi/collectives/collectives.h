// Each collective, from the program's arguments to its shape and to what this rank alone knows of it
// (MPI 4.0, chapter 6). The names are those of interpose/functions.h; the files stand by what moves:
// one message, a block of each rank, or the operands of a reduction.
#pragma once

#include <mpi.h>

#include <variant>

#include "mpi/collectives/call.h"

namespace mutirao::mpi {

/// Counts or displacements as the program gives them: ints, or larger in the forms with _c.
class Numbers {
  public:
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
    std::variant<const int*, const long*, const long long*> numbers_;
};

// messages.cpp
Outcome barrier(Job& job, const NativeCall& native, MPI_Comm comm);
Outcome broadcast(Job& job, const NativeCall& native, void* buffer, MPI_Count count, MPI_Datatype type,
                  int root, MPI_Comm comm);

// blocks.cpp
Outcome gather(Job& job, const NativeCall& native, const void* send, MPI_Count send_count,
               MPI_Datatype send_type, void* receive, MPI_Count receive_count,
               MPI_Datatype receive_type, int root, MPI_Comm comm);
Outcome scatter(Job& job, const NativeCall& native, const void* send, MPI_Count send_count,
                MPI_Datatype send_type, void* receive, MPI_Count receive_count,
                MPI_Datatype receive_type, int root, MPI_Comm comm);
Outcome allgather(Job& job, const NativeCall& native, const void* send, MPI_Count send_count,
                  MPI_Datatype send_type, void* receive, MPI_Count receive_count,
                  MPI_Datatype receive_type, MPI_Comm comm);
Outcome alltoall(Job& job, const NativeCall& native, const void* send, MPI_Count send_count,
                 MPI_Datatype send_type, void* receive, MPI_Count receive_count,
                 MPI_Datatype receive_type, MPI_Comm comm);

// uneven_blocks.cpp
Outcome gatherv(Job& job, const NativeCall& native, const void* send, MPI_Count send_count,
                MPI_Datatype send_type, void* receive, Numbers receive_counts,
                Numbers displacements, MPI_Datatype receive_type, int root, MPI_Comm comm);
Outcome scatterv(Job& job, const NativeCall& native, const void* send, Numbers send_counts,
                 Numbers displacements, MPI_Datatype send_type, void* receive,
                 MPI_Count receive_count, MPI_Datatype receive_type, int root, MPI_Comm comm);
Outcome allgatherv(Job& job, const NativeCall& native, const void* send, MPI_Count send_count,
                   MPI_Datatype send_type, void* receive, Numbers receive_counts,
                   Numbers displacements, MPI_Datatype receive_type, MPI_Comm comm);
Outcome alltoallv(Job& job, const NativeCall& native, const void* send, Numbers send_counts,
                  Numbers send_displacements, MPI_Datatype send_type, void* receive,
                  Numbers receive_counts, Numbers receive_displacements,
                  MPI_Datatype receive_type, MPI_Comm comm);
Outcome alltoallw(Job& job, const NativeCall& native, const void* send, Numbers send_counts,
                  Numbers send_displacements, const MPI_Datatype* send_types, void* receive,
                  Numbers receive_counts, Numbers receive_displacements,
                  const MPI_Datatype* receive_types, MPI_Comm comm);

// reductions.cpp
Outcome reduce(Job& job, const NativeCall& native, const void* send, void* receive, MPI_Count count,
               MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm);
Outcome allreduce(Job& job, const NativeCall& native, const void* send, void* receive,
                  MPI_Count count, MPI_Datatype type, MPI_Op op, MPI_Comm comm);
Outcome reduce_scatter_block(Job& job, const NativeCall& native, const void* send, void* receive,
                             MPI_Count count, MPI_Datatype type, MPI_Op op, MPI_Comm comm);
Outcome reduce_scatter(Job& job, const NativeCall& native, const void* send, void* receive,
                       Numbers counts, MPI_Datatype type, MPI_Op op, MPI_Comm comm);
Outcome scan(Job& job, const NativeCall& native, const void* send, void* receive, MPI_Count count,
             MPI_Datatype type, MPI_Op op, MPI_Comm comm);
Outcome exscan(Job& job, const NativeCall& native, const void* send, void* receive, MPI_Count count,
               MPI_Datatype type, MPI_Op op, MPI_Comm comm);

}  // namespace mutirao::mpi
