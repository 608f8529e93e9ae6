// Tells our own use of MPI, and the MPI library's use of itself, from the program's calls.
#pragma once

namespace mutirao::mpi {

/// Alive while one of our entry points runs in this thread; calls that arrive meanwhile are not
/// the program's and go to the native MPI.
class Guard {
  public:
    Guard() : outermost_(depth_++ == 0) {}
    ~Guard() { --depth_; }
    Guard(const Guard&) = delete;
    Guard& operator=(const Guard&) = delete;

    bool outermost() const { return outermost_; }

  private:
    // Static initialisation and this model make the access one instruction.
    static inline thread_local int depth_ __attribute__((tls_model("initial-exec"))) = 0;
    bool outermost_;
};

}  // namespace mutirao::mpi
