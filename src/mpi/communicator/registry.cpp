#include "mpi/communicator/registry.h"

#include <memory>
#include <mutex>
#include <unordered_map>


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

int delete_communicator(MPI_Comm, int, void* attribute, void*) {
    auto* const communicator = static_cast<Communicator*>(attribute);
    ++RecentCommunicator::current;
    std::unique_ptr<Communicator> freed;
    const std::lock_guard lock(living().mutex);
    const auto found = living().all.find(communicator);
    if (found != living().all.end()) {
        freed = std::move(found->second);
        living().all.erase(found);
    }
    return MPI_SUCCESS;
}

int communicator_key() {
    static const int key = [] {
        int made = MPI_KEYVAL_INVALID;
        PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete_communicator, &made, nullptr);
        return made;
    }();
    return key;
}

Communicator* find_attribute(MPI_Comm comm) {
    void* attribute = nullptr;
    int found = 0;
    PMPI_Comm_get_attr(comm, communicator_key(), &attribute, &found);
    return found != 0 ? static_cast<Communicator*>(attribute) : nullptr;
}

Communicator& look_up(MPI_Comm comm, Job& job) {
    if (Communicator* const known = find_attribute(comm)) {
        return *known;
    }
    auto made = std::make_unique<Communicator>(comm, job);
    Communicator& communicator = *made;
    {
        const std::lock_guard lock(living().mutex);
        living().all.emplace(&communicator, std::move(made));
    }
    PMPI_Comm_set_attr(comm, communicator_key(), &communicator);
    return communicator;
}

}  // namespace

constinit thread_local RecentCommunicator RecentCommunicator::places[place_count] = {};

Communicator& communicator_of(MPI_Comm comm, Job& job) {
    RecentCommunicator* recent = RecentCommunicator::find(comm);
    if (recent == nullptr) {
        const std::uint64_t now = RecentCommunicator::current.load(std::memory_order_relaxed);
        recent = &RecentCommunicator::add({comm, &look_up(comm, job), now, false});
    }
    recent->native = recent->communicator->is_native();
    return *recent->communicator;
}

void free_communicator(MPI_Comm comm) {
    if (Communicator* const known = find_attribute(comm)) {
        known->give_up();
    }
}

void end_communicators() {
    ++RecentCommunicator::current;
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
