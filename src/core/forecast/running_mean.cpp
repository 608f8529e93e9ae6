// The mean of all measurements: best where they scatter about a level that does not change.
#include "core/forecast/forecasters.h"

namespace mutirao {

double running_mean(const Series& series, double, ForecasterMemory& mean) {
    mean += (series.at(0) - mean) / static_cast<double>(series.count());
    return mean;
}

}  // namespace mutirao
