// The one thread of a process that works off the dockets of its deciders, beside the program, and tells
// whoever asks how the job stands. It makes no MPI call and takes no signals. Where the system refuses a
// thread, or none is wanted, the deciders work their dockets off themselves, in slices inside calls.
#pragma once

#include <chrono>
#include <memory>

#include "mpi/decide/docket.h"

namespace mutirao::mpi {

class DecidingThread {
  public:
    /// Works on it from now on, as long as anyone else holds it. False if there is no thread.
    static bool take_on(const std::shared_ptr<Docket>& docket);
    /// Something is wanted: looks at once instead of soon.
    static void wake();
    /// At the beginning of MPI_Finalize. Where it reads a file for longer, it is left to itself.
    static void end(std::chrono::milliseconds patience);
};

}  // namespace mutirao::mpi
