#include "mpi/base/waiting.h"

#include <atomic>
#include <cstdio>
#include <future>
#include <system_error>
#include <thread>
#include <utility>

#include "agent/system.h"
#include "mpi/base/world.h"

namespace mutirao::mpi {

void say_if_long(double begun_us) {
    constexpr int patience_s = 30;
    static std::atomic<bool> said{false};
    if (now_us() - begun_us > patience_s * 1e6 && !said.exchange(true)) {
        std::fprintf(stderr,
                     "mutirao: rank %d has waited %d s for the others to start; is mutirao preloaded into every rank, "
                     "with the same MUTIRAO_ settings? Preload it into all ranks or into none\n",
                     rank_in(MPI_COMM_WORLD), patience_s);
    }
}

void wait_at_most(std::chrono::milliseconds patience, const std::function<void()>& work) {
    std::packaged_task<void()> task(work);
    const std::future<void> end = task.get_future();
    try {
        const agent::AllSignalsBlocked blocked;
        std::thread(std::move(task)).detach();
    } catch (const std::system_error&) {
        std::packaged_task<void()>{work}();  // no threads to be had
    }
    end.wait_for(patience);
}

}  // namespace mutirao::mpi
