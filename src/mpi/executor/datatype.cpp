#include "mpi/executor/datatype.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>

#include "mpi/base/native.h"

namespace mutirao::mpi {
namespace {

// What a derived type was made of.
struct Contents {
    int combiner = MPI_COMBINER_NAMED;
    MPI_Datatype only_type = MPI_DATATYPE_NULL;  ///< null unless it was made of exactly one

    ~Contents() {
        if (only_type != MPI_DATATYPE_NULL && combiner_of(only_type) != MPI_COMBINER_NAMED) {
            PMPI_Type_free(&only_type);
        }
    }
    Contents() = default;
    Contents(const Contents&) = delete;
    Contents& operator=(const Contents&) = delete;

    static int combiner_of(MPI_Datatype type);
    void read(MPI_Datatype type);
};

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

int Contents::combiner_of(MPI_Datatype type) { return Envelope(type).combiner; }

void Contents::read(MPI_Datatype type) {
    const Envelope envelope(type);
    combiner = envelope.combiner;
    if (combiner == MPI_COMBINER_NAMED || envelope.types != 1) {
        return;
    }
    std::vector<int> integers(static_cast<std::size_t>(envelope.integers) + 1);
    std::vector<MPI_Aint> addresses(static_cast<std::size_t>(envelope.addresses) + 1);
#if MPI_VERSION >= 4
    std::vector<MPI_Count> counts(static_cast<std::size_t>(envelope.counts) + 1);
    PMPI_Type_get_contents_c(type, envelope.integers, envelope.addresses, envelope.counts, 1,
                             integers.data(), addresses.data(), counts.data(), &only_type);
#else
    PMPI_Type_get_contents(type, envelope.integers, envelope.addresses, 1, integers.data(),
                           addresses.data(), &only_type);
#endif
}

// Only types whose bytes surely lie in order: a derived type may have no gaps and still permute
// its parts, which MPI_Type_get_extent does not show.
bool bytes_in_order(MPI_Datatype type) {
    Contents contents;
    contents.read(type);
    if (contents.combiner == MPI_COMBINER_NAMED) {
        return true;
    }
    const bool keeps_order = contents.combiner == MPI_COMBINER_CONTIGUOUS ||
                             contents.combiner == MPI_COMBINER_DUP;
    return keeps_order && contents.only_type != MPI_DATATYPE_NULL &&
           bytes_in_order(contents.only_type);
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
    MPI_Aint lower = 0;
    PMPI_Type_get_extent(type_, &lower, &extent_);
    packed_.resize(count_ * element_bytes_);
    avoid_null();
}

void PackedMessage::free_shifted() {
    if (shifted_ != MPI_DATATYPE_NULL) {
        PMPI_Type_free(&shifted_);
    }
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
std::size_t PackedMessage::chunk_of_elements() const {
    return std::max<std::size_t>(1, (std::size_t{1} << 28) / element_bytes_);
}

int PackedMessage::pack(std::size_t end_bytes) {
    const std::size_t wanted = (end_bytes + element_bytes_ - 1) / element_bytes_;
    while (ready_elements_ < wanted) {
        const std::size_t elements = std::min(wanted - ready_elements_, chunk_of_elements());
        int position = 0;
        const int error =
            PMPI_Pack(user_ + static_cast<MPI_Aint>(ready_elements_) * extent_,
                      static_cast<int>(elements), type_,
                      packed_.data() + ready_elements_ * element_bytes_,
                      static_cast<int>(elements * element_bytes_), &position, comm_);
        if (error != MPI_SUCCESS) {
            return error;
        }
        ready_elements_ += elements;
    }
    return MPI_SUCCESS;
}

int PackedMessage::unpack() {
    while (ready_elements_ < count_) {
        const std::size_t elements = std::min(count_ - ready_elements_, chunk_of_elements());
        int position = 0;
        const int error =
            PMPI_Unpack(packed_.data() + ready_elements_ * element_bytes_,
                        static_cast<int>(elements * element_bytes_), &position,
                        user_ + static_cast<MPI_Aint>(ready_elements_) * extent_,
                        static_cast<int>(elements), type_, comm_);
        if (error != MPI_SUCCESS) {
            return error;
        }
        ready_elements_ += elements;
    }
    return MPI_SUCCESS;
}

}  // namespace mutirao::mpi
