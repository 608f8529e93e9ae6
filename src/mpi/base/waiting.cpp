#include "mpi/base/waiting.h"

#include <cstdio>
#include <exception>
#include <memory>
#include <system_error>
#include <utility>

#include "agent/system.h"

namespace mutirao::mpi {

LongWaitNotice::LongWaitNotice(std::string line) {
    try {
        const agent::AllSignalsBlocked blocked;
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

LongWaitNotice::~LongWaitNotice() {
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

bool ends_within(std::chrono::milliseconds patience, std::function<void()> work) {
    struct Ending {
        std::mutex mutex;
        std::condition_variable over;
        bool ended = false;
    };
    const auto ending = std::make_shared<Ending>();
    const auto whole = [ending, work] {
        try {
            work();
        } catch (const std::exception&) {
            // What it was to keep is lost.
        }
        const std::lock_guard lock(ending->mutex);
        ending->ended = true;
        ending->over.notify_all();
    };
    try {
        const agent::AllSignalsBlocked blocked;
        std::thread(whole).detach();
    } catch (const std::system_error&) {
        whole();  // no threads to be had
    }
    std::unique_lock lock(ending->mutex);
    return ending->over.wait_for(lock, patience, [&] { return ending->ended; });
}

}  // namespace mutirao::mpi
