// The mean of the newest measurements without the extremes: as steady as a mean over scatter, as
// deaf as a median to outliers.
#include "core/forecast/forecasters.h"

namespace mutirao {
namespace {

/// Left out at each end.
constexpr double share = 0.25;

}  // namespace

double trimmed_mean(const Series& series, double window, ForecasterMemory&) {
    return series.trimmed_mean(0, static_cast<int>(window), share);
}

}  // namespace mutirao
