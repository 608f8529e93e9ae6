// A level that goes a fixed part of the way towards each measurement: old ones fade, none is
// forgotten at once.
#include "core/forecast/forecasters.h"

namespace mutirao {

double exponential_smoothing(const Series& series, double gain, ForecasterMemory& level) {
    level = series.count() == 1 ? series.at(0) : level + gain * (series.at(0) - level);
    return level;
}

}  // namespace mutirao
