#include "core/forecast/bracket_detector.h"

#include <algorithm>
#include <cmath>

namespace mutirao {

std::optional<double> BracketDetector::answered(double round_trip_us, double unnoticed_us) {
    const double most_us = round_trip_us / 2;
    const double least_us = std::max(round_trip_us - unnoticed_us, 0.0) / 2;
    // A bracket that is no wider than noise is a measurement.
    if (most_us - least_us <= detector_.noise_of(most_us)) {
        return detector_.measured((least_us + most_us) / 2);
    }
    // Ends that had not looked for long answered late, so the first reply is an estimate.
    if (!std::isfinite(announced_us())) {
        detector_.estimated(most_us);
        return most_us;
    }
    if (announced_us() > most_us) {
        return detector_.measured(most_us);
    }
    return announced_us() < least_us ? detector_.measured(least_us) : std::nullopt;
}

}  // namespace mutirao
