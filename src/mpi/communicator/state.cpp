#include "mpi/communicator/state.h"

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

int delete_state(MPI_Comm, int, void* attribute, void*) {
    auto* const state = static_cast<State*>(attribute);
    {
        const std::lock_guard lock(living().mutex);
        living().states.remove(state);
    }
    delete state;
    return MPI_SUCCESS;
}

}  // namespace

State::~State() { release(); }

void State::release() {
    native = true;
    for (MPI_Comm* own : {&hosts.host_comm, &comm}) {
        if (*own != MPI_COMM_NULL) {
            PMPI_Comm_free(own);
        }
    }
}

int make_communicator_key() {
    int key = MPI_KEYVAL_INVALID;
    PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete_state, &key, nullptr);
    return key;
}

State& state_of(MPI_Comm comm) {
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

void free_states() {
    const std::lock_guard lock(living().mutex);
    for (State* const state : living().states) {
        state->release();  // the attribute may still be looked up, so the state itself stays
    }
}

}  // namespace mutirao::mpi
