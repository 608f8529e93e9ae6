// Ways to foretell the next measurement from those so far, after the Network Weather Service
// (Wolski 1998, doi:10.1023/A:1019025230054). None is best for all links, so all run and a Bank
// lets the one with the lowest error speak.
#pragma once

#include <span>
#include <string_view>

#include "core/forecast/series.h"

namespace mutirao {

/// What a forecaster carries from one measurement to the next beside the series.
using ForecasterMemory = double;

/// Called once after each measurement, which is then the newest of the series; returns what the
/// next one should be. The memory is 0 at first.
using Foretell = double (*)(const Series& series, double parameter, ForecasterMemory& memory);

struct Forecaster {
    std::string_view name;
    Foretell foretell;
    double parameter;
};

inline constexpr std::size_t forecaster_count = 16;

/// The table. Of two with equal errors the earlier one speaks.
std::span<const Forecaster, forecaster_count> forecasters();

}  // namespace mutirao
