// How fast this host copies and adds up, in one thread: what a message inside the host and the local part
// of a reduction cost. Takes less than 2 ms, as far as the system lets the thread run.
#pragma once

#include "core/spanning_tree/rounds.h"

namespace mutirao::agent {

HostSpeed measure_host_speed();

}  // namespace mutirao::agent
