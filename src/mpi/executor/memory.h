// A call as this rank alone knows it: where its data lie, and how they are combined.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/collectives/collective.h"
#include "mpi/executor/datatype.h"

namespace mutirao::mpi {

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

/// The `index`-th block of so many elements.
Elements nth(const Elements& blocks, int index, MPI_Count count);

/// Of equal signatures, in memory of their own. Returns an MPI error code.
int copy(const Elements& from, const Elements& to, MPI_Comm comm);

/// Either side is missing where the rank has none. What is read and what is written may be the same
/// memory only where the schedule copies the one to the very place of the other (blocks in place).
class Memory {
  public:
    /// `comm` is any communicator; errors are raised on it.
    explicit Memory(MPI_Comm comm) : comm_(comm) {}

    void read(const Elements& from) {
        input_.emplace(from.buffer, from.count, from.type, from.layout, comm_, true);
    }
    void write(const Elements& to) {
        output_.emplace(to.buffer, to.count, to.type, to.layout, comm_, false);
    }
    /// A message that is read and passed on, or received and passed on.
    void pass_on(const Elements& message, bool full) {
        output_.emplace(message.buffer, message.count, message.type, message.layout, comm_, full);
    }
    /// Reads from a copy, since the same memory is written. Returns an MPI error code.
    int read_copy(const Elements& from) { return read_blocks({&from, 1}); }
    /// Reads blocks that lie anywhere, one behind another in a copy. Returns an MPI error code.
    int read_blocks(std::span<const Elements> blocks);
    /// Writes them, once all have come. They outlive the call.
    void write_blocks(std::span<const Elements> blocks);
    /// Writes to where nobody looks.
    void discard(std::size_t length_bytes);

    PackedMessage* input() { return input_ ? &*input_ : nullptr; }
    PackedMessage* output() { return output_ ? &*output_ : nullptr; }

    /// Puts what has come where the program wants it. Returns an MPI error code.
    int finish();

    Reduction reduction{};

  private:
    int finish_blocks();

    MPI_Comm comm_;
    std::optional<PackedMessage> input_;
    std::optional<PackedMessage> output_;
    std::unique_ptr<std::byte[]> input_copy_;
    std::unique_ptr<std::byte[]> output_copy_;
    std::span<const Elements> blocks_to_write_;
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
        unseen,       ///< a block in place, that the program has already
        blocks,       ///< the output's
        received,     ///< what came is passed on
        passed_on     ///< what is there is passed on
    };

    CallShape shape;
    Reads reads = Reads::nothing;
    Writes writes = Writes::nothing;
    Elements input{};
    Elements output{};
    std::vector<Elements> input_blocks{};  ///< that are not one behind another in memory
    std::vector<Elements> output_blocks{};
    Reduction reduction{};
};

/// Makes the memory that a binding names. Returns an MPI error code.
int lay_out(const Binding& binding, Memory& memory);

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
