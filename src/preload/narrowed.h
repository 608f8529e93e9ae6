// Large counts on MPI libraries older than MPI 4, which take int only. Programs look whether the functions with _c
// are there, find ours, and rely on them (mpi4py does), as they would on their own narrowing.
#pragma once

#include <climits>
#include <cstdint>
#include <new>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace mutirao::preload {

// Handles as whole machine words, whatever the binary interface. Of different types so that arguments can be told apart.
enum class Comm : std::uintptr_t {};
enum class Type : std::uintptr_t {};
enum class Op : std::uintptr_t {};

/// Finds a function of the MPI library by its name.
using Find = void* (*)(const char* name);

/// The group that the arrays of a call are of.
struct Blocks {
    int count = 0;
    bool here = true;  ///< arrays mean something on this rank
};

/// Takes the arguments of a call in their order. An array belongs to the buffer before it.
class Narrowed {
  public:
    explicit Narrowed(Blocks blocks) : blocks_(blocks) {}

    /// So far.
    bool fits() const { return fits_; }

    int operator()(long long count) { return narrow(count); }
    const int* operator()(const long long* counts) { return narrow_all(counts); }
    const int* operator()(const std::intptr_t* places) { return narrow_all(places); }
    const void* operator()(const void* send) {
        const auto word = reinterpret_cast<std::intptr_t>(send);
        in_place_ = word == 1 || word == -1;  // MPI_IN_PLACE of Open MPI and of MPICH
        return send;
    }
    void* operator()(void* receive) {
        in_place_ = false;
        return receive;
    }
    template <typename Other>
    Other operator()(Other other) {
        return other;
    }

  private:
    template <typename Large>
    int narrow(Large value) {
        fits_ = fits_ && value >= INT_MIN && value <= INT_MAX;
        return static_cast<int>(value);
    }

    template <typename Large>
    const int* narrow_all(const Large* values) {
        if (values == nullptr || !blocks_.here || in_place_) {
            return nullptr;
        }
        std::vector<int> narrowed(static_cast<std::size_t>(blocks_.count));
        for (std::size_t i = 0; i < narrowed.size(); ++i) {
            narrowed[i] = narrow(values[i]);
        }
        return arrays_.emplace_back(std::move(narrowed)).data();
    }

    Blocks blocks_;
    bool fits_ = true;
    bool in_place_ = false;
    std::vector<std::vector<int>> arrays_;
};

template <typename Function>
Function* found(Find find, const char* name) {
    return reinterpret_cast<Function*>(find(name));
}

/// `root` is null where all ranks have arrays. Those of reductions are of the own group.
inline Blocks blocks_of(Find find, Comm comm, const int* root, bool reduction) {
    using Ask = int(Comm, int*);
    const auto ask = [&](const char* name) {
        int answer = 0;
        found<Ask>(find, name)(comm, &answer);
        return answer;
    };
    const bool inter = ask("PMPI_Comm_test_inter") != 0;
    Blocks blocks{.count = ask(inter && !reduction ? "PMPI_Comm_remote_size" : "PMPI_Comm_size")};
    if (root != nullptr) {
        const bool is_mpi_root = *root == -3 || *root == -4;  // of MPICH and of Open MPI
        blocks.here = inter ? is_mpi_root : *root == ask("PMPI_Comm_rank");
    }
    return blocks;
}

/// A call of `function`, which takes the same arguments, with int for each count and place. MPI_ERR_COUNT where one is
/// too large.
template <typename Function>
struct NarrowedCall {
    Find find;
    Function* function;

    template <typename... Arguments>
    int operator()(Arguments... arguments) const noexcept {
        const std::tuple all(arguments...);
        const Comm comm = std::get<Comm>(all);
        try {
            Blocks blocks;
            if constexpr ((std::is_same_v<Arguments, const long long*> || ...)) {
                const int* root = nullptr;
                if constexpr ((std::is_same_v<Arguments, int> || ...)) {
                    root = &std::get<int>(all);
                }
                blocks = blocks_of(find, comm, root, (std::is_same_v<Arguments, Op> || ...));
            }
            Narrowed narrow(blocks);
            const std::tuple narrowed{narrow(arguments)...};  // braces: in their order
            if (narrow.fits()) {
                return std::apply(function, narrowed);
            }
        } catch (const std::bad_alloc&) {
        }
        constexpr int err_count = 2;  // MPI_ERR_COUNT of Open MPI and of MPICH
        const int raised = found<int(Comm, int)>(find, "PMPI_Comm_call_errhandler")(comm, err_count);
        return raised != 0 ? raised : err_count;
    }
};

}  // namespace mutirao::preload
