// It stays as it is: best where the quantity changes in steps, and after each step.
#include "core/forecast/forecasters.h"

namespace mutirao {

double last_value(const Series& series, double, ForecasterMemory&) { return series.at(0); }

}  // namespace mutirao
