// Each collective, from the program's arguments to its shape and to what this rank alone knows of it
// (MPI 4.0, chapter 6). The names are those of interpose/functions.h. Nothing: the call is the MPI library's and does
// not count, on all ranks of a correct program alike. With MPI_IN_PLACE a rank's own block is there already.
#pragma once

#include <mpi.h>

#include <optional>
#include <variant>

#include "mpi/executor/memory.h"

namespace mutirao::mpi {

/// Longer calls are the MPI library's, on all ranks. Where one rank does not know how long the others' are,
/// long blocks go as several messages instead.
bool is_too_long(const CallShape& shape, int size);

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
