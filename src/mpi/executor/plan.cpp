#include "mpi/executor/plan.h"

#include <cstdio>
#include <cstdlib>
#include <map>

namespace mutirao::mpi {

Plan::Plan(const Schedule& schedule) {
    std::vector<std::vector<StepId>> dependents(schedule.size());
    StepId id = 0;
    for (const Step& step : schedule.steps()) {
        const bool send = step.kind == StepKind::send;
        if (!send && step.kind != StepKind::receive) {
            std::fprintf(stderr, "mutirao: step %d is of kind %d, which has no executor\n", id,
                         static_cast<int>(step.kind));
            std::abort();
        }
        const Region& region = send ? step.source : step.target;
        steps_.push_back({send, step.peer, region.offset_bytes,
                          static_cast<int>(region.length_bytes),
                          static_cast<int>(step.dependency_count), 0, 0, -1});
        for (const StepId before : schedule.dependencies(step)) {
            dependents[static_cast<std::size_t>(before)].push_back(id);
        }
        ++id;
    }
    add_window_edges(dependents);
    for (std::size_t i = 0; i < steps_.size(); ++i) {
        steps_[i].first_dependent = static_cast<std::uint32_t>(dependents_.size());
        steps_[i].dependent_count = static_cast<std::uint32_t>(dependents[i].size());
        dependents_.insert(dependents_.end(), dependents[i].begin(), dependents[i].end());
        if (steps_[i].waits_for == 0) {
            first_.push_back(static_cast<StepId>(i));
        }
    }
}

// Chains the steps of each kind and peer: one starts after its predecessor started, and after the
// one `window` places before it is complete.
void Plan::add_window_edges(std::vector<std::vector<StepId>>& dependents) {
    std::map<std::pair<bool, int>, std::vector<StepId>> chains;
    for (std::size_t i = 0; i < steps_.size(); ++i) {
        Compiled& step = steps_[i];
        std::vector<StepId>& chain = chains[{step.send, step.peer}];
        if (!chain.empty()) {
            steps_[static_cast<std::size_t>(chain.back())].next_to_peer = static_cast<StepId>(i);
            ++step.waits_for;
        }
        if (chain.size() >= static_cast<std::size_t>(window)) {
            const StepId earlier = chain[chain.size() - static_cast<std::size_t>(window)];
            dependents[static_cast<std::size_t>(earlier)].push_back(static_cast<StepId>(i));
            ++step.waits_for;
        }
        chain.push_back(static_cast<StepId>(i));
    }
}

void Plan::enable(StepId step) {
    if (--waits_for_[static_cast<std::size_t>(step)] == 0) {
        startable_.push_back(step);
    }
}

int Plan::start(StepId id, PackedMessage& message, MPI_Comm comm, int tag,
                std::span<const int> rank_of) {
    const Compiled& step = steps_[static_cast<std::size_t>(id)];
    const int rank = rank_of[static_cast<std::size_t>(step.peer)];
    MPI_Request request = MPI_REQUEST_NULL;
    int error = MPI_SUCCESS;
    if (step.send) {
        message.prepare(step.offset_bytes + static_cast<std::size_t>(step.length_bytes));
        error = PMPI_Isend(message.data() + step.offset_bytes, step.length_bytes, MPI_BYTE, rank,
                           tag, comm, &request);
    } else {
        error = PMPI_Irecv(message.data() + step.offset_bytes, step.length_bytes, MPI_BYTE, rank,
                           tag, comm, &request);
    }
    requests_.push_back(request);
    step_of_request_.push_back(id);
    if (step.next_to_peer >= 0) {
        enable(step.next_to_peer);
    }
    return error;
}

int Plan::execute(PackedMessage& message, MPI_Comm comm, int tag, std::span<const int> rank_of) {
    waits_for_.resize(steps_.size());
    for (std::size_t i = 0; i < steps_.size(); ++i) {
        waits_for_[i] = steps_[i].waits_for;
    }
    startable_ = first_;
    requests_.clear();
    step_of_request_.clear();

    std::size_t left = steps_.size();
    while (left > 0) {
        // First in, first out: the order of the schedule is the order that was predicted.
        for (std::size_t i = 0; i < startable_.size(); ++i) {
            if (const int error = start(startable_[i], message, comm, tag, rank_of)) {
                return error;
            }
        }
        startable_.clear();

        completed_.resize(requests_.size());
        int count = 0;
        if (const int error = PMPI_Waitsome(static_cast<int>(requests_.size()), requests_.data(),
                                            &count, completed_.data(), MPI_STATUSES_IGNORE)) {
            return error;
        }
        left -= static_cast<std::size_t>(count);
        for (int i = 0; i < count; ++i) {
            const auto position = static_cast<std::size_t>(completed_[static_cast<std::size_t>(i)]);
            const Compiled& step = steps_[static_cast<std::size_t>(step_of_request_[position])];
            for (std::uint32_t k = 0; k < step.dependent_count; ++k) {
                enable(dependents_[step.first_dependent + k]);
            }
        }
        drop_completed();
    }
    message.finish();
    return MPI_SUCCESS;
}

// Keeps the order of the rest: MPI libraries look at requests from the front.
void Plan::drop_completed() {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < requests_.size(); ++i) {
        if (requests_[i] != MPI_REQUEST_NULL) {
            requests_[kept] = requests_[i];
            step_of_request_[kept] = step_of_request_[i];
            ++kept;
        }
    }
    requests_.resize(kept);
    step_of_request_.resize(kept);
}

}  // namespace mutirao::mpi
