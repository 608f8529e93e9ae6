
#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <span>
#include <vector>

#include "mpi/executor/memory.h"

namespace mutirao::mpi {
namespace {

/// The groups of named datatypes by which the standard says what an operator is for.
enum Group : unsigned {
    integer = 1,
    floating = 2,
    logical = 4,
    complex = 8,
    bytes = 16,
    pair = 32,
};

struct TypeGroup {
    MPI_Datatype type;
    unsigned group;
};

// Handles may be variables of the MPI library, so the table is made at its first use. Those of Fortran
// are null where the library has no Fortran.
const std::vector<TypeGroup>& type_groups() {
    static const std::vector<TypeGroup> table = [] {
        std::vector<TypeGroup> all;
        const auto add = [&all](unsigned group, std::initializer_list<MPI_Datatype> types) {
            for (const MPI_Datatype type : types) {
                if (type != MPI_DATATYPE_NULL) all.push_back({type, group});
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
    }();
    return table;
}

struct OperatorGroups {
    MPI_Op op;
    unsigned groups;
};

const std::vector<OperatorGroups>& predefined_operators() {
    static const std::vector<OperatorGroups> table = {
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

unsigned group_of(MPI_Datatype type) {
    const auto& table = type_groups();
    const auto found = std::find_if(table.begin(), table.end(),
                                    [&](const TypeGroup& each) { return each.type == type; });
    return found == table.end() ? 0 : found->group;
}

std::optional<OperatorKind> examine(MPI_Op op, MPI_Datatype type) {
    if (op == MPI_OP_NULL || op == MPI_REPLACE || op == MPI_NO_OP || type == MPI_DATATYPE_NULL) {
        return std::nullopt;
    }
    const auto& table = predefined_operators();
    const auto found = std::find_if(table.begin(), table.end(),
                                    [&](const OperatorGroups& each) { return each.op == op; });
    if (found != table.end()) {
        if ((group_of(type) & found->groups) == 0) {
            return std::nullopt;
        }
        return OperatorKind{true, true};
    }
    int commutes = 0;
    if (PMPI_Op_commutative(op, &commutes) != MPI_SUCCESS) {
        return std::nullopt;
    }
    return OperatorKind{false, commutes != 0};
}

/// Elements of a type that has holes, where an operator can work on them.
class Unpacked {
  public:
    Unpacked(MPI_Datatype type, int count) : memory_(type, count), type_(type), count_(count) {}

    void* data() { return memory_.first(); }
    int take(const std::byte* packed, int length_bytes) {
        int position = 0;
        return PMPI_Unpack(packed, length_bytes, &position, data(), count_, type_, MPI_COMM_SELF);
    }
    int give(std::byte* packed, int length_bytes) {
        int position = 0;
        return PMPI_Pack(data(), count_, type_, packed, length_bytes, &position, MPI_COMM_SELF);
    }

  private:
    TypedMemory memory_;
    MPI_Datatype type_;
    int count_;
};

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
    const int length = static_cast<int>(length_bytes);
    Unpacked from(reduction.type, count), to(reduction.type, count);
    int error = from.take(source, length);
    if (error == MPI_SUCCESS) error = to.take(target, length);
    if (error == MPI_SUCCESS) {
        error = PMPI_Reduce_local(from.data(), to.data(), count, reduction.type, reduction.op);
    }
    return error != MPI_SUCCESS ? error : to.give(target, length);
}

}  // namespace mutirao::mpi
