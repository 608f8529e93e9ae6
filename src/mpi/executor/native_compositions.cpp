#include "mpi/executor/execution.h"

#include <array>
#include <cstring>
#include <string_view>

#include "core/text/invariant.h"

namespace mutirao::mpi {
namespace {

Outcome raised(int error) { return {error, false}; }
Outcome not_raised(int error) { return {error, error != MPI_SUCCESS}; }

// --- what is moved, as bytes --------------------------------------------------------------------------

/// The data of a call that only moves them.
class Moved {
  public:
    explicit Moved(const CallOnComm& call) : memory_(call.quiet) {
        error_ = memory_.lay_out(call.binding);
        if (error_ == MPI_SUCCESS && memory_.input() != nullptr) {
            error_ = memory_.input()->prepare(call.binding.input.bytes());
        }
        if (error_ == MPI_SUCCESS && memory_.output() != nullptr) {
            error_ = memory_.output()->prepare(call.binding.output.bytes());
        }
    }

    int error() const { return error_; }
    std::byte* input() { return memory_.input()->data(); }
    std::byte* output() { return memory_.output()->data(); }
    /// Of a rank that has no such side.
    std::byte* scratch(std::size_t length_bytes) {
        scratch_ = std::make_unique_for_overwrite<std::byte[]>(length_bytes);
        return scratch_.get();
    }
    Outcome end(int error) { return error != MPI_SUCCESS ? raised(error) : not_raised(memory_.finish()); }

  private:
    Memory memory_;
    int error_ = MPI_SUCCESS;
    std::unique_ptr<std::byte[]> scratch_;
};

int block_bytes(const CallOnComm& call) { return static_cast<int>(call.binding.shape.length_bytes); }
std::size_t all_blocks_bytes(const CallOnComm& call) {
    return call.binding.shape.length_bytes * static_cast<std::size_t>(call.size);
}
int root_of(const CallOnComm& call) { return call.binding.shape.root; }

/// What a rank sends that gathers the block into `all`, too.
const void* own_block(const CallOnComm& call, const std::byte* block, const std::byte* all) {
    const std::byte* const place = all + static_cast<std::size_t>(call.rank) * call.binding.shape.length_bytes;
    return block == place ? MPI_IN_PLACE : block;
}

/// `call_natively`: makes the calls; returns the error code of the first that failed.
template <typename CallNatively>
Outcome moved_by(const CallOnComm& call, CallNatively call_natively) {
    Moved moved(call);
    return moved.error() == MPI_SUCCESS ? moved.end(call_natively(moved)) : not_raised(moved.error());
}

// Where the root's message lies nothing may be written: the program need not have made it writable.
Outcome broadcast_by_scatter_allgather(const CallOnComm& call) {
    return moved_by(call, [&](Moved& moved) {
        const int root = root_of(call), block = block_bytes(call) / call.size, rest = block_bytes(call) % call.size;
        const bool has_all = call.rank == root;
        std::byte* const message = moved.output();
        std::byte* const own = message + static_cast<std::ptrdiff_t>(call.rank) * block;
        std::byte* const all = has_all ? moved.scratch(call.binding.shape.length_bytes) : message;
        int error = PMPI_Scatter(message, block, MPI_BYTE, has_all ? MPI_IN_PLACE : own, block, MPI_BYTE, root,
                                 call.comm);
        if (error == MPI_SUCCESS) {
            error = PMPI_Allgather(has_all ? own : MPI_IN_PLACE, block, MPI_BYTE, all, block, MPI_BYTE, call.comm);
        }
        if (error == MPI_SUCCESS && rest > 0) {
            std::byte* const last = message + static_cast<std::ptrdiff_t>(call.size) * block;
            error = PMPI_Bcast(last, rest, MPI_BYTE, root, call.comm);
        }
        return error;
    });
}

Outcome gather_by_allgather(const CallOnComm& call) {
    return moved_by(call, [&](Moved& moved) {
        const int block = block_bytes(call);
        const bool keeps = call.rank == root_of(call);
        std::byte* const all = keeps ? moved.output() : moved.scratch(all_blocks_bytes(call));
        return PMPI_Allgather(own_block(call, moved.input(), all), block, MPI_BYTE, all, block, MPI_BYTE, call.comm);
    });
}

Outcome scatter_by_broadcast(const CallOnComm& call) {
    return moved_by(call, [&](Moved& moved) {
        const std::size_t all_bytes = all_blocks_bytes(call), block_bytes = call.binding.shape.length_bytes;
        std::byte* const all = call.rank == root_of(call) ? moved.input() : moved.scratch(all_bytes);
        const int error = PMPI_Bcast(all, static_cast<int>(all_bytes), MPI_BYTE, root_of(call), call.comm);
        if (error == MPI_SUCCESS) {
            std::memmove(moved.output(), all + static_cast<std::size_t>(call.rank) * block_bytes, block_bytes);
        }
        return error;
    });
}

Outcome allgather_by_gather_broadcast(const CallOnComm& call) {
    return moved_by(call, [&](Moved& moved) {
        constexpr int first = 0;
        const int block = block_bytes(call);
        std::byte* const all = moved.output();
        const void* const own = call.rank == first ? own_block(call, moved.input(), all) : moved.input();
        int error = PMPI_Gather(own, block, MPI_BYTE, all, block, MPI_BYTE, first, call.comm);
        if (error == MPI_SUCCESS) {
            error = PMPI_Bcast(all, block * call.size, MPI_BYTE, first, call.comm);
        }
        return error;
    });
}

// --- what is combined, in the program's elements ------------------------------------------------------

/// The operands and results of a call, in its own datatype.
class Combined {
  public:
    explicit Combined(const CallOnComm& call) : binding_(call.binding) {}

    MPI_Datatype type() const { return binding_.reduction.type; }
    MPI_Op op() const { return binding_.reduction.op; }
    /// Of this rank's operand.
    int count() const { return static_cast<int>(binding_.input.count); }
    const void* operand() const { return binding_.input.buffer; }
    /// The same for functions that would put the result in its place.
    const void* operand_or_in_place() const {
        return binding_.reads == Binding::Reads::copy ? MPI_IN_PLACE : operand();
    }
    void* result() const { return binding_.output.buffer; }
    void* scratch(int elements) {
        scratch_ = TypedMemory(type(), elements);
        return scratch_.first();
    }

  private:
    const Binding& binding_;
    TypedMemory scratch_;
};

Outcome reduce_by_allreduce(const CallOnComm& call) {
    Combined all(call);
    const bool keeps = call.rank == root_of(call);
    const void* const from = keeps ? all.operand_or_in_place() : all.operand();
    void* const to = keeps ? all.result() : all.scratch(all.count());
    return raised(PMPI_Allreduce(from, to, all.count(), all.type(), all.op(), call.comm));
}

Outcome allreduce_by_reduce_broadcast(const CallOnComm& call) {
    Combined all(call);
    constexpr int first = 0;
    const bool keeps = call.rank == first;
    const void* const from = keeps ? all.operand_or_in_place() : all.operand();
    int error = PMPI_Reduce(from, keeps ? all.result() : nullptr, all.count(), all.type(), all.op(), first, call.comm);
    if (error == MPI_SUCCESS) {
        error = PMPI_Bcast(all.result(), all.count(), all.type(), first, call.comm);
    }
    return raised(error);
}

Outcome reduce_scatter_block_by_allreduce(const CallOnComm& call) {
    Combined all(call);
    void* const results = all.scratch(all.count());
    const int error = PMPI_Allreduce(all.operand(), results, all.count(), all.type(), all.op(), call.comm);
    if (error != MPI_SUCCESS) {
        return raised(error);
    }
    Elements shares = call.binding.output;
    shares.buffer = results;
    return not_raised(copy(nth(shares, call.rank, call.binding.output.count), call.binding.output, call.quiet));
}

Outcome reduce_scatter_block_by_reduce_scatter(const CallOnComm& call) {
    Combined all(call);
    constexpr int first = 0;
    const int share = all.count() / call.size;
    void* const results = call.rank == first ? all.scratch(all.count()) : nullptr;
    int error = PMPI_Reduce(all.operand(), results, all.count(), all.type(), all.op(), first, call.comm);
    if (error == MPI_SUCCESS) {
        error = PMPI_Scatter(results, share, all.type(), all.result(), share, all.type(), first, call.comm);
    }
    return raised(error);
}

struct Row {
    Collective collective;
    std::string_view name;
    NativeComposition run;
};

constexpr std::array<Row, 8> rows{{
    {Collective::broadcast, "native_scatter_allgather", broadcast_by_scatter_allgather},
    {Collective::gather, "native_allgather", gather_by_allgather},
    {Collective::scatter, "native_broadcast", scatter_by_broadcast},
    {Collective::allgather, "native_gather_broadcast", allgather_by_gather_broadcast},
    {Collective::reduce, "native_allreduce", reduce_by_allreduce},
    {Collective::allreduce, "native_reduce_broadcast", allreduce_by_reduce_broadcast},
    {Collective::reduce_scatter_block, "native_allreduce", reduce_scatter_block_by_allreduce},
    {Collective::reduce_scatter_block, "native_reduce_scatter", reduce_scatter_block_by_reduce_scatter},
}};

}  // namespace

NativeComposition native_composition(const Algorithm& algorithm) {
    if (algorithm.calls.empty()) {
        return nullptr;
    }
    for (const Row& row : rows) {
        if (row.collective == algorithm.collective && row.name == algorithm.name) {
            return row.run;
        }
    }
    broken_invariant("rows of compositions for the collective (number, rows)",
                     static_cast<long long>(algorithm.collective), static_cast<long long>(rows.size()));
}

}  // namespace mutirao::mpi
