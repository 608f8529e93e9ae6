#include "mpi/broadcast.h"

#include <bit>

#include "core/text/invariant.h"
#include "mpi/communicator/state.h"
#include "mpi/interpose/native.h"
#include "mpi/runtime.h"
#include "mpi/tags.h"

namespace mutirao::mpi {
namespace {

// Lengths in MPI calls are int, and a rank-invariant limit keeps all ranks on the same side of it.
constexpr std::size_t longest_bytes = std::size_t{1} << 30;
constexpr std::size_t most_plans = 128;
constexpr std::size_t most_decisions = 256;

// A call that only the MPI library can answer, with data or with an error. What is asked here is
// equal on all ranks of a correct program.
bool for_native(const BroadcastCall& call) {
    return call.comm == MPI_COMM_NULL || call.type == MPI_DATATYPE_NULL || call.count <= 0;
}

// One decision serves all lengths from a power of two to the next.
int length_class(std::size_t length_bytes) { return std::bit_width(length_bytes) - 1; }

// Decisions of networks that are no more are kept for the report, and the oldest of them given up.
void make_room(State& state) {
    std::vector<DecisionRecord>& decisions = state.record->decisions;
    if (decisions.size() >= most_decisions) {
        decisions.erase(decisions.begin(),
                        decisions.begin() + static_cast<std::ptrdiff_t>(most_decisions / 2));
        state.forget_all();
    }
}

std::size_t decide(State& state, int root_host, std::size_t length_bytes) {
    const auto key = (static_cast<std::uint64_t>(root_host) << 8) |
                     static_cast<std::uint64_t>(length_class(length_bytes));
    const auto found = state.decision_of.find(key);
    if (found != state.decision_of.end()) {
        return found->second;
    }
    make_room(state);
    std::vector<DecisionRecord>& records = state.record->decisions;
    const auto before = state.decision_before.find(key);
    DecisionRecord* const present =
        before == state.decision_before.end() ? nullptr : &records[before->second];
    DecisionRecord made;
    made.root = root_host;
    made.first_call = state.calls;
    made.length_bytes = length_bytes;  // the first call's, equal on all ranks
    made.decision = decide_broadcast(state.record->topology, runtime().settings, root_host,
                                     made.length_bytes, present ? &present->decision : nullptr);
    if (present && runs_alike(present->decision, made.decision)) {
        present->decision = std::move(made.decision);  // and its plans go on to be used
        return state.decision_of.emplace(key, before->second).first->second;
    }
    records.push_back(std::move(made));
    return state.decision_of.emplace(key, records.size() - 1).first->second;
}

Plan make_plan(const State& state, const DecisionRecord& decided, std::size_t length_bytes) {
    const auto schedule = build_one(decided.decision, state.hosts.count(), decided.root,
                                    state.hosts.my_host(), length_bytes);
    if (!schedule) {
        broken_invariant("a chosen algorithm without schedule: root, bytes", decided.root,
                         static_cast<long long>(length_bytes));
    }
    return Plan(*schedule, state.record->topology.network.transport);
}

Plan& plan_for(State& state, std::size_t decision, std::size_t length_bytes) {
    const std::uint64_t key = (static_cast<std::uint64_t>(decision) << 31) | length_bytes;
    const auto found = state.plans.find(key);
    if (found != state.plans.end()) {
        return *found->second;
    }
    if (state.plans.size() >= most_plans) {
        state.plans.clear();
    }
    auto plan = std::make_unique<Plan>(
        make_plan(state, state.record->decisions[decision], length_bytes));
    return *state.plans.emplace(key, std::move(plan)).first->second;
}

// Takes up what has become of the network, at the same calls on all ranks.
void follow_network(State& state) {
    const bool changed = state.follower      ? state.follower->enter(state.calls)
                         : state.synchronous ? state.synchronous->enter(state.calls)
                                             : false;
    if (changed) {
        state.question_decisions();
    }
}

// Between hosts, among one rank of each.
int across_hosts(State& state, const BroadcastCall& call, std::size_t decision,
                 std::size_t length_bytes) {
    std::vector<int>& speakers = state.speakers;
    const auto root_host =
        static_cast<std::size_t>(state.hosts.host_of_rank[static_cast<std::size_t>(call.root)]);
    speakers = state.hosts.leader_of_host;
    speakers[root_host] = call.root;
    const int tag = tag_of_call(state.calls);
    PackedMessage message(call.buffer, call.count, call.type, state.comm,
                          call.root == state.hosts.my_rank);
    return plan_for(state, decision, length_bytes)
        .execute(message, {state.comm, tag, speakers, state.background}, state.departures);
}

// From the host's speaker to the ranks beside it, by the MPI library's own shared memory.
int inside_host(const State& state, BroadcastCall call, NativeBroadcast native, int speaker) {
    call.comm = state.hosts.host_comm;
    call.root = state.hosts.local_rank_of_rank[static_cast<std::size_t>(speaker)];
    return native(call);
}

int run(State& state, const BroadcastCall& call, NativeBroadcast native, std::size_t decision,
        std::size_t length_bytes) {
    const int speaker = state.hosts.speaker(state.hosts.my_host(), call.root);
    int error = MPI_SUCCESS;
    if (speaker == state.hosts.my_rank) {
        error = across_hosts(state, call, decision, length_bytes);
    }
    if (error == MPI_SUCCESS && state.hosts.host_comm != MPI_COMM_NULL) {
        error = inside_host(state, call, native, speaker);
    }
    return error == MPI_SUCCESS ? error : raise_on(call.comm, error);
}

}  // namespace

int broadcast(const BroadcastCall& call, NativeBroadcast native) {
    if (for_native(call)) {
        return native(call);
    }
    State& state = state_of(call.comm);
    if (state.native || call.root < 0 || call.root >= state.record->ranks) {
        return native(call);
    }
    const std::size_t length_bytes =
        static_cast<std::size_t>(call.count) * shape_of(call.type).packed_bytes;
    if (length_bytes == 0 || length_bytes > longest_bytes) {
        return native(call);
    }
    if (state.background != nullptr) {
        state.background->progress();
    }
    follow_network(state);
    const std::size_t decision = decide(
        state, state.hosts.host_of_rank[static_cast<std::size_t>(call.root)], length_bytes);
    DecisionRecord& record = state.record->decisions[decision];
    ++record.calls;
    const std::uint64_t number = state.calls++;
    const int result = record.decision.chosen.algorithm->native()
                           ? native(call)
                           : run(state, call, native, decision, length_bytes);
    if (state.follower) {
        state.follower->leave(number);
    }
    return result;
}

}  // namespace mutirao::mpi
