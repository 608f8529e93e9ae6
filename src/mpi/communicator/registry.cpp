#include "mpi/communicator/registry.h"

#include <atomic>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "mpi/interpose/native.h"
#include "mpi/runtime.h"

namespace mutirao::mpi {
namespace {

// Communicators that are never freed by the program, such as MPI_COMM_WORLD, still live when
// MPI_Finalize begins.
struct Living {
    std::mutex mutex;
    std::unordered_map<Communicator*, std::unique_ptr<Communicator>> all;
};

Living& living() {
    static auto* const only = new Living;
    return *only;
}

// A handle may be used again for another communicator, so every freed one ends all of these.
struct Recent {
    MPI_Comm comm;
    Communicator* communicator;  ///< null: none yet
    std::uint64_t generation;
};
constexpr std::size_t most_recent = 4;
thread_local Recent recent[most_recent] __attribute__((tls_model("initial-exec"))) = {};
std::atomic<std::uint64_t> generation{0};

Recent& place_of(MPI_Comm comm) {
    const auto word = static_cast<std::uint64_t>(as_word(comm));
    return recent[(word ^ (word >> 4) ^ (word >> 9)) % most_recent];
}

int delete_communicator(MPI_Comm, int, void* attribute, void*) {
    auto* const communicator = static_cast<Communicator*>(attribute);
    ++generation;
    std::unique_ptr<Communicator> freed;
    const std::lock_guard lock(living().mutex);
    const auto found = living().all.find(communicator);
    if (found != living().all.end()) {
        freed = std::move(found->second);
        living().all.erase(found);
    }
    return MPI_SUCCESS;
}

Communicator& look_up(MPI_Comm comm, Job& job) {
    const int key = runtime().communicator_key;
    void* attribute = nullptr;
    int found = 0;
    PMPI_Comm_get_attr(comm, key, &attribute, &found);
    if (found != 0) {
        return *static_cast<Communicator*>(attribute);
    }
    auto made = std::make_unique<Communicator>(comm, job);
    Communicator& communicator = *made;
    {
        const std::lock_guard lock(living().mutex);
        living().all.emplace(&communicator, std::move(made));
    }
    PMPI_Comm_set_attr(comm, key, &communicator);
    return communicator;
}

}  // namespace

int make_communicator_key() {
    int key = MPI_KEYVAL_INVALID;
    PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete_communicator, &key, nullptr);
    return key;
}

Communicator& communicator_of(MPI_Comm comm, Job& job) {
    Recent& place = place_of(comm);
    const std::uint64_t now = generation.load(std::memory_order_relaxed);
    if (place.communicator == nullptr || place.comm != comm || place.generation != now) {
        place = {comm, &look_up(comm, job), now};
    }
    return *place.communicator;
}

void end_communicators() {
    ++generation;
    std::unordered_map<Communicator*, std::unique_ptr<Communicator>> ending;
    {
        // Without the lock from here on: MPICH calls delete_communicator() when the last request on a
        // freed communicator completes, which may be one that its end looks at.
        const std::lock_guard lock(living().mutex);
        ending.swap(living().all);
    }
    ending.clear();
    Communicator::stop_draining();
}

}  // namespace mutirao::mpi
