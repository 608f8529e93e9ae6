// Datatypes as the schedules see them: a number of packed bytes, in place where the memory already
// is those bytes in order, through a packing buffer otherwise.
#pragma once

#include <mpi.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace mutirao::mpi {

struct TypeShape {
    std::size_t packed_bytes = 0;  ///< of one element
    bool in_place = false;         ///< count elements are exactly count * packed_bytes bytes at the address
};

/// Grows whenever a datatype is freed, whose handle may be used again for another.
inline std::atomic<std::uint64_t> freed_types{1};

/// Of the type of a message. Nothing where the MPI library refuses such a message: a type that is not
/// committed, a buffer that may not be null. `quiet` returns errors. Remembered per thread, so that
/// repeated calls cost a comparison.
std::optional<TypeShape> shape_of(const void* buffer, MPI_Count count, MPI_Datatype type,
                                  MPI_Comm quiet);

/// The message as contiguous packed bytes. For types that are not in place the root packs ahead of
/// what it sends so that packing overlaps with transfer; the others unpack at the end.
class PackedMessage {
  public:
    /// `comm` is any communicator of the job; `full`: this rank holds the data already.
    PackedMessage(void* buffer, MPI_Count count, MPI_Datatype type, TypeShape shape, MPI_Comm comm,
                  bool full)
        : user_(static_cast<std::byte*>(buffer)),
          count_(static_cast<std::size_t>(count)),
          type_(type),
          comm_(comm),
          full_(full),
          in_place_(shape.in_place),
          element_bytes_(shape.packed_bytes) {
        if (!in_place_) {
            make_room();
        }
    }
    ~PackedMessage() {
        if (!in_place_) {
            free_shifted();
        }
    }
    PackedMessage(const PackedMessage&) = delete;
    PackedMessage& operator=(const PackedMessage&) = delete;

    std::byte* data() { return in_place_ ? user_ : packed_.data(); }
    /// Makes the packed bytes before `end_bytes` readable; for the rank that holds the data. Returns
    /// an MPI error code.
    int prepare(std::size_t end_bytes) {
        return in_place_ || !full_ ? MPI_SUCCESS : pack(end_bytes);
    }
    /// Puts the packed bytes into the user's buffer once all have come; for the ranks that received. Returns
    /// an MPI error code.
    int finish() { return in_place_ || full_ ? MPI_SUCCESS : unpack(); }

  private:
    void make_room();
    void avoid_null();
    void free_shifted();
    int pack(std::size_t end_bytes);
    int unpack();
    std::size_t chunk_of_elements() const;

    std::byte* user_;
    std::size_t count_;
    MPI_Datatype type_;
    MPI_Datatype shifted_ = MPI_DATATYPE_NULL;  ///< ours, in place of the user's; see avoid_null()
    MPI_Comm comm_;
    bool full_;
    bool in_place_;
    std::size_t element_bytes_;
    MPI_Aint extent_ = 0;
    std::size_t ready_elements_ = 0;
    std::vector<std::byte> packed_;
};

}  // namespace mutirao::mpi
