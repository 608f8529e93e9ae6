#include "mpi/communicator/state.h"

#include <atomic>
#include <list>
#include <mutex>

#include "mpi/communicator/setup.h"
#include "mpi/runtime.h"

namespace mutirao::mpi {
namespace {

// Communicators that are never freed by the program, such as MPI_COMM_WORLD, still hold a state
// when MPI_Finalize begins.
struct Living {
    std::mutex mutex;
    std::list<State*> states;
};

Living& living() {
    static auto* const only = new Living;
    return *only;
}

// The communicator of this thread's last call, to spare repeated calls the attribute look-up. A
// handle may be used again for another communicator, so every freed state ends all of these.
struct LastLookUp {
    MPI_Comm comm;
    State* state;  ///< null: none yet
    std::uint64_t generation;
};
thread_local LastLookUp last __attribute__((tls_model("initial-exec"))) = {};
std::atomic<std::uint64_t> generation{0};

int delete_state(MPI_Comm, int, void* attribute, void*) {
    auto* const state = static_cast<State*>(attribute);
    ++generation;
    {
        const std::lock_guard lock(living().mutex);
        living().states.remove(state);
    }
    delete state;
    return MPI_SUCCESS;
}

State& look_up(MPI_Comm comm) {
    const int key = runtime().communicator_key;
    void* attribute = nullptr;
    int found = 0;
    PMPI_Comm_get_attr(comm, key, &attribute, &found);
    if (found != 0) {
        return *static_cast<State*>(attribute);
    }
    State* const made = set_up(comm).release();
    {
        const std::lock_guard lock(living().mutex);
        living().states.push_back(made);
    }
    PMPI_Comm_set_attr(comm, key, made);
    return *made;
}

}  // namespace

State::~State() { release(); }

void State::release() {
    native = true;
    departures.wait();
    if (follower && !follower->finish()) {
        keep_comm = true;
    }
    follower.reset();
    background = nullptr;
    source.reset();
    synchronous.reset();
    if (keep_comm) {
        comm = MPI_COMM_NULL;
    }
    for (MPI_Comm* own : {&hosts.host_comm, &comm}) {
        if (*own != MPI_COMM_NULL) {
            PMPI_Comm_free(own);
        }
    }
}

void State::question_decisions() {
    for (const auto& [key, index] : decision_of) {
        decision_before[key] = index;
    }
    decision_of.clear();
}

void State::forget_all() {
    decision_of.clear();
    decision_before.clear();
    plans.clear();
}

int make_communicator_key() {
    int key = MPI_KEYVAL_INVALID;
    PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete_state, &key, nullptr);
    return key;
}

State& state_of(MPI_Comm comm) {
    const std::uint64_t now = generation.load(std::memory_order_relaxed);
    if (last.state == nullptr || last.comm != comm || last.generation != now) {
        last = {comm, &look_up(comm), now};
    }
    return *last.state;
}

void free_states() {
    const std::lock_guard lock(living().mutex);
    for (State* const state : living().states) {
        state->release();  // the attribute may still be looked up, so the state itself stays
    }
}

}  // namespace mutirao::mpi
