// Time by a clock that nobody sets, and waiting: looking again and again, saying that a wait is too long, and not
// waiting for ever.
#pragma once

#include <sched.h>
#include <time.h>

#include <chrono>
#include <functional>

namespace mutirao::mpi {

/// Since some moment that is the same for all threads of this process.
inline double now_us() {
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration<double, std::micro>(now).count();
}

class Stopwatch {
  public:
    double elapsed_ms() const { return (now_us() - begun_us_) / 1000; }

  private:
    double begun_us_ = now_us();
};

class Patience {
  public:
    /// Between two looks in vain: first at once, then letting others run.
    void look_again() {
        if (polls_ < spins) {
            ++polls_;
        } else {
            sched_yield();
        }
    }
    /// The same where a few microseconds more do not matter: in the end it sleeps.
    void rest() {
        if (++polls_ > spins) {
            const timespec pause{0, 20'000};
            nanosleep(&pause, nullptr);
        }
    }

  private:
    static constexpr int spins = 100;
    int polls_ = 0;
};

/// In a wait for ranks that may not run mutirao at all, since `begun_us`: says so on stderr, once in a process, when it
/// has lasted for so long that something must be wrong.
void say_if_long(double begun_us);

/// For work on files, since a home folder may hang for ever: `work` has a thread of its own, and what does not end in
/// time goes on until the process ends. What it throws is lost.
void wait_at_most(std::chrono::milliseconds patience, const std::function<void()>& work);

/// What goes on beside a program's calls in the program's own threads: whenever one of them is inside a
/// call, and while it waits there.
class Background {
  public:
    virtual ~Background() = default;
    /// Must not block, and may be called by several threads at once.
    virtual void progress() = 0;
};

}  // namespace mutirao::mpi
