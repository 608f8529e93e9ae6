// Says when a link is no longer what its host last told the others, and what to tell them. A pure
// machine for one link: the caller measures, keeps time and spreads the news.
//
// By default the link's own forecast error judges (Bank): what lies outside the announced value
// by several errors, and by more than the noise that any measurement has, is a change once it
// was measured twice in a row. Against flapping, each announcement makes the band wider for a
// while, as routers damp routes that come and go (RFC 2439). With a threshold in percent instead,
// the paper's plain rule (Thome and Drummond, section 4): every measurement that differs from the
// announced value by more than that is announced.
#pragma once

#include <cstdint>
#include <optional>

#include "core/forecast/bank.h"

namespace mutirao {

struct ChangeRule {
    /// A change by such a factor, and by at least so much, is believed at once; unless the link has
    /// just shown that its large steps are single outliers.
    static constexpr double large_factor = 3, large_change_us = 10'000;

    /// Nothing: judged by forecast error. Otherwise percent of the announced value.
    std::optional<double> threshold_percent;
};

class ChangeDetector {
  public:
    /// `announced`: what all hosts already hold this link to be, if anything.
    explicit ChangeDetector(ChangeRule rule = {}, std::optional<double> announced = std::nullopt);

    /// What the link seems to be, found by other means before anything was measured. Announced, until
    /// the first measurement, which is announced at once if it differs.
    void estimated(double value_us);
    /// A new measurement, finite and not negative. Returns the value to announce, if any.
    std::optional<double> measured(double value_us);

    /// No reply for so long, in the unit of what is measured: who measures half round trips passes
    /// half of what it has waited. To be called when two probes in a row are late, since a single
    /// one may be lost. Returns the value to announce, if any: provisional, large enough that trees
    /// go round the link, at least what has been waited, and at least twice the one before. The
    /// first measurement after it is announced at once if it differs.
    std::optional<double> overdue(double waited_us);
    /// The least wait with which overdue() is worth calling; infinite: never, as long as nothing was
    /// measured.
    double late_after_us() const;

    /// The link carries nothing: announced as infinite by the caller. The next measurement is
    /// announced at once.
    void unreachable();

    std::optional<double> announced() const { return announced_us_; }
    /// By a measurement, or in place of one: not merely estimated.
    bool was_measured() const { return announced_us_ && basis_ != Basis::estimate; }
    /// The last measurement was better than what is announced, by more than noise, and waits for
    /// another one to confirm it. Nothing makes a link look better than it is, so a second one may
    /// follow at once; of worse ones both could have met the same burst.
    bool better_unconfirmed() const { return outside_ < 0; }
    std::optional<Forecast> forecast() const { return bank_.forecast(); }
    const Bank& bank() const { return bank_; }
    /// By how much a measurement may differ from the announced value without being a change.
    double band_us() const;
    /// What is never a change at that level, however steady the link.
    static double noise_of(double level_us);

  private:
    /// What was announced last rests on.
    enum class Basis : std::uint8_t { measurement, estimate, silence };

    std::optional<double> by_threshold(double value_us);
    std::optional<double> by_forecast(double value_us);
    std::optional<double> outside(double value_us);
    std::optional<double> drifted();
    double error_us() const;
    bool large(double value_us) const;
    double announce(double value_us);

    ChangeRule rule_;
    Bank bank_;
    std::optional<double> announced_us_;
    Basis basis_ = Basis::measurement;
    double damping_ = 2;        ///< grows with each announcement, fades with each measurement; at
                                ///< first nothing is known of the link's errors
    double error_before_us_ = 0;  ///< of the forecasts before the bank started afresh; fades
    double band_inside_us_ = 0;   ///< before the measurements outside the band
    double error_inside_us_ = 0;  ///< likewise
    int outside_ = 0;           ///< measurements in a row outside the band, negative: below it
    double nearest_us_ = 0;     ///< of these the nearest to what is announced
    int drifting_ = 0;          ///< measurements in a row with the forecast off the announced value
    int on_trial_ = 0;          ///< for so many measurements, a large step shows an outlier
    int doubting_ = 0;          ///< for so many measurements, large steps are not believed at once
};

/// Judges a link whose ends look for messages only now and then, as MPI ranks do while they are inside
/// calls. A reply says only that the round trip took no longer than this, and no less than this minus
/// the time for which messages may have lain unnoticed. So the announced latency stands as long as
/// it lies between the two; else the nearer one is what was measured. Silence says nothing here: the
/// other end may be busy with something else.
class BracketDetector {
  public:
    /// `announced_us`: what all hosts already hold this link to be, one way.
    BracketDetector(const ChangeRule& rule, double announced_us) : detector_(rule, announced_us) {}

    /// A reply came after `round_trip_us`; for up to `unnoticed_us` of them it, or what it answers,
    /// may have lain unnoticed. Returns the latency to announce, one way, if any.
    std::optional<double> answered(double round_trip_us, double unnoticed_us);

    /// One way.
    double announced_us() const { return *detector_.announced(); }
    /// Not merely estimated from a first reply that was late.
    bool was_measured() const { return detector_.was_measured(); }

  private:
    ChangeDetector detector_;
};

}  // namespace mutirao
