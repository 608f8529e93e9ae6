#include "mpi/communicator/setup.h"

#include <algorithm>
#include <numeric>

#include "mpi/adaptation/host_agent.h"
#include "mpi/adaptation/in_band.h"
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

bool all_alike(const std::vector<Introduction>& introductions,
               std::uint64_t Introduction::*field) {
    return std::all_of(introductions.begin(), introductions.end(), [&](const Introduction& each) {
        return each.*field == introductions.front().*field;
    });
}

std::vector<int> numbers_of(const Hosts& hosts, const std::vector<Introduction>& introductions,
                            std::int64_t Introduction::*number) {
    std::vector<int> numbers;
    for (const int leader : hosts.leader_of_host) {
        numbers.push_back(
            static_cast<int>(introductions[static_cast<std::size_t>(leader)].*number));
    }
    return numbers;
}

void become_known(const std::shared_ptr<const Universe>& universe) {
    const std::lock_guard lock(runtime().mutex);
    const auto& known = runtime().universe;
    if (!known ||
        known->topology.network.host_count() < universe->topology.network.host_count()) {
        runtime().universe = universe;
    }
}

// Every host's number must be another: one daemon cannot stand for two hosts.
bool all_different(std::vector<int> numbers) {
    std::sort(numbers.begin(), numbers.end());
    return std::adjacent_find(numbers.begin(), numbers.end()) == numbers.end();
}

double least_socket_buffer(const std::vector<Introduction>& introductions) {
    double least_bytes = introductions.front().socket_buffer_bytes;
    for (const Introduction& each : introductions) {
        least_bytes = std::min(least_bytes, each.socket_buffer_bytes);
    }
    return least_bytes;
}

std::shared_ptr<const Universe> universe_of(const WarmAgent& warm,
                                            const std::vector<Introduction>& introductions) {
    auto universe = std::make_shared<Universe>();
    universe->id = warm.id;
    universe->my_host = warm.host;
    const int hosts = static_cast<int>(warm.tree.size()) + 1;
    universe->topology.network = Network(hosts);
    for (int from = 0; from < hosts; ++from) {
        for (int to = 0; to < hosts; ++to) {
            Link link;
            link.latency_us = warm.latency_us[static_cast<std::size_t>(from * hosts + to)];
            universe->topology.network.set_link(from, to, link);
        }
    }
    universe->topology.spanning_tree = warm.tree;
    complete_network(universe->topology, runtime().settings, least_socket_buffer(introductions));
    universe->source = std::make_shared<HostAgent>(warm.segment);
    return universe;
}

// The network is watched for a whole job: only from a communicator of all its processes on.
bool spans_the_job(const Record& record) {
    int processes = 0;
    PMPI_Comm_size(MPI_COMM_WORLD, &processes);
    return record.ranks == processes;
}

// A thread of this process where it leads its host. On all ranks, or on none.
std::shared_ptr<NetworkSource> start_agent(Measured& measured, const Hosts& hosts) {
    const bool everywhere =
        std::all_of(measured.rows.begin(), measured.rows.end(),
                    [](const HostRow& row) { return row.head.has_agent != 0; });
    if (!everywhere) {
        return nullptr;
    }
    if (!hosts.leading()) {
        return std::make_shared<HostAgent>(agent::segment_name(measured.id, hosts.my_host()));
    }
    return std::make_shared<HostAgent>(std::move(*measured.endpoint),
                                       make_job(measured.rows, measured.topology,
                                                runtime().settings, measured.id, hosts.my_host()));
}

// Who watches the network from here on. On all ranks, or on none.
std::shared_ptr<NetworkSource> start_source(State& state, Measured& measured) {
    const Settings& settings = runtime().settings;
    if (measured.rows.empty() || !spans_the_job(*state.record)) {
        return nullptr;
    }
    if (wants_agents(settings)) {
        return start_agent(measured, state.hosts);
    }
    if (!wants_in_band(settings)) {
        return nullptr;
    }
    state.keep_comm = true;  // its letters outlive it
    return std::make_shared<InBandSource>(state.comm, state.hosts, measured.topology, settings);
}

std::shared_ptr<const Universe> measured_universe(State& state,
                                                  const std::vector<Introduction>& introductions) {
    Record& record = *state.record;
    Measured measured = measure(state.comm, state.hosts, runtime().settings,
                                spans_the_job(record) && wants_agents(runtime().settings));
    record.cost = measured.cost;
    state.keep_comm = measured.letters_left;
    auto universe = std::make_shared<Universe>();
    universe->id = measured.id;
    universe->my_host = state.hosts.my_host();
    universe->source = start_source(state, measured);
    universe->topology = std::move(measured.topology);
    complete_network(universe->topology, runtime().settings, least_socket_buffer(introductions));
    if (universe->id != 0) {
        become_known(universe);
    }
    return universe;
}

// Where a communicator's network comes from, and its hosts' numbers there.
struct Learned {
    std::shared_ptr<const Universe> universe;
    std::vector<int> numbers;
};

Learned learn(State& state, const std::vector<Introduction>& introductions,
              const std::optional<WarmAgent>& warm) {
    Learned learned;
    if (introductions.front().universe_id != 0 &&
        all_alike(introductions, &Introduction::universe_id)) {
        learned.numbers = numbers_of(state.hosts, introductions, &Introduction::universe_host);
        const std::lock_guard lock(runtime().mutex);
        learned.universe = runtime().universe;
        state.record->reason = "network known from an earlier communicator";
        return learned;
    }
    learned.numbers = numbers_of(state.hosts, introductions, &Introduction::warm_host);
    if (introductions.front().warm_id != 0 && all_alike(introductions, &Introduction::warm_id) &&
        all_different(learned.numbers)) {
        learned.universe = universe_of(*warm, introductions);
        become_known(learned.universe);
        state.record->reason = "network known to the hosts' agents";
        return learned;
    }
    learned.numbers.resize(static_cast<std::size_t>(state.hosts.count()));
    std::iota(learned.numbers.begin(), learned.numbers.end(), 0);
    learned.universe = measured_universe(state, introductions);
    state.record->reason = "network measured";
    return learned;
}

// From now on the communicator follows its network, if the settings say so and anybody measures it.
void follow(State& state, const Learned& learned) {
    const Adaptation& adaptation = runtime().settings.adaptation;
    AdaptationRecord& record = state.record->adaptation;
    if (adaptation.mode == Adaptation::Mode::synchronous) {
        record.mode = "every:" + std::to_string(adaptation.every);
        state.synchronous = std::make_unique<SynchronousAdaptation>(state.comm, state.hosts,
                                                           *state.record, runtime().settings);
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
