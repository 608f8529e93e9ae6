// The mean of the newest few measurements: follows a level that moves slowly.
#include "core/forecast/forecasters.h"

namespace mutirao {

double sliding_mean(const Series& series, double window, ForecasterMemory&) {
    return series.mean(0, static_cast<int>(window));
}

}  // namespace mutirao
