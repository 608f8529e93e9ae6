#include "mpi/executor/memory.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <dlfcn.h>
#include <initializer_list>
#include <link.h>
#include <numeric>
#include <utility>

#include "mpi/base/runtime.h"

namespace mutirao::mpi {
namespace {

// Types made with large counts (MPI 4.0, section 5.1.13) must not be asked by the functions without _c.
#if MPI_VERSION >= 4
struct Envelope {
    MPI_Count integers = 0, addresses = 0, counts = 0, types = 0;
    int combiner = 0;
    explicit Envelope(MPI_Datatype type) {
        PMPI_Type_get_envelope_c(type, &integers, &addresses, &counts, &types, &combiner);
    }
};
#else
struct Envelope {
    int integers = 0, addresses = 0, types = 0, combiner = 0;
    explicit Envelope(MPI_Datatype type) {
        PMPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner);
    }
};
#endif

/// The type that a contiguous or duplicated one was made of, of which these have one each.
MPI_Datatype made_of(MPI_Datatype type, const Envelope& envelope) {
    MPI_Datatype only = MPI_DATATYPE_NULL;
    int integer = 0;
    MPI_Aint address = 0;
#if MPI_VERSION >= 4
    MPI_Count count = 0;
    PMPI_Type_get_contents_c(type, envelope.integers, envelope.addresses, envelope.counts, envelope.types, &integer,
                             &address, &count, &only);
#else
    PMPI_Type_get_contents(type, envelope.integers, envelope.addresses, envelope.types, &integer, &address, &only);
#endif
    return only;
}

// Only types whose bytes surely lie in order: a derived type may have no gaps and still permute
// its parts, which MPI_Type_get_extent does not show.
bool bytes_in_order(MPI_Datatype type) {
    const Envelope envelope(type);
    if (envelope.combiner == MPI_COMBINER_NAMED) {
        return true;
    }
    if (envelope.combiner != MPI_COMBINER_CONTIGUOUS && envelope.combiner != MPI_COMBINER_DUP) {
        return false;
    }
    MPI_Datatype inner = made_of(type, envelope);
    const bool in_order = bytes_in_order(inner);
    if (Envelope(inner).combiner != MPI_COMBINER_NAMED) {
        PMPI_Type_free(&inner);
    }
    return in_order;
}

TypeShape examine(MPI_Datatype type) {
    MPI_Count size = 0;
    MPI_Count lower = 0;
    MPI_Count extent = 0;
    PMPI_Type_size_x(type, &size);
    PMPI_Type_get_extent_x(type, &lower, &extent);
    return {static_cast<std::size_t>(size),
            lower == 0 && extent == size && bytes_in_order(type)};
}

// A shape fits into the attribute's pointer itself, so that nothing is allocated or freed and two
// threads may set it at once.
void* packed_shape(TypeShape shape) {
    return std::bit_cast<void*>(static_cast<std::uintptr_t>(shape.packed_bytes * 2 +
                                                            (shape.in_place ? 1 : 0)));
}

TypeShape unpacked_shape(void* attribute) {
    const auto bits = std::bit_cast<std::uintptr_t>(attribute);
    return {bits / 2, bits % 2 != 0};
}

// The types of this thread's last calls, to spare repeated calls the attribute look-up. A handle may
// be used again for another type, so every freed type ends all of these.
struct Known {
    MPI_Datatype type;
    TypeShape shape;
    std::uint64_t generation;  ///< of freed_types; 0: none
};
constexpr std::size_t most_known = 4;
thread_local Known known[most_known] __attribute__((tls_model("initial-exec"))) = {};

Known& place_of(MPI_Datatype type) {
    const auto word = static_cast<std::uint64_t>(as_word(type));
    return known[(word ^ (word >> 6) ^ (word >> 12)) % most_known];
}

int forget_type(MPI_Datatype, int, void*, void*) {
    ++freed_types;
    return MPI_SUCCESS;
}

int shape_key() {
    static const int key = [] {
        int made = MPI_KEYVAL_INVALID;
        PMPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, forget_type, &made, nullptr);
        return made;
    }();
    return key;
}

// MPI offers no question whether a type is committed, nor all that it takes for a wrong buffer; so it
// is asked to send such a message to nobody.
bool refused(const void* buffer, MPI_Count count, MPI_Datatype type, MPI_Comm comm) {
    const int some = count > 0 ? 1 : 0;
    return PMPI_Send(buffer, some, type, MPI_PROC_NULL, 0, comm) != MPI_SUCCESS;
}

TypeShape look_up(MPI_Datatype type) {
    void* attribute = nullptr;
    int found = 0;
    PMPI_Type_get_attr(type, shape_key(), &attribute, &found);
    if (found != 0) {
        return unpacked_shape(attribute);
    }
    const TypeShape shape = examine(type);
    PMPI_Type_set_attr(type, shape_key(), packed_shape(shape));
    return shape;
}

}  // namespace

std::optional<TypeShape> shape_of(const void* buffer, MPI_Count count, MPI_Datatype type,
                                  MPI_Comm quiet) {
    Known& place = place_of(type);
    const std::uint64_t now = freed_types.load(std::memory_order_relaxed);
    const bool seen = place.generation == now && place.type == type;
    if ((!seen || buffer == nullptr) && refused(buffer, count, type, quiet)) {
        return std::nullopt;
    }
    if (!seen) {
        place = {type, look_up(type), now};
    }
    return place.shape;
}

void PackedMessage::make_room() {
    extent_ = extent_of(type_);
    packed_.resize(count_ * element_bytes_);
    avoid_null();
}

// With MPI_BOTTOM the datatype holds absolute addresses. MPI_Pack of MPICH 4.0 takes the null pointer
// for an error, so the same data is described as seen from an address of our own.
void PackedMessage::avoid_null() {
    if (user_ != nullptr) {
        return;
    }
    MPI_Aint here = 0;
    PMPI_Get_address(packed_.data(), &here);
    const MPI_Aint back = -here;
    const int one = 1;
    PMPI_Type_create_hindexed(1, &one, &back, type_, &shifted_);
    PMPI_Type_commit(&shifted_);
    type_ = shifted_;
    user_ = packed_.data();
}

// MPI_Pack counts in int; a quarter of a GiB at a time is far inside and costs nothing.
template <typename Convert>
int PackedMessage::convert_up_to(std::size_t wanted_elements, const Convert& convert) {
    while (ready_elements_ < wanted_elements) {
        const std::size_t most_elements = std::max<std::size_t>(1, (std::size_t{1} << 28) / element_bytes_);
        const std::size_t elements = std::min(wanted_elements - ready_elements_, most_elements);
        const int error = convert(user_ + static_cast<MPI_Aint>(ready_elements_) * extent_, static_cast<int>(elements),
                                  packed_.data() + ready_elements_ * element_bytes_,
                                  static_cast<int>(elements * element_bytes_));
        if (error != MPI_SUCCESS) {
            return error;
        }
        ready_elements_ += elements;
    }
    return MPI_SUCCESS;
}

int PackedMessage::pack(std::size_t end_bytes) {
    const std::size_t wanted = (end_bytes + element_bytes_ - 1) / element_bytes_;
    return convert_up_to(wanted, [this](const std::byte* user, int elements, std::byte* packed, int length_bytes) {
        int position = 0;
        return PMPI_Pack(user, elements, type_, packed, length_bytes, &position, comm_);
    });
}

int PackedMessage::unpack() {
    return convert_up_to(count_, [this](std::byte* user, int elements, const std::byte* packed, int length_bytes) {
        int position = 0;
        return PMPI_Unpack(packed, length_bytes, &position, user, elements, type_, comm_);
    });
}

// --- where a call's data lie -------------------------------------------------------------------------------

namespace {

std::size_t bytes_of(std::span<const Elements> blocks) {
    return std::accumulate(blocks.begin(), blocks.end(), std::size_t{0},
                           [](std::size_t sum, const Elements& each) { return sum + each.bytes(); });
}

int pack(const Elements& from, std::byte* packed, MPI_Comm comm) {
    PackedMessage message(from, comm, true);
    const int error = message.prepare(from.bytes());
    if (error == MPI_SUCCESS) {
        std::memcpy(packed, message.data(), from.bytes());
    }
    return error;
}

int unpack(const std::byte* packed, const Elements& to, MPI_Comm comm) {
    PackedMessage message(to, comm, false);
    std::memcpy(message.data(), packed, to.bytes());
    return message.finish();
}

}  // namespace

MPI_Aint extent_of(MPI_Datatype type) {
    MPI_Aint lower = 0, extent = 0;
    PMPI_Type_get_extent(type, &lower, &extent);
    return extent;
}

Elements nth(const Elements& blocks, int index, MPI_Count count) {
    const auto [bytes, in_place] = blocks.layout;
    const MPI_Aint extent = in_place ? static_cast<MPI_Aint>(bytes) : extent_of(blocks.type);
    Elements one = blocks;
    one.buffer = static_cast<std::byte*>(blocks.buffer) +
                 static_cast<MPI_Aint>(index) * static_cast<MPI_Aint>(count) * extent;
    one.count = count;
    return one;
}

int copy(const Elements& from, const Elements& to, MPI_Comm comm) {
    PackedMessage message(from, comm, true);
    const int error = message.prepare(from.bytes());
    return error == MPI_SUCCESS ? unpack(message.data(), to, comm) : error;
}

int Memory::lay_out(const Binding& binding) {
    reduction = binding.reduction;
    switch (binding.writes) {
        case Binding::Writes::nothing: break;
        case Binding::Writes::output: output_.emplace(binding.output, comm_, false); break;
        case Binding::Writes::passed_on: output_.emplace(binding.output, comm_, true); break;
        case Binding::Writes::unseen: write_beside(binding.output.bytes()); break;
        case Binding::Writes::blocks:
            blocks_to_write_ = binding.output_blocks;
            write_beside(bytes_of(blocks_to_write_));
            break;
    }
    switch (binding.reads) {
        case Binding::Reads::nothing: break;
        case Binding::Reads::input: input_.emplace(binding.input, comm_, true); break;
        case Binding::Reads::copy: return read_copy({&binding.input, 1});
        case Binding::Reads::blocks: return read_copy(binding.input_blocks);
    }
    return MPI_SUCCESS;
}

// One behind another.
int Memory::read_copy(std::span<const Elements> blocks) {
    const std::size_t length_bytes = bytes_of(blocks);
    input_copy_ = std::make_unique_for_overwrite<std::byte[]>(length_bytes);
    std::byte* next = input_copy_.get();
    int error = MPI_SUCCESS;
    for (const Elements& block : blocks) {
        if (block.bytes() > 0 && error == MPI_SUCCESS) {
            error = pack(block, next, comm_);
        }
        next += block.bytes();
    }
    input_.emplace(plain_bytes(input_copy_.get(), length_bytes), comm_, true);
    return error;
}

void Memory::write_beside(std::size_t length_bytes) {
    output_copy_ = std::make_unique_for_overwrite<std::byte[]>(length_bytes);
    output_.emplace(plain_bytes(output_copy_.get(), length_bytes), comm_, false);
}

int Memory::finish() {
    int error = output_ ? output_->finish() : MPI_SUCCESS;
    const std::byte* next = output_copy_.get();
    for (const Elements& block : blocks_to_write_) {
        if (block.bytes() > 0 && error == MPI_SUCCESS) {
            error = unpack(next, block, comm_);
        }
        next += block.bytes();
    }
    return error;
}

TypedMemory::TypedMemory(MPI_Datatype type, MPI_Count count) {
    MPI_Aint true_lower = 0, true_extent = 0;
    PMPI_Type_get_true_extent(type, &true_lower, &true_extent);
    const MPI_Aint steps = extent_of(type) * static_cast<MPI_Aint>(std::max<MPI_Count>(count, 1) - 1);
    // Elements are aligned here as they are in the program's memory.
    constexpr MPI_Aint alignment = alignof(std::max_align_t);
    const MPI_Aint lowest = true_lower + std::min<MPI_Aint>(0, steps);
    const MPI_Aint begin = lowest - (lowest % alignment + alignment) % alignment;
    const MPI_Aint end = true_lower + true_extent + std::max<MPI_Aint>(0, steps);
    memory_ = std::make_unique_for_overwrite<std::byte[]>(static_cast<std::size_t>(end - begin));
    first_ = memory_.get() - begin;
}

namespace {

/// cuPointerGetAttribute of CUDA's driver, hipPointerGetAttribute of ROCm's.
using GetAttribute = int (*)(void* answer, int attribute, std::uintptr_t pointer);
constexpr int memory_type = 2;  ///< the attribute's number, for both

struct Driver {
    const char* library;
    const char* function;
    unsigned least_type;  ///< of memory that may be the card's
};
constexpr std::array drivers = {
    Driver{"libcuda.so.1", "cuPointerGetAttribute", 2},
    Driver{"libamdhip64.so", "hipPointerGetAttribute", 1},  // from version 6 on also what the host has registered
};

/// The extensions by which Open MPI, MPICH and their kin tell.
bool mpi_takes_device_memory() {
    for (const char* const name : {"MPIX_Query_cuda_support", "MPIX_Query_rocm_support"}) {
        const auto query = next<int (*)()>(name);
        if (query != nullptr && query() != 0) return true;
    }
    const auto query = next<int (*)(int, int*)>("MPIX_GPU_query_support");
    bool takes = false;
    for (int kind = 0; query != nullptr && kind < 3; ++kind) {
        int supported = 0;
        takes = (query(kind, &supported) == 0 && supported != 0) || takes;
    }
    return takes;
}

/// How many libraries this process has ever loaded.
unsigned long long loaded_libraries() {
    unsigned long long count = 0;
    dl_iterate_phdr(
        [](dl_phdr_info* object, std::size_t, void* answer) {
            *static_cast<unsigned long long*>(answer) = object->dlpi_adds;
            return 1;
        },
        &count);
    return count;
}

GetAttribute find(const Driver& driver) {
    void* function = dlsym(RTLD_DEFAULT, driver.function);
    if (function == nullptr) {
        void* const library = dlopen(driver.library, RTLD_LAZY | RTLD_NOLOAD);
        function = library == nullptr ? nullptr : dlsym(library, driver.function);
    }
    return reinterpret_cast<GetAttribute>(function);
}

/// Null: not loaded. Looked for again when anything has been loaded since.
GetAttribute loaded(std::size_t which) {
    static std::array<std::atomic<GetAttribute>, drivers.size()> functions{};
    static std::array<std::atomic<unsigned long long>, drivers.size()> looked{};
    if (const GetAttribute function = functions[which].load(std::memory_order_relaxed)) {
        return function;
    }
    const unsigned long long now = loaded_libraries();
    if (looked[which].exchange(now, std::memory_order_relaxed) != now) {
        functions[which].store(find(drivers[which]), std::memory_order_relaxed);
    }
    return functions[which].load(std::memory_order_relaxed);
}

}  // namespace

bool is_on_device(const void* buffer) {
    static const bool possible = mpi_takes_device_memory();
    if (!possible || buffer == nullptr) {
        return false;
    }
    for (std::size_t which = 0; which < drivers.size(); ++which) {
        const GetAttribute get_attribute = loaded(which);
        unsigned type = 0;
        if (get_attribute != nullptr &&
            get_attribute(&type, memory_type, reinterpret_cast<std::uintptr_t>(buffer)) == 0 &&
            type >= drivers[which].least_type) {
            return true;
        }
    }
    return false;
}

// --- reductions with the program's own operators -----------------------------------------------------------

namespace {

/// The groups of named datatypes by which the standard says what an operator is for.
enum : unsigned {
    integer = 1,
    floating = 2,
    logical = 4,
    complex = 8,
    bytes = 16,
    pair = 32,
};

template <typename Handle>
using Groups = std::vector<std::pair<Handle, unsigned>>;

/// 0: none of them.
template <typename Handle>
unsigned groups_of(Handle handle, const Groups<Handle>& table) {
    const auto found = std::ranges::find(table, handle, &std::pair<Handle, unsigned>::first);
    return found == table.end() ? 0 : found->second;
}

// Handles may be variables of the MPI library, so the table is made at its first use. Those of Fortran
// are null where the library has no Fortran.
const Groups<MPI_Datatype>& type_groups() {
    static const auto& table = *new Groups<MPI_Datatype>([] {
        Groups<MPI_Datatype> all;
        const auto add = [&all](unsigned group, std::initializer_list<MPI_Datatype> types) {
            for (const MPI_Datatype type : types) {
                if (type != MPI_DATATYPE_NULL) all.emplace_back(type, group);
            }
        };
        add(integer, {MPI_INT, MPI_LONG, MPI_SHORT, MPI_UNSIGNED_SHORT, MPI_UNSIGNED,
                      MPI_UNSIGNED_LONG, MPI_LONG_LONG, MPI_UNSIGNED_LONG_LONG, MPI_SIGNED_CHAR,
                      MPI_UNSIGNED_CHAR, MPI_INT8_T, MPI_INT16_T, MPI_INT32_T, MPI_INT64_T,
                      MPI_UINT8_T, MPI_UINT16_T, MPI_UINT32_T, MPI_UINT64_T, MPI_AINT, MPI_OFFSET,
                      MPI_COUNT, MPI_INTEGER});
        add(floating, {MPI_FLOAT, MPI_DOUBLE, MPI_LONG_DOUBLE, MPI_REAL, MPI_DOUBLE_PRECISION});
        add(logical, {MPI_C_BOOL, MPI_LOGICAL});
        add(complex, {MPI_C_FLOAT_COMPLEX, MPI_C_DOUBLE_COMPLEX, MPI_C_LONG_DOUBLE_COMPLEX,
                      MPI_COMPLEX, MPI_DOUBLE_COMPLEX});
        add(bytes, {MPI_BYTE});
        add(pair, {MPI_FLOAT_INT, MPI_DOUBLE_INT, MPI_LONG_INT, MPI_2INT, MPI_SHORT_INT,
                   MPI_LONG_DOUBLE_INT});
        return all;
    }());
    return table;
}

const Groups<MPI_Op>& predefined_operators() {
    static const auto& table = *new Groups<MPI_Op>{
        {MPI_MAX, integer | floating},
        {MPI_MIN, integer | floating},
        {MPI_SUM, integer | floating | complex},
        {MPI_PROD, integer | floating | complex},
        {MPI_LAND, integer | logical},
        {MPI_LOR, integer | logical},
        {MPI_LXOR, integer | logical},
        {MPI_BAND, integer | bytes},
        {MPI_BOR, integer | bytes},
        {MPI_BXOR, integer | bytes},
        {MPI_MAXLOC, pair},
        {MPI_MINLOC, pair},
    };
    return table;
}

std::optional<OperatorKind> examine(MPI_Op op, MPI_Datatype type) {
    if (op == MPI_OP_NULL || op == MPI_REPLACE || op == MPI_NO_OP || type == MPI_DATATYPE_NULL) {
        return std::nullopt;
    }
    if (const unsigned takes = groups_of(op, predefined_operators()); takes != 0) {
        return (takes & groups_of(type, type_groups())) != 0 ? std::optional(OperatorKind{true, true}) : std::nullopt;
    }
    int commutes = 0;
    if (PMPI_Op_commutative(op, &commutes) != MPI_SUCCESS) {
        return std::nullopt;
    }
    return OperatorKind{false, commutes != 0};
}

}  // namespace

std::optional<OperatorKind> operator_kind(MPI_Op op, MPI_Datatype type) {
    struct Known {
        MPI_Op op;
        MPI_Datatype type;
        OperatorKind kind;
        bool valid;
    };
    // Predefined ones only: handles of others may be used again for something else.
    static thread_local Known last{};
    if (last.valid && last.op == op && last.type == type) {
        return last.kind;
    }
    const std::optional<OperatorKind> kind = examine(op, type);
    if (kind && kind->predefined) {
        last = {op, type, *kind, true};
    }
    return kind;
}

int reduce_packed(const Reduction& reduction, const std::byte* source, std::byte* target,
                  std::size_t length_bytes) {
    const int count = static_cast<int>(length_bytes / reduction.layout.packed_bytes);
    if (reduction.layout.in_place) {
        return PMPI_Reduce_local(source, target, count, reduction.type, reduction.op);
    }
    // Of a type that has holes, where an operator can work on them.
    TypedMemory from(reduction.type, count), to(reduction.type, count);
    const int length = static_cast<int>(length_bytes);
    const auto take = [&](const std::byte* packed, TypedMemory& elements) {
        int position = 0;
        return PMPI_Unpack(packed, length, &position, elements.first(), count, reduction.type, MPI_COMM_SELF);
    };
    int error = take(source, from);
    if (error == MPI_SUCCESS) error = take(target, to);
    if (error == MPI_SUCCESS) error = PMPI_Reduce_local(from.first(), to.first(), count, reduction.type, reduction.op);
    if (error != MPI_SUCCESS) {
        return error;
    }
    int position = 0;
    return PMPI_Pack(to.first(), count, reduction.type, target, length, &position, MPI_COMM_SELF);
}

}  // namespace mutirao::mpi
