// How to wait for a message without keeping others from the processor. MPI libraries may spin while
// they wait: where a host has more ranks than processors, the rank that is waited for then runs only
// when the time slices of the others are over.
#pragma once

#include <sched.h>
#include <time.h>

namespace mutirao::mpi {

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

}  // namespace mutirao::mpi
