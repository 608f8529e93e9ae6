// The way of one call of a collective, from what the program gave to its end.
#pragma once

#include <mpi.h>

#include <optional>
#include <variant>

#include "mpi/communicator/communicator.h"
#include "mpi/executor/memory.h"

namespace mutirao::mpi {

/// The call as the program made it, on the MPI library's own function.
class NativeCall {
  public:
    template <typename Function>
    explicit NativeCall(Function& function)
        : function_(&function), call_([](void* it) { return (*static_cast<Function*>(it))(); }) {}

    int operator()() const { return call_(function_); }

  private:
    void* function_;
    int (*call_)(void*);
};

/// Where a call is made.
struct Place {
    MPI_Comm quiet;  ///< of this process alone; it returns errors
    int rank;
    int size;
};

/// Where the program names memory to be read that is written too. The MPICH family refuses what it sees
/// of that, on the ranks that it concerns; Open MPI reads first. Neither is left to the MPI library by one
/// rank alone, where others cannot know of it.
#if defined(OPEN_MPI)
constexpr bool refuses_one_place = false;
#else
constexpr bool refuses_one_place = true;
#endif

/// Nothing where the MPI library is to judge: what it refuses, and what no schedule can hold. A buffer that
/// may be in place and is, is no buffer.
std::optional<Elements> elements(const void* buffer, MPI_Count count, MPI_Datatype type,
                                 MPI_Comm quiet);

/// Enters the communicator, which is that of `comm`, and runs the call as is ruled there.
Outcome run(Communicator& communicator, const Binding& binding, MPI_Comm comm, MPI_Comm quiet, const NativeCall& native);

// Each collective, from the program's arguments to its shape and to what this rank alone knows of it
// (MPI 4.0, chapter 6). The names are those of interpose/functions.h; the files stand by what moves:
// one message, a block of each rank, or the operands of a reduction. Nothing: the call is the MPI library's and does not
// count, on all ranks of a correct program alike.

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

// blocks.cpp
std::optional<Binding> barrier(const Place& here, MPI_Comm);
std::optional<Binding> broadcast(const Place& here, void* buffer, MPI_Count count, MPI_Datatype type, int root,
                                 MPI_Comm);

std::optional<Binding> gather(const Place& here, const void* send, MPI_Count send_count, MPI_Datatype send_type,
                              void* receive, MPI_Count receive_count, MPI_Datatype receive_type, int root, MPI_Comm);
std::optional<Binding> scatter(const Place& here, const void* send, MPI_Count send_count, MPI_Datatype send_type,
                               void* receive, MPI_Count receive_count, MPI_Datatype receive_type, int root, MPI_Comm);
std::optional<Binding> allgather(const Place& here, const void* send, MPI_Count send_count, MPI_Datatype send_type,
                                 void* receive, MPI_Count receive_count, MPI_Datatype receive_type, MPI_Comm);
std::optional<Binding> alltoall(const Place& here, const void* send, MPI_Count send_count, MPI_Datatype send_type,
                                void* receive, MPI_Count receive_count, MPI_Datatype receive_type, MPI_Comm);

// uneven_blocks.cpp
std::optional<Binding> gatherv(const Place& here, const void* send, MPI_Count send_count, MPI_Datatype send_type,
                               void* receive, Numbers receive_counts, Numbers displacements, MPI_Datatype receive_type,
                               int root, MPI_Comm);
std::optional<Binding> scatterv(const Place& here, const void* send, Numbers send_counts, Numbers displacements,
                                MPI_Datatype send_type, void* receive, MPI_Count receive_count,
                                MPI_Datatype receive_type, int root, MPI_Comm);
std::optional<Binding> allgatherv(const Place& here, const void* send, MPI_Count send_count, MPI_Datatype send_type,
                                  void* receive, Numbers receive_counts, Numbers displacements,
                                  MPI_Datatype receive_type, MPI_Comm);
std::optional<Binding> alltoallv(const Place& here, const void* send, Numbers send_counts, Numbers send_displacements,
                                 MPI_Datatype send_type, void* receive, Numbers receive_counts,
                                 Numbers receive_displacements, MPI_Datatype receive_type, MPI_Comm);
std::optional<Binding> alltoallw(const Place& here, const void* send, Numbers send_counts, Numbers send_displacements,
                                 const MPI_Datatype* send_types, void* receive, Numbers receive_counts,
                                 Numbers receive_displacements, const MPI_Datatype* receive_types, MPI_Comm);

// reductions.cpp
std::optional<Binding> reduce(const Place& here, const void* send, void* receive, MPI_Count count, MPI_Datatype type,
                              MPI_Op op, int root, MPI_Comm);
std::optional<Binding> allreduce(const Place& here, const void* send, void* receive, MPI_Count count, MPI_Datatype type,
                                 MPI_Op op, MPI_Comm);
std::optional<Binding> reduce_scatter_block(const Place& here, const void* send, void* receive, MPI_Count count,
                                            MPI_Datatype type, MPI_Op op, MPI_Comm);
std::optional<Binding> reduce_scatter(const Place& here, const void* send, void* receive, Numbers counts,
                                      MPI_Datatype type, MPI_Op op, MPI_Comm);
std::optional<Binding> scan(const Place& here, const void* send, void* receive, MPI_Count count, MPI_Datatype type,
                            MPI_Op op, MPI_Comm);
std::optional<Binding> exscan(const Place& here, const void* send, void* receive, MPI_Count count, MPI_Datatype type,
                              MPI_Op op, MPI_Comm);

}  // namespace mutirao::mpi
