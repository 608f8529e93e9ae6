#include "mpi/communicator/learn.h"

#include <algorithm>
#include <numeric>

#include "mpi/adaptation/in_band.h"
#include "mpi/communicator/measure.h"
#include "mpi/runtime.h"

namespace mutirao::mpi {
namespace {

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
    universe->topology.network = Network(hosts, warm.latency_us);
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

}  // namespace

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

}  // namespace mutirao::mpi
