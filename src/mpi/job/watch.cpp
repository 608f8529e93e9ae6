#include "mpi/job/watch.h"

#include <chrono>
#include <cstdio>
#include <system_error>
#include <utility>

#include "agent/all_signals_blocked.h"

namespace mutirao::mpi {

Watch::Watch(std::string line) {
    try {
        const AllSignalsBlocked blocked;
        thread_ = std::thread([this, line = std::move(line)] {
            std::unique_lock lock(mutex_);
            if (!over_.wait_for(lock, std::chrono::seconds(patience_s), [this] { return done_; })) {
                std::fprintf(stderr, "%s\n", line.c_str());
            }
        });
    } catch (const std::system_error&) {
        // No threads to be had: the wait goes on in silence.
    }
}

Watch::~Watch() {
    {
        const std::lock_guard lock(mutex_);
        done_ = true;
    }
    over_.notify_all();
    if (thread_.joinable()) {
        thread_.join();
    }
}

std::string missing_preload_line(int rank) {
    return "mutirao: rank " + std::to_string(rank) + " has waited " + std::to_string(patience_s) +
           " s for the others to start; is mutirao preloaded into every rank? If some lack it, "
           "preload it into all or into none";
}

}  // namespace mutirao::mpi
