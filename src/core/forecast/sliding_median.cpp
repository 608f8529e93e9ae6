// The median of the newest few measurements: single outliers do not move it.
#include "core/forecast/forecasters.h"

namespace mutirao {

double sliding_median(const Series& series, double window, ForecasterMemory&) {
    return series.median(0, static_cast<int>(window));
}

}  // namespace mutirao
