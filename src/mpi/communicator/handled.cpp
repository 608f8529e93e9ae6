// What calls by mutirao's algorithms took, beside what the MPI library's own would have taken.
#include <cmath>
#include <optional>

#include "mpi/communicator/record.h"

namespace mutirao::mpi {
namespace {

struct Times {
    double chosen_us;
    double native_us;
};

/// Of both, among what was measured or predicted; `time_us` reads the time of one.
template <typename Timed, typename TimeOf>
std::optional<Times> times_among(const std::vector<Timed>& all, const std::string& chosen, TimeOf time_us) {
    std::optional<double> chosen_us, native_us;
    for (const Timed& each : all) {
        if (each.candidate.native()) {
            native_us = time_us(each);
        }
        if (to_string(each.candidate) == chosen) {
            chosen_us = time_us(each);
        }
    }
    const bool known = chosen_us && native_us && *native_us > 0 && std::isfinite(*chosen_us) &&
                       std::isfinite(*native_us);
    return known ? std::optional<Times>({*chosen_us, *native_us}) : std::nullopt;
}

}  // namespace

void Handled::add(const Handled& other) {
    calls += other.calls;
    on_trial += other.on_trial;
    compared += other.compared;
    took_us += other.took_us;
    native_us += other.native_us;
    measured = measured || other.measured;
    predicted = predicted || other.predicted;
}

// What takes turns has no time of its own.
Handled handled_by(const RulingRecord& ruling) {
    Handled handled;
    handled.calls = ruling.calls;
    if (ruling.chosen.find(" | ") != std::string::npos) {
        handled.on_trial = ruling.calls;
        return handled;
    }
    const auto measured = times_among(ruling.measured, ruling.chosen,
                                      [](const Measured& each) { return each.time_us.median; });
    const auto predicted = times_among(ruling.considered, ruling.chosen,
                                       [](const Evaluated& each) { return each.predicted_us; });
    if (const auto& times = measured ? measured : predicted; times && ruling.calls > 0) {
        const auto calls = static_cast<double>(ruling.calls);
        handled.compared = ruling.calls;
        handled.took_us = calls * times->chosen_us;
        handled.native_us = calls * times->native_us;
        handled.measured = measured.has_value();
        handled.predicted = !measured;
    }
    return handled;
}

Handled handled_in(const ClassRecord& of_class) {
    Handled all = of_class.forgotten;
    for (const RulingRecord& ruling : of_class.rulings) {
        all.add(handled_by(ruling));
    }
    return all;
}

std::string how_known(const Handled& handled) {
    if (handled.measured && handled.predicted) {
        return "measured and predicted";
    }
    return handled.measured ? "measured" : handled.predicted ? "predicted" : "";
}

}  // namespace mutirao::mpi
