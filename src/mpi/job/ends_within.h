// Work on files that must not hold the program: a home folder may hang for ever.
#pragma once

#include <chrono>
#include <functional>

namespace mutirao::mpi {

/// Whether `work`, in a thread of its own, ended in time. If not, it goes on until the process ends.
bool ends_within(std::chrono::milliseconds patience, std::function<void()> work);

}  // namespace mutirao::mpi
