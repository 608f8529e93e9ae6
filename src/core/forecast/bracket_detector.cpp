#include "core/forecast/bracket_detector.h"

#include <algorithm>

namespace mutirao {
namespace {

// A bracket that is no wider than what is never a change anyway (ChangeRule) is a measurement.
constexpr double exact_us = 100;
constexpr double exact_share = 0.05;

}  // namespace

std::optional<double> BracketDetector::answered(double round_trip_us, double unnoticed_us) {
    const double most_us = round_trip_us / 2;
    const double least_us = std::max(round_trip_us - unnoticed_us, 0.0) / 2;
    if (most_us - least_us <= std::max(exact_us, exact_share * most_us)) {
        return detector_.measured((least_us + most_us) / 2);
    }
    if (!announced() || *announced() > most_us) {
        return detector_.measured(most_us);
    }
    return *announced() < least_us ? detector_.measured(least_us) : std::nullopt;
}

}  // namespace mutirao
