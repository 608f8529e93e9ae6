#include "core/forecast/change_detector.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/text/invariant.h"

namespace mutirao {
namespace {

/// A change is at least so much, however steady the link, and more than so many root mean square errors of the forecast.
constexpr double least_change_us = 100, least_change_percent = 5, least_errors = 3;
/// Measurements in a row, on the same side of the band, that make a change.
constexpr int confirmations = 2;
/// A reply is overdue after the forecast and so many of its errors, or the shares below if larger.
constexpr double late_errors = 6, late_percent = 25, late_floor_us = 20'000;

/// Each announcement adds 1 to the damping, which halves in some 16 measurements.
constexpr double most_damping = 4;
constexpr double damping_kept = 0.957;

/// Errors of few forecasts are taken for so much larger than they seem, and what was known of the
/// link's errors before it changed counts on for a while.
constexpr double unproven_errors = 4;
constexpr double error_kept = 0.99;

/// The forecast must lie off the announced value for so many measurements to be news itself.
constexpr int drift_measurements = 8;

/// A large step that is taken back within so few measurements was an outlier; then large steps
/// need confirmation for a while.
constexpr int taken_back_within = 2;
constexpr int doubtful_measurements = 64;

/// What the link is said to be, at first, when a reply is overdue.
constexpr double overdue_factor = 10;

}  // namespace

ChangeDetector::ChangeDetector(ChangeRule rule, std::optional<double> announced)
    : rule_(rule), announced_us_(announced) {
    if (announced && !std::isfinite(*announced)) basis_ = Basis::silence;
}

double ChangeDetector::noise_of(double level_us) {
    return std::max(least_change_us, least_change_percent / 100 * level_us);
}

double ChangeDetector::error_us() const {
    const auto forecast = bank_.forecast();
    if (!forecast) return error_before_us_;
    const auto count = static_cast<double>(bank_.series().count());
    return std::max(error_before_us_,
                    forecast->root_mean_square_error * (1 + unproven_errors / count));
}

double ChangeDetector::band_us() const {
    const double announced_us = announced_us_.value_or(0);
    if (rule_.threshold_percent) return *rule_.threshold_percent / 100 * announced_us;
    return std::max(noise_of(announced_us), least_errors * error_us()) * (1 + damping_);
}

bool ChangeDetector::large(double value_us) const {
    const auto [less, more] = std::minmax(value_us, *announced_us_);
    return more >= ChangeRule::large_factor * less && more - less >= ChangeRule::large_change_us;
}

double ChangeDetector::announce(double value_us) {
    announced_us_ = value_us;
    basis_ = Basis::measurement;
    damping_ = std::min(damping_ + 1, most_damping);
    outside_ = 0;
    drifting_ = 0;
    return value_us;
}

void ChangeDetector::estimated(double value_us) {
    announce(value_us);
    basis_ = Basis::estimate;
}

std::optional<double> ChangeDetector::measured(double value_us) {
    if (!std::isfinite(value_us) || value_us < 0) {
        broken_invariant("latencies are finite and not negative", std::isfinite(value_us), 1);
    }
    if (!announced_us_) {
        bank_.measured(value_us);
        return announce(value_us);
    }
    if (basis_ != Basis::measurement) {
        basis_ = Basis::measurement;
        const auto before = bank_.forecast();
        if (!before || std::abs(value_us - before->value) > noise_of(before->value)) bank_ = {};
        bank_.measured(value_us);
        const bool differs = !std::isfinite(*announced_us_) ||
                             std::abs(value_us - *announced_us_) > noise_of(*announced_us_);
        return differs ? std::optional(announce(value_us)) : std::nullopt;
    }
    return rule_.threshold_percent ? by_threshold(value_us) : by_forecast(value_us);
}

std::optional<double> ChangeDetector::by_threshold(double value_us) {
    bank_.measured(value_us);
    if (std::abs(value_us - *announced_us_) <= band_us()) return std::nullopt;
    return announce(value_us);
}

std::optional<double> ChangeDetector::by_forecast(double value_us) {
    damping_ *= damping_kept;
    error_before_us_ *= error_kept;
    doubting_ = std::max(doubting_ - 1, 0);
    on_trial_ = std::max(on_trial_ - 1, 0);
    // While outside, the band stays as it was: the step that is to be confirmed is no error.
    if (outside_ == 0) {
        band_inside_us_ = band_us();
        error_inside_us_ = error_us();
    }
    const double band = band_inside_us_;
    const double off_us = value_us - *announced_us_;
    // An outlier counts as an error of the forecast, but not by its full size: one would make the
    // band too wide to notice anything for a long time.
    bank_.measured(std::clamp(value_us, *announced_us_ - 2 * band, *announced_us_ + 2 * band));
    if (std::abs(off_us) > band) return outside(value_us);
    outside_ = 0;
    return drifted();
}

std::optional<double> ChangeDetector::outside(double value_us) {
    const bool above = value_us > *announced_us_;
    const bool first = outside_ == 0 || (outside_ > 0) != above;
    nearest_us_ = first   ? value_us
                  : above ? std::min(nearest_us_, value_us)
                          : std::max(nearest_us_, value_us);
    outside_ = (first ? 0 : outside_) + (above ? 1 : -1);
    const bool is_large = large(value_us);
    const bool believed = is_large && doubting_ == 0;
    if (is_large && !believed) doubting_ = doubtful_measurements;
    if (std::abs(outside_) < (believed ? 1 : confirmations)) return std::nullopt;
    if (believed && on_trial_ > 0) doubting_ = doubtful_measurements;
    if (believed) on_trial_ = taken_back_within + 1;
    // Errors grow with the level.
    error_before_us_ = error_inside_us_ * std::min(1.0, nearest_us_ / *announced_us_);
    bank_ = {};
    bank_.measured(value_us);
    return announce(nearest_us_);
}

std::optional<double> ChangeDetector::drifted() {
    const double forecast_us = bank_.forecast()->value;
    const double settled_us = (noise_of(*announced_us_) + error_us()) * (1 + damping_);
    const bool off = std::abs(forecast_us - *announced_us_) > settled_us;
    drifting_ = off ? drifting_ + 1 : 0;
    if (drifting_ < drift_measurements) return std::nullopt;
    return announce(forecast_us);
}

double ChangeDetector::late_after_us() const {
    if (!was_measured()) return std::numeric_limits<double>::infinity();
    if (basis_ == Basis::silence) return *announced_us_;
    const auto forecast = bank_.forecast();
    const double level_us = std::max(*announced_us_, forecast ? forecast->value : 0);
    return level_us + std::max({late_errors * error_us(), late_percent / 100 * level_us, late_floor_us});
}

std::optional<double> ChangeDetector::overdue(double waited_us) {
    const double late_us = late_after_us();
    if (!std::isfinite(late_us) || waited_us < late_us) return std::nullopt;
    const double least_us = (basis_ == Basis::silence ? 2 : overdue_factor) * *announced_us_;
    announce(std::max(least_us, waited_us));
    basis_ = Basis::silence;
    return announced_us_;
}

void ChangeDetector::unreachable() {
    announce(std::numeric_limits<double>::infinity());
    basis_ = Basis::silence;
}

std::optional<double> BracketDetector::answered(double round_trip_us, double unnoticed_us) {
    const double most_us = round_trip_us / 2;
    const double least_us = std::max(round_trip_us - unnoticed_us, 0.0) / 2;
    // A bracket that is no wider than noise is a measurement.
    if (most_us - least_us <= detector_.noise_of(most_us)) {
        return detector_.measured((least_us + most_us) / 2);
    }
    // Ends that had not looked for long answered late: such replies are estimates, and the shortest is the best.
    const bool never = !std::isfinite(announced_us());
    if (never || (!was_measured() && announced_us() - most_us > detector_.noise_of(most_us))) {
        detector_.estimated(most_us);
        return most_us;
    }
    if (announced_us() > most_us) {
        return was_measured() ? detector_.measured(most_us) : std::nullopt;
    }
    return announced_us() < least_us ? detector_.measured(least_us) : std::nullopt;
}

}  // namespace mutirao
