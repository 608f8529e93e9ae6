#include "mpi/executor/left_behind.h"

#include <algorithm>
#include <utility>

#include "mpi/base/waiting.h"

namespace mutirao::mpi {

void LeftBehind::forget(const Send& send) {
    const auto found = bytes_to_peer_.find(send.peer);
    found->second -= send.length_bytes;
    if (found->second == 0) {
        bytes_to_peer_.erase(found);
    }
}

bool LeftBehind::test(Departed& departed) {
    std::erase_if(departed.sends, [this](Send& send) {
        int done = 0;
        // A send that fails will not be delivered by waiting for it.
        if (PMPI_Test(&send.request, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && done == 0) {
            return false;
        }
        forget(send);
        return true;
    });
    return departed.sends.empty();
}

bool LeftBehind::too_much() const {
    return std::any_of(bytes_to_peer_.begin(), bytes_to_peer_.end(),
                       [this](const auto& each) { return each.second > most_bytes_; });
}

// Without the lock while it waits: other threads go on.
void LeftBehind::add(std::vector<Send> sends, std::unique_ptr<std::byte[]> copy) {
    std::unique_lock lock(mutex_);
    for (const Send& send : sends) {
        bytes_to_peer_[send.peer] += send.length_bytes;
    }
    departed_.push_back({std::move(sends), std::move(copy)});
    for (Patience patience; too_much();) {
        std::erase_if(departed_, [this](Departed& each) { return test(each); });
        lock.unlock();
        patience.look_again();
        lock.lock();
    }
}

void LeftBehind::abandon(std::vector<MPI_Request> sends, std::shared_ptr<const void> memory) {
    const std::lock_guard lock(mutex_);
    abandoned_.push_back({std::move(sends), std::move(memory)});
    if (abandoned_.size() > most_abandoned) {
        leave_to_mpi(abandoned_.front());
        abandoned_.pop_front();
    }
}

void LeftBehind::test_abandoned() {
    std::erase_if(abandoned_, [](Abandoned& each) {
        std::erase_if(each.sends, [](MPI_Request& send) {
            int done = 0;
            return PMPI_Test(&send, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS || done != 0;
        });
        return each.sends.empty();
    });
}

void LeftBehind::reap() {
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock) {
        return;
    }
    while (!departed_.empty() && test(departed_.front())) {
        departed_.pop_front();
    }
    if (!abandoned_.empty()) {
        test_abandoned();
    }
}

// The MPI library may read the memory until it ends itself, so that is never given back.
void LeftBehind::leave_to_mpi(Abandoned& abandoned) {
    for (MPI_Request& send : abandoned.sends) {
        PMPI_Request_free(&send);
    }
    new std::shared_ptr<const void>(std::move(abandoned.memory));
}

void LeftBehind::wait() {
    const std::lock_guard lock(mutex_);
    Patience patience;
    while (!departed_.empty()) {
        std::erase_if(departed_, [this](Departed& each) { return test(each); });
        patience.look_again();
    }
    test_abandoned();
    for (Abandoned& each : abandoned_) {
        leave_to_mpi(each);
    }
    abandoned_.clear();
}

}  // namespace mutirao::mpi
