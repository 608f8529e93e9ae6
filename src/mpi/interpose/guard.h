// Tells our own use of MPI, and the MPI library's use of itself, from the program's calls.
#pragma once

#include <cstdint>

namespace mutirao::mpi {

/// Alive while one of our entry points runs in this thread; calls that arrive meanwhile are not the
/// program's and go to the native MPI. A program may leave an entry point by longjmp out of its error
/// handler, and no destructor runs then: so what is remembered is the place of the outermost one on the
/// stack. It is gone if a call comes from farther up, or if its mark there is.
class Guard {
  public:
    Guard() : outermost_(outermost_frame_ == 0 || here() >= outermost_frame_ || !is_marked(outermost_frame_)) {
        if (outermost_) {
            outermost_frame_ = here();
            mark_ = ++marks_;
        }
    }
    ~Guard() {
        if (outermost_) {
            outermost_frame_ = 0;
        }
    }
    Guard(const Guard&) = delete;
    Guard& operator=(const Guard&) = delete;

    bool outermost() const { return outermost_; }

  private:
    // The guard itself lies in the frame of its entry point; stacks grow downwards.
    std::uintptr_t here() const { return reinterpret_cast<std::uintptr_t>(this); }
    static bool is_marked(std::uintptr_t frame) { return reinterpret_cast<const Guard*>(frame)->mark_ == marks_; }

    // Static initialisation and this model make the access one instruction.
    static inline thread_local std::uintptr_t outermost_frame_
        __attribute__((tls_model("initial-exec"))) = 0;
    static inline thread_local std::uint64_t marks_ __attribute__((tls_model("initial-exec"))) = 0x6d757469'00000000;
    volatile std::uint64_t mark_ = 0;
    bool outermost_;
};

}  // namespace mutirao::mpi
