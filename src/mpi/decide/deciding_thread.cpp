#include "mpi/decide/deciding_thread.h"

#include <chrono>
#include <condition_variable>
#include <list>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

#include "agent/all_signals_blocked.h"
#include "mpi/base/waiting.h"
#include "mpi/account/report.h"

namespace mutirao::mpi {
namespace {

/// News of the network are seen so soon, at the cost of one load for each docket.
constexpr std::chrono::milliseconds look_period{20};

class Worker {
  public:
    Worker() {
        try {
            const AllSignalsBlocked blocked;
            thread_ = std::thread([this] { run(); });
        } catch (const std::system_error&) {
            // None to be had: the deciders do without.
        }
    }
    Worker(const Worker&) = delete;
    Worker& operator=(const Worker&) = delete;

    /// Waits until it has ended.
    void stop() {
        {
            const std::lock_guard lock(mutex_);
            stopping_ = true;
        }
        something_.notify_all();
        if (thread_.joinable()) {
            thread_.join();
        }
    }

    bool runs() const { return thread_.joinable(); }
    void add(const std::shared_ptr<Docket>& docket) {
        const std::lock_guard lock(mutex_);
        dockets_.push_back(docket);
    }
    void wake() { something_.notify_one(); }

  private:
    void run() {
        std::unique_lock lock(mutex_);
        while (!stopping_) {
            something_.wait_for(lock, look_period);
            const auto dockets = dockets_;
            lock.unlock();
            for (const auto& each : dockets) {
                work_off(each);
            }
            if (std::chrono::steady_clock::now() >= next_request_) {
                answer();
            }
            lock.lock();
            dockets_.remove_if([](const auto& each) { return each.expired(); });
        }
    }

    void answer() {
        constexpr std::chrono::seconds between_requests{1};
        try {
            answer_request();
        } catch (const std::bad_alloc&) {
            // Whoever asked asks again.
        }
        next_request_ = std::chrono::steady_clock::now() + between_requests;
    }

    void work_off(const std::weak_ptr<Docket>& docket) {
        try {
            const auto held = docket.lock();
            while (held && held.use_count() > 1 && !stopping() && held->work()) {
            }
        } catch (const std::bad_alloc&) {
            // What cannot be decided is left to the MPI library.
        }
    }

    bool stopping() {
        const std::lock_guard lock(mutex_);
        return stopping_;
    }

    std::mutex mutex_;
    std::condition_variable something_;
    bool stopping_ = false;
    std::list<std::weak_ptr<Docket>> dockets_;
    std::chrono::steady_clock::time_point next_request_{};
    std::thread thread_;
};

std::mutex only_mutex;
std::shared_ptr<Worker>& only() {
    static auto* const worker = new std::shared_ptr<Worker>;
    return *worker;
}

}  // namespace

bool DecidingThread::take_on(const std::shared_ptr<Docket>& docket) {
    const std::lock_guard lock(only_mutex);
    if (!only()) {
        only() = std::make_shared<Worker>();
    }
    if (only()->runs()) {
        only()->add(docket);
    }
    return only()->runs();
}

void DecidingThread::wake() {
    const std::lock_guard lock(only_mutex);
    if (only()) {
        only()->wake();
    }
}

void DecidingThread::end(std::chrono::milliseconds patience) {
    std::shared_ptr<Worker> worker;
    {
        const std::lock_guard lock(only_mutex);
        worker = std::exchange(only(), nullptr);
    }
    if (worker) {
        ends_within(patience, [worker] { worker->stop(); });
    }
}

}  // namespace mutirao::mpi
