#include "mpi/executor/plan.h"

#include <sched.h>

#include <algorithm>
#include <cstring>
#include <map>

#include "core/schedule/detached.h"
#include "core/text/invariant.h"

namespace mutirao::mpi {

Plan::Plan(const Schedule& schedule, const Transport& transport) {
    const std::vector<bool> detached = detached_sends(schedule, transport);
    std::vector<std::vector<StepId>> dependents(schedule.size());
    StepId id = 0;
    for (const Step& step : schedule.steps()) {
        const bool send = step.kind == StepKind::send;
        if (!send && step.kind != StepKind::receive) {
            broken_invariant("step of a kind that has no executor", id,
                             static_cast<int>(step.kind));
        }
        const Region& region = send ? step.source : step.target;
        steps_.push_back({send, detached[static_cast<std::size_t>(id)], step.peer, region.offset_bytes,
                          static_cast<int>(region.length_bytes),
                          static_cast<int>(step.dependency_count), 0, 0, -1});
        if (steps_.back().detached) {
            detached_begin_bytes_ = detached_count_ == 0
                                        ? region.offset_bytes
                                        : std::min(detached_begin_bytes_, region.offset_bytes);
            detached_end_bytes_ = std::max(detached_end_bytes_, region.end_bytes());
            ++detached_count_;
        }
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

// A detached send goes from the copy that outlives the call. Several may share bytes, which are then
// copied again: the same bytes to the same place.
std::byte* Plan::data_of(const Compiled& step, PackedMessage& message) {
    std::byte* const data = message.data() + step.offset_bytes;
    if (!step.detached) {
        return data;
    }
    std::byte* const kept = copy_.get() + (step.offset_bytes - detached_begin_bytes_);
    std::memcpy(kept, data, static_cast<std::size_t>(step.length_bytes));
    return kept;
}

int Plan::start(StepId id, PackedMessage& message, const Route& route) {
    const Compiled& step = steps_[static_cast<std::size_t>(id)];
    const int rank = route.rank_of[static_cast<std::size_t>(step.peer)];
    MPI_Request request = MPI_REQUEST_NULL;
    int error = MPI_SUCCESS;
    if (step.send) {
        error = message.prepare(step.offset_bytes + static_cast<std::size_t>(step.length_bytes));
        if (error != MPI_SUCCESS) {
            return error;
        }
        error = PMPI_Isend(data_of(step, message), step.length_bytes, MPI_BYTE, rank, route.tag,
                           route.comm, &request);
    } else {
        error = PMPI_Irecv(message.data() + step.offset_bytes, step.length_bytes, MPI_BYTE, rank,
                           route.tag, route.comm, &request);
    }
    requests_.push_back(request);
    step_of_request_.push_back(id);
    --to_start_;
    if (step.next_to_peer >= 0) {
        enable(step.next_to_peer);
    }
    return error;
}

void Plan::begin() {
    waits_for_.resize(steps_.size());
    for (std::size_t i = 0; i < steps_.size(); ++i) {
        waits_for_[i] = steps_[i].waits_for;
    }
    startable_ = first_;
    requests_.clear();
    step_of_request_.clear();
    to_start_ = steps_.size();
    to_complete_ = steps_.size() - detached_count_;
    if (detached_count_ > 0) {
        copy_ = std::make_unique_for_overwrite<std::byte[]>(detached_end_bytes_ -
                                                            detached_begin_bytes_);
    }
}

// First in, first out: the order of the schedule is the order that was predicted.
int Plan::start_ready(PackedMessage& message, const Route& route) {
    int error = MPI_SUCCESS;
    for (std::size_t i = 0; i < startable_.size() && error == MPI_SUCCESS; ++i) {
        error = start(startable_[i], message, route);
    }
    startable_.clear();
    return error;
}

// MPI libraries may spin while they wait: where a host has more ranks than processors, the rank that
// is waited for then runs only when the time slices of the others are over. So this polls, and after
// a while lets others run.
int Plan::wait_for_some(Background* background, int& count) {
    const int requests = static_cast<int>(requests_.size());
    int patience = 100;
    while (true) {
        const int error = PMPI_Testsome(requests, requests_.data(), &count, completed_.data(),
                                        MPI_STATUSES_IGNORE);
        if (error != MPI_SUCCESS || count != 0) {
            return error;
        }
        if (background != nullptr) {
            background->progress();
        }
        if (patience > 0) {
            --patience;
        } else {
            sched_yield();
        }
    }
}

int Plan::complete_some(Background* background) {
    completed_.resize(requests_.size());
    int count = 0;
    const int error = wait_for_some(background, count);
    if (error != MPI_SUCCESS) {
        return error;
    }
    for (int i = 0; i < count; ++i) {
        const auto position = static_cast<std::size_t>(completed_[static_cast<std::size_t>(i)]);
        const Compiled& step = steps_[static_cast<std::size_t>(step_of_request_[position])];
        to_complete_ -= step.detached ? 0 : 1;
        for (std::uint32_t k = 0; k < step.dependent_count; ++k) {
            enable(dependents_[step.first_dependent + k]);
        }
    }
    drop_completed();
    return MPI_SUCCESS;
}

int Plan::execute(PackedMessage& message, const Route& route, Departures& departures) {
    departures.reap();
    begin();
    while (to_start_ > 0 || to_complete_ > 0) {
        int error = start_ready(message, route);
        if (error == MPI_SUCCESS && (to_start_ > 0 || to_complete_ > 0)) {
            error = complete_some(route.background);
        }
        if (error != MPI_SUCCESS) {
            return error;
        }
    }
    if (!requests_.empty()) {
        departures.add(requests_, std::move(copy_), detached_end_bytes_ - detached_begin_bytes_);
    }
    return message.finish();
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
