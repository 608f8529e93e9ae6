#include "mpi/executor/datatype.h"

#include <algorithm>
#include <bit>
#include <cstdint>

#include "mpi/runtime.h"

namespace mutirao::mpi {
namespace {

// Only types whose bytes surely lie in order: a derived type may have no gaps and still permute
// its parts, which MPI_Type_get_extent does not show.
bool bytes_in_order(MPI_Datatype type) {
    int integers = 0;
    int addresses = 0;
    int types = 0;
    int combiner = 0;
    PMPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner);
    if (combiner == MPI_COMBINER_NAMED) {
        return true;
    }
    if ((combiner != MPI_COMBINER_CONTIGUOUS && combiner != MPI_COMBINER_DUP) || types != 1) {
        return false;
    }
    std::vector<int> integer_values(static_cast<std::size_t>(std::max(integers, 1)));
    std::vector<MPI_Aint> address_values(static_cast<std::size_t>(std::max(addresses, 1)));
    MPI_Datatype inner = MPI_DATATYPE_NULL;
    PMPI_Type_get_contents(type, integers, addresses, 1, integer_values.data(),
                           address_values.data(), &inner);
    const bool in_order = bytes_in_order(inner);
    PMPI_Type_get_envelope(inner, &integers, &addresses, &types, &combiner);
    if (combiner != MPI_COMBINER_NAMED) {
        PMPI_Type_free(&inner);
    }
    return in_order;
}

TypeShape examine(MPI_Datatype type) {
    MPI_Count size = 0;
    MPI_Aint lower = 0;
    MPI_Aint extent = 0;
    PMPI_Type_size_x(type, &size);
    PMPI_Type_get_extent(type, &lower, &extent);
    return {static_cast<std::size_t>(size),
            lower == 0 && extent == static_cast<MPI_Aint>(size) && bytes_in_order(type)};
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

}  // namespace

int make_datatype_key() {
    int key = MPI_KEYVAL_INVALID;
    PMPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN, &key, nullptr);
    return key;
}

TypeShape shape_of(MPI_Datatype type) {
    void* attribute = nullptr;
    int found = 0;
    PMPI_Type_get_attr(type, runtime().datatype_key, &attribute, &found);
    if (found != 0) {
        return unpacked_shape(attribute);
    }
    const TypeShape shape = examine(type);
    PMPI_Type_set_attr(type, runtime().datatype_key, packed_shape(shape));
    return shape;
}

PackedMessage::PackedMessage(void* buffer, MPI_Count count, MPI_Datatype type, MPI_Comm comm,
                             bool full)
    : user_(static_cast<std::byte*>(buffer)),
      count_(static_cast<std::size_t>(count)),
      type_(type),
      comm_(comm),
      full_(full) {
    const TypeShape shape = shape_of(type);
    in_place_ = shape.in_place;
    element_bytes_ = shape.packed_bytes;
    if (!in_place_) {
        MPI_Aint lower = 0;
        PMPI_Type_get_extent(type, &lower, &extent_);
        packed_.resize(count_ * element_bytes_);
        avoid_null();
    }
}

PackedMessage::~PackedMessage() {
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

int PackedMessage::prepare(std::size_t end_bytes) {
    if (in_place_ || !full_) {
        return MPI_SUCCESS;
    }
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

int PackedMessage::finish() {
    if (in_place_ || full_) {
        return MPI_SUCCESS;
    }
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
