// A call as this rank alone knows it: where its data lie, and how they are combined. Datatypes are to schedules a number
// of packed bytes: in place where the memory already is those bytes in order, through a packing buffer otherwise.
#pragma once

#include <mpi.h>

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

#include "core/collectives/collective.h"

namespace mutirao::mpi {

/// A handle as a number, for tables that are looked up by one.
template <typename Handle>
std::uintptr_t as_word(Handle handle) {
    if constexpr (std::is_pointer_v<Handle>) {
        return std::bit_cast<std::uintptr_t>(handle);
    } else {
        return static_cast<std::uintptr_t>(handle);
    }
}

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

/// How reduce steps combine: with the program's own operator and datatype, whole elements at a time.
struct Reduction {
    MPI_Op op = MPI_OP_NULL;
    MPI_Datatype type = MPI_DATATYPE_NULL;
    TypeShape layout{1, true};
    bool commutes = true;
};

/// Elements of one datatype, as the program gave them.
struct Elements {
    void* buffer = nullptr;
    MPI_Count count = 0;
    MPI_Datatype type = MPI_DATATYPE_NULL;
    TypeShape layout{};

    std::size_t bytes() const { return static_cast<std::size_t>(count) * layout.packed_bytes; }
};

/// So many bytes in order.
inline Elements plain_bytes(void* buffer, std::size_t length_bytes) {
    return {buffer, static_cast<MPI_Count>(length_bytes), MPI_BYTE, {1, true}};
}

/// Where there are no bytes nobody need look at the type.
inline Elements or_nothing(const Elements& elements) {
    return elements.bytes() > 0 ? elements : plain_bytes(nullptr, 0);
}

/// The message as contiguous packed bytes. For types that are not in place the root packs ahead of
/// what it sends so that packing overlaps with transfer; the others unpack at the end.
class PackedMessage {
  public:
    /// `comm` is any communicator of the job; `full`: this rank holds the data already.
    PackedMessage(const Elements& elements, MPI_Comm comm, bool full)
        : user_(static_cast<std::byte*>(elements.buffer)),
          count_(static_cast<std::size_t>(elements.count)),
          type_(elements.type),
          comm_(comm),
          full_(full),
          in_place_(elements.layout.in_place),
          element_bytes_(elements.layout.packed_bytes) {
        if (!in_place_) {
            make_room();
        }
    }
    ~PackedMessage() {
        if (shifted_ != MPI_DATATYPE_NULL) {
            PMPI_Type_free(&shifted_);
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
    int pack(std::size_t end_bytes);
    int unpack();
    template <typename Convert>
    int convert_up_to(std::size_t wanted_elements, const Convert& convert);

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

/// From one element to the next.
MPI_Aint extent_of(MPI_Datatype type);

/// The `index`-th block of so many elements.
Elements nth(const Elements& blocks, int index, MPI_Count count);

/// Of equal signatures, in memory of their own. Returns an MPI error code.
int copy(const Elements& from, const Elements& to, MPI_Comm comm);

/// Where a call is made.
struct Place {
    MPI_Comm quiet;  ///< of this process alone; it returns errors
    int rank;
    int size;
};

/// How a call ended. Errors of the MPI library's own functions have been raised already.
struct Outcome {
    int error = MPI_SUCCESS;
    bool to_be_raised = false;
};

/// What the call asks for, and what this rank alone knows of it.
struct Binding {
    enum class Reads : unsigned char {
        nothing,
        input,
        copy,   ///< of the input, since its memory is written
        blocks  ///< the input's
    };
    enum class Writes : unsigned char {
        nothing,
        output,
        unseen,    ///< a block in place, that the program has already
        blocks,    ///< the output's
        passed_on  ///< what is there already
    };

    CallShape shape{};
    bool to_native = false;  ///< the MPI library is to judge it, whatever runs such calls
    bool truncated = false;  ///< this rank's own block is longer than the room for it
    Reads reads = Reads::nothing;
    Writes writes = Writes::nothing;
    Elements input{};
    Elements output{};
    std::vector<Elements> input_blocks{};  ///< that are not one behind another in memory
    std::vector<Elements> output_blocks{};
    Reduction reduction{};
};

/// Where a call's data lie. Either side is missing where the rank has none. What is read and what is written may be the same
/// memory only where the schedule copies the one to the very place of the other (blocks in place).
class Memory {
  public:
    /// `comm` is any communicator; errors are raised on it.
    explicit Memory(MPI_Comm comm) : comm_(comm) {}

    /// Makes what a binding names, which outlives the call. Returns an MPI error code.
    int lay_out(const Binding& binding);

    PackedMessage* input() { return input_ ? &*input_ : nullptr; }
    PackedMessage* output() { return output_ ? &*output_ : nullptr; }

    /// Puts what has come where the program wants it. Returns an MPI error code.
    int finish();

    Reduction reduction{};

  private:
    int read_copy(std::span<const Elements> blocks);
    void write_beside(std::size_t length_bytes);

    MPI_Comm comm_;
    std::optional<PackedMessage> input_;
    std::optional<PackedMessage> output_;
    std::unique_ptr<std::byte[]> input_copy_;
    std::unique_ptr<std::byte[]> output_copy_;
    std::span<const Elements> blocks_to_write_;
};

/// Memory for elements of any datatype, as the program could have got it.
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

// Memory of graphics cards, which no processor may read or write. An MPI library that takes such buffers packs from
// them and unpacks into them, and so they are treated like datatypes with holes: what runs works on packed copies.

/// As the driver that the program has loaded says of CUDA or ROCm. Always false where the MPI library takes no such
/// buffers anyway.
bool is_on_device(const void* buffer);

// Reductions with the program's own operators.

/// What may be done with `op` on elements of `type` (MPI 4.0, section 6.9.2). Nothing where that is
/// for the MPI library to say: errors, and what the standard does not promise.
std::optional<OperatorKind> operator_kind(MPI_Op op, MPI_Datatype type);

/// target = source op target, of packed elements. Returns an MPI error code.
int reduce_packed(const Reduction& reduction, const std::byte* source, std::byte* target,
                  std::size_t length_bytes);

}  // namespace mutirao::mpi
