// Finds steps of one rank that may touch the same bytes at the same time.
#pragma once

#include <string>

#include "core/schedule/schedule.h"

namespace mutirao {

/// The first two steps that overlap on bytes, at least one writing, and that no path of
/// dependencies orders; empty if there are none. What messages happen to order does not count: an
/// MPI library may read or write the memory of a send or receive from its start to its end.
std::string find_race(const Schedule& schedule, int rank);

}  // namespace mutirao
