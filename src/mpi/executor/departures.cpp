#include "mpi/executor/departures.h"

#include <utility>

namespace mutirao::mpi {

void Departures::add(std::vector<MPI_Request> requests, std::unique_ptr<std::byte[]> copy,
                     std::size_t copy_bytes) {
    departed_.push_back({std::move(requests), std::move(copy), copy_bytes});
    kept_bytes_ += copy_bytes;
    while (kept_bytes_ > most_bytes) {
        wait_for_oldest();
    }
}

void Departures::reap() {
    while (!departed_.empty()) {
        Departed& oldest = departed_.front();
        int done = 0;
        PMPI_Testall(static_cast<int>(oldest.requests.size()), oldest.requests.data(), &done,
                     MPI_STATUSES_IGNORE);
        if (done == 0) {
            return;
        }
        kept_bytes_ -= oldest.copy_bytes;
        departed_.pop_front();
    }
}

void Departures::wait() {
    while (!departed_.empty()) {
        wait_for_oldest();
    }
}

void Departures::wait_for_oldest() {
    Departed& oldest = departed_.front();
    PMPI_Waitall(static_cast<int>(oldest.requests.size()), oldest.requests.data(),
                 MPI_STATUSES_IGNORE);
    kept_bytes_ -= oldest.copy_bytes;
    departed_.pop_front();
}

}  // namespace mutirao::mpi
