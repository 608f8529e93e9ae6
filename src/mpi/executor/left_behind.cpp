#include "mpi/executor/left_behind.h"

#include <algorithm>
#include <utility>

#include "mpi/executor/patience.h"

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

void LeftBehind::add(std::vector<Send> sends, std::unique_ptr<std::byte[]> copy) {
    const std::lock_guard lock(mutex_);
    for (const Send& send : sends) {
        bytes_to_peer_[send.peer] += send.length_bytes;
    }
    departed_.push_back({std::move(sends), std::move(copy)});
    Patience patience;
    while (too_much()) {
        std::erase_if(departed_, [this](Departed& each) { return test(each); });
        patience.look_again();
    }
}

void LeftBehind::reap() {
    const std::unique_lock lock(mutex_, std::try_to_lock);
    while (lock && !departed_.empty() && test(departed_.front())) {
        departed_.pop_front();
    }
}

void LeftBehind::wait() {
    const std::lock_guard lock(mutex_);
    Patience patience;
    while (!departed_.empty()) {
        std::erase_if(departed_, [this](Departed& each) { return test(each); });
        patience.look_again();
    }
}

}  // namespace mutirao::mpi
