// How long something took, by a clock that nobody sets.
#pragma once

#include <chrono>

namespace mutirao::mpi {

/// Since some moment that is the same for all threads of this process.
inline double now_us() {
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration<double, std::micro>(now).count();
}

class Stopwatch {
  public:
    double elapsed_ms() const { return since(begin_); }
    /// Since the last lap, or the start.
    double lap_ms() {
        const double lap = since(lap_);
        lap_ = Clock::now();
        return lap;
    }

  private:
    using Clock = std::chrono::steady_clock;
    static double since(Clock::time_point begin) {
        return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
    }

    Clock::time_point begin_ = Clock::now();
    Clock::time_point lap_ = begin_;
};

}  // namespace mutirao::mpi
