#include "mpi/job/watch.h"

#include <chrono>
#include <csignal>
#include <cstdio>
#include <system_error>
#include <utility>

namespace mutirao::mpi {

Watch::Watch(std::string line) {
    // The thread must not take signals that are meant for the program.
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    try {
        thread_ = std::thread([this, line = std::move(line)] {
            std::unique_lock lock(mutex_);
            if (!over_.wait_for(lock, std::chrono::seconds(patience_s), [this] { return done_; })) {
                std::fprintf(stderr, "%s\n", line.c_str());
            }
        });
    } catch (const std::system_error&) {
        // No threads to be had: the wait goes on in silence.
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
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
