// What an agent measures of its own host: processor, memory and disk, and how fast it is.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/spanning_tree/rounds.h"

namespace mutirao::agent {

struct HostReading {
    std::string_view sensor;  ///< with its unit
    double value;
};

/// Of all processors so far.
struct ProcessorTimes {
    std::uint64_t busy = 0;
    std::uint64_t total = 0;
};

/// Processor, memory and disk; what could not be read is left out. `last`: the reading before, of what is a share of
/// the time since.
std::vector<HostReading> read_host_sensors(ProcessorTimes& last);

/// What was stolen from each processor so far, of the first twenty or so.
std::vector<std::int64_t> stolen_processor_ns();
/// The same from the text of /proc/stat.
std::vector<std::int64_t> stolen_ns_in(std::string_view text);

// How fast this host copies and adds up in one thread, and hands something from one to another: what a
// message inside the host and the local part of a reduction cost. Takes about 2 ms, as far as the system
// lets the threads run.

HostSpeed measure_host_speed();

}  // namespace mutirao::agent
