// What an agent measures of its own host: processor, memory and disk, and how fast it is.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "core/spanning_tree/rounds.h"

namespace mutirao::agent {

// Processor, memory and disk, in one table.

/// Of all processors so far.
struct ProcessorTimes {
    std::uint64_t busy = 0;
    std::uint64_t total = 0;
};

/// Share of the processors' time that was idle since the last reading: nothing at the first.
std::optional<double> available_processor(ProcessorTimes& last);
/// Bytes that programs can still get without swapping.
std::optional<double> free_memory();
/// Bytes free to users where temporary files go.
std::optional<double> free_disk();

/// What was stolen from each processor so far, of the first twenty or so.
std::vector<std::int64_t> stolen_processor_ns();
/// The same from the text of /proc/stat.
std::vector<std::int64_t> stolen_ns_in(std::string_view text);

struct HostReading {
    std::string_view sensor;  ///< with its unit
    double value;
};
/// All of them; what could not be read is left out.
std::vector<HostReading> read_host_sensors(ProcessorTimes& last);

// How fast this host copies and adds up in one thread, and hands something from one to another: what a
// message inside the host and the local part of a reduction cost. Takes about 2 ms, as far as the system
// lets the threads run.

HostSpeed measure_host_speed();

}  // namespace mutirao::agent
