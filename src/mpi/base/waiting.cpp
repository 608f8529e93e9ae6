#include "mpi/base/waiting.h"

#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <exception>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

#include "agent/system.h"

namespace mutirao::mpi {

void say_if_long(double begun_us, int rank) {
    constexpr int patience_s = 30;
    static std::atomic<bool> said{false};
    if (now_us() - begun_us > patience_s * 1e6 && !said.exchange(true)) {
        std::fprintf(stderr,
                     "mutirao: rank %d has waited %d s for the others to start; is mutirao preloaded into every rank? "
                     "If some lack it, preload it into all or into none\n",
                     rank, patience_s);
    }
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
