#include "mpi/communicator/setup.h"

#include <algorithm>
#include <chrono>

#include "mpi/communicator/measure.h"
#include "mpi/runtime.h"

namespace mutirao::mpi {
namespace {

constexpr std::size_t most_records = 64;

std::shared_ptr<Record> new_record(MPI_Comm comm) {
    auto record = std::make_shared<Record>();
    char name[MPI_MAX_OBJECT_NAME] = {};
    int length = 0;
    PMPI_Comm_get_name(comm, name, &length);
    record->name = name;
    PMPI_Comm_size(comm, &record->ranks);
    return record;
}

void remember(const std::shared_ptr<Record>& record) {
    const std::lock_guard lock(runtime().mutex);
    runtime().records.push_back(record);
    if (runtime().records.size() > most_records) {
        runtime().records.pop_front();
    }
}

// MPI_Comm_create copies neither attributes nor topology, so no callback of the program runs.
int duplicate(MPI_Comm comm, MPI_Comm& copy) {
    MPI_Group group = MPI_GROUP_NULL;
    PMPI_Comm_group(comm, &group);
    const int error = PMPI_Comm_create(comm, group, &copy);
    PMPI_Group_free(&group);
    return error;
}

Introduction introduce() {
    Introduction mine;
    mine.settings_hash = runtime().settings_hash;
    const std::lock_guard lock(runtime().mutex);
    if (runtime().universe) {
        mine.universe_id = runtime().universe->id;
        mine.universe_host = runtime().universe->my_host;
    }
    return mine;
}

bool all_alike(const std::vector<Introduction>& introductions,
               std::uint64_t Introduction::*field) {
    return std::all_of(introductions.begin(), introductions.end(), [&](const Introduction& each) {
        return each.*field == introductions.front().*field;
    });
}

Topology known_part(const Hosts& hosts, const std::vector<Introduction>& introductions) {
    std::vector<int> numbers;
    for (const int leader : hosts.leader_of_host) {
        numbers.push_back(static_cast<int>(
            introductions[static_cast<std::size_t>(leader)].universe_host));
    }
    const std::lock_guard lock(runtime().mutex);
    return restrict(runtime().universe->topology, numbers);
}

void become_known(const Measured& measured, int my_host) {
    const std::lock_guard lock(runtime().mutex);
    const auto& known = runtime().universe;
    if (!known ||
        known->topology.network.host_count() < measured.topology.network.host_count()) {
        runtime().universe =
            std::make_shared<const Universe>(Universe{measured.id, my_host, measured.topology});
    }
}

// Fills in the network; one line why not, or nothing.
std::string learn_network(State& state, const std::vector<Introduction>& introductions) {
    Record& record = *state.record;
    if (introductions.front().universe_id != 0 &&
        all_alike(introductions, &Introduction::universe_id)) {
        record.topology = known_part(state.hosts, introductions);
        record.reason = "network known from an earlier communicator";
    } else {
        Measured measured = measure(state.comm, state.hosts, runtime().settings);
        record.cost = measured.cost;
        state.keep_comm = measured.letters_left;
        if (measured.id != 0) {
            become_known(measured, state.hosts.my_host());
        }
        record.topology = std::move(measured.topology);
        record.reason = "network measured";
    }
    return record.topology.complete() && record.topology.network.host_count() > 0
               ? ""
               : "some hosts cannot be reached: no spanning tree";
}

// One line why the MPI library's own must take all calls; empty if mutirao can.
std::string prepare(MPI_Comm comm, State& state) {
    int between_groups = 0;
    PMPI_Comm_test_inter(comm, &between_groups);
    if (between_groups != 0) {
        return "intercommunicator";
    }
    if (state.record->ranks == 1) {
        return "one rank";
    }
    if (!runtime().settings.enabled) {
        return "switched off";
    }
    std::vector<Introduction> introductions;
    if (introduce_ranks(comm, runtime().settings.ranks_per_host, introduce(), state.hosts,
                        introductions) != MPI_SUCCESS) {
        return "the ranks' hosts could not be found out";
    }
    state.record->hosts = state.hosts.count();
    if (state.hosts.count() == 1) {
        return "one host";
    }
    if (!all_alike(introductions, &Introduction::settings_hash)) {
        return "the ranks run with different settings";
    }
    if (duplicate(comm, state.comm) != MPI_SUCCESS ||
        make_host_communicator(state.comm, state.hosts) != MPI_SUCCESS) {
        return "no private communicator could be made";
    }
    PMPI_Comm_set_errhandler(state.comm, MPI_ERRORS_RETURN);
    return learn_network(state, introductions);
}

}  // namespace

std::unique_ptr<State> set_up(MPI_Comm comm) {
    const auto begin = std::chrono::steady_clock::now();
    auto state = std::make_unique<State>();
    state->record = new_record(comm);
    remember(state->record);
    const std::string obstacle = prepare(comm, *state);
    if (!obstacle.empty()) {
        state->release();
        state->record->reason = obstacle;
    }
    state->native = !obstacle.empty();
    state->record->native = state->native;
    const std::chrono::duration<double, std::milli> took =
        std::chrono::steady_clock::now() - begin;
    SetupCost& cost = state->record->cost;
    cost.hosts_ms = took.count() - cost.probe_ms - cost.ghs_ms - cost.gather_ms;
    return state;
}

}  // namespace mutirao::mpi
