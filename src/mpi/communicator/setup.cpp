#include "mpi/communicator/setup.h"

#include "mpi/adaptation/host_agent.h"
#include "mpi/adaptation/in_band.h"
#include "mpi/communicator/learn.h"
#include "mpi/communicator/measure.h"
#include "mpi/runtime.h"
#include "mpi/stopwatch.h"

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

Introduction introduce(const std::optional<WarmAgent>& warm) {
    Introduction mine;
    mine.settings_hash = runtime().settings_hash;
    mine.socket_buffer_bytes = socket_buffer_bytes();
    if (warm) {
        mine.warm_id = warm->id;
        mine.warm_host = warm->host;
    }
    const std::lock_guard lock(runtime().mutex);
    if (runtime().universe) {
        mine.universe_id = runtime().universe->id;
        mine.universe_host = runtime().universe->my_host;
    }
    return mine;
}

// From now on the communicator follows its network, if the settings say so and anybody measures it.
void follow(State& state, const Learned& learned) {
    const Adaptation& adaptation = runtime().settings.adaptation;
    AdaptationRecord& record = state.record->adaptation;
    if (adaptation.mode == Adaptation::Mode::synchronous) {
        record.mode = "every:" + std::to_string(adaptation.every);
        state.synchronous = std::make_unique<SynchronousAdaptation>(
            state.comm, state.hosts, *state.record, runtime().settings);
    } else if (learned.universe->source) {
        record.mode = wants_in_band(runtime().settings) ? "in-band" : "auto";
        state.source = learned.universe->source;
        state.background = state.source->background();
        std::optional<Outlook> outlook;
        if (state.hosts.my_rank == 0) {
            outlook.emplace(state.source, learned.numbers);
        }
        state.follower = std::make_unique<NetworkFollower>(state.comm, state.hosts, *state.record,
                                                           std::move(outlook));
    }
}

// Fills in the network; one line why not, or nothing.
std::string learn_network(State& state, const std::vector<Introduction>& introductions,
                          const std::optional<WarmAgent>& warm) {
    const Learned learned = learn(state, introductions, warm);
    if (learned.universe->topology.spanning_tree.empty()) {
        return "some hosts cannot be reached: no spanning tree";
    }
    state.record->topology = restrict(learned.universe->topology, learned.numbers);
    if (!state.record->topology.complete()) {
        return "some hosts cannot reach each other: no spanning tree";
    }
    follow(state, learned);
    return "";
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
    const Stopwatch watch;
    const std::optional<WarmAgent> warm = find_warm_agent(runtime().settings);
    state.record->cost.attach_ms = watch.elapsed_ms();
    std::vector<Introduction> introductions;
    if (introduce_ranks(comm, runtime().settings.ranks_per_host, introduce(warm), state.hosts,
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
    return learn_network(state, introductions, warm);
}

}  // namespace

std::unique_ptr<State> set_up(MPI_Comm comm) {
    const Stopwatch watch;
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
    SetupCost& cost = state->record->cost;
    cost.hosts_ms += watch.elapsed_ms() - cost.total_ms();
    return state;
}

}  // namespace mutirao::mpi
