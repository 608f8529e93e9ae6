// What an agent measures of its own host: processor, memory and disk, and how fast it is.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "agent/system.h"
#include "core/forecast/bank.h"
#include "core/spanning_tree/rounds.h"

namespace mutirao::agent {

/// The beginning of a small file, such as those of /proc, without streams or allocation.
class TextFile {
  public:
    explicit TextFile(const char* path) {
        const File file(open(path, O_RDONLY | O_CLOEXEC));
        const ssize_t count = file ? read(file.number(), bytes_.data(), bytes_.size()) : 0;
        size_ = count > 0 ? static_cast<std::size_t>(count) : 0;
    }
    /// Empty if it cannot be read.
    std::string_view text() const { return {bytes_.data(), size_}; }

  private:
    std::array<char, 2048> bytes_;
    std::size_t size_ = 0;
};

// Processor, memory and disk, in one table. Each reading goes into a bank of forecasters.

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
    std::optional<Forecast> forecast;
};

class HostSensors {
  public:
    /// Reads all; what could not be read is left out.
    std::vector<HostReading> read();

  private:
    ProcessorTimes times_;
    std::map<std::string_view, Bank> banks_;
};

// How fast this host copies and adds up in one thread, and hands something from one to another: what a
// message inside the host and the local part of a reduction cost. Takes about 2 ms, as far as the system
// lets the threads run.

HostSpeed measure_host_speed();

}  // namespace mutirao::agent
