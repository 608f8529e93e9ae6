#include "mpi/job/ends_within.h"

#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>

#include "agent/all_signals_blocked.h"

namespace mutirao::mpi {

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
        const AllSignalsBlocked blocked;
        std::thread(whole).detach();
    } catch (const std::system_error&) {
        whole();  // no threads to be had
    }
    std::unique_lock lock(ending->mutex);
    return ending->over.wait_for(lock, patience, [&] { return ending->ended; });
}

}  // namespace mutirao::mpi
