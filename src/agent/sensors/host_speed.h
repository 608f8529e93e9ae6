// How fast this host copies and adds up in one thread, and hands something from one to another: what a
// message inside the host and the local part of a reduction cost. Takes about 2 ms, as far as the system
// lets the threads run.
#pragma once

#include "core/spanning_tree/rounds.h"

namespace mutirao::agent {

HostSpeed measure_host_speed();

}  // namespace mutirao::agent
