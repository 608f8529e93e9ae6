#include "core/selection/contest.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/text/milliseconds.h"

namespace mutirao {
namespace {

/// As near to the lower bound as this nothing is left to gain that would be worth trying.
constexpr double near_bound = 1.05;
constexpr std::size_t windows_alone = 3;
/// What is predicted to take so much longer than the present choice was measured to take is not tried.
/// Predictions of what the MPI library does by itself are worse.
constexpr double hopeless = 1.5;
constexpr double hopeless_native = 3;
constexpr std::size_t most_arms = 4;
/// Windows of short calls hold several of each arm: a clock does not tell one from another.
constexpr double least_window_us = 500;
constexpr int most_repetitions = 32;

std::string in_ms(double us) { return milliseconds(us, us < 1000 ? 4 : 3); }

std::string in_ms(const Trial::Interval& time) {
    return in_ms(time.median) + " (" + in_ms(time.low) + " to " + in_ms(time.high) + ")";
}

}  // namespace

Contest::Contest(ShapeClass shapes, std::vector<Arm> arms, std::vector<double> predicted_us,
                 std::optional<double> bound_us, int reporters)
    : shapes_(shapes),
      arms_(std::move(arms)),
      predicted_us_(std::move(predicted_us)),
      bound_us_(bound_us),
      reporters_(reporters),
      repetitions_(static_cast<int>(
          std::clamp(std::ceil(least_window_us / predicted_us_.front()), 1.0,
                     static_cast<double>(most_repetitions)))) {}

Ruling Contest::ruling() const {
    const auto arm = [this](int number) -> const Arm& {
        return arms_[static_cast<std::size_t>(number)];
    };
    Ruling ruling{shapes_, arm(chosen_).candidate, arm(chosen_).tree};
    if (settled()) return ruling;
    ruling.trial = number_;
    ruling.repetitions = repetitions_;
    if (phase_ == Phase::measuring) return ruling;
    const std::vector<int>& alive = trial_->alive();
    const auto number_of = [this](int entered) { return entered_[static_cast<std::size_t>(entered)]; };
    ruling.candidate = arm(number_of(alive.front())).candidate;
    ruling.tree = arm(number_of(alive.front())).tree;
    for (std::size_t i = 1; i < alive.size(); ++i) {
        ruling.others.push_back(arm(number_of(alive[i])));
    }
    return ruling;
}

bool Contest::hear(const TrialReport& report) {
    const std::size_t arms = phase_ == Phase::trying ? trial_->alive().size() : 1;
    if (settled() || report.trial != number_ || report.times_us.size() != arms) return false;
    Window& window = windows_[report.window];
    window.sums_us.resize(arms, 0);
    for (std::size_t i = 0; i < arms; ++i) {
        window.sums_us[i] += report.times_us[i];
        window.longest_us = std::max(window.longest_us, report.times_us[i]);
    }
    if (++window.reports < reporters_) return false;
    const Window whole = std::move(window);
    windows_.erase(report.window);
    const Ruling before = ruling();
    end_window(whole);
    return !(ruling() == before);
}

void Contest::end_window(const Window& window) {
    std::vector<double> times_us;
    for (const double sum_us : window.sums_us) times_us.push_back(sum_us / reporters_);
    if (phase_ == Phase::measuring) {
        measured_us_.push_back(times_us.front());
        longest_us_.push_back(window.longest_us);
        if (measured_us_.size() == windows_alone) end_measuring();
        return;
    }
    const std::vector<int> before = trial_->alive();
    trial_->add_window(times_us);
    if (trial_->winner() != undecided) {
        end_trial();
    } else if (trial_->alive().size() < before.size()) {
        next_trial();
    }
}

void Contest::end_measuring() {
    const double longest_us = median_interval(longest_us_).median;
    if (bound_us_ && longest_us <= near_bound * *bound_us_) {
        phase_ = Phase::settled;
        reason_ = "measured " + in_ms(longest_us) + ", and nothing can take less than " +
                  in_ms(*bound_us_);
        return;
    }
    entered_ = worth_trying(median_interval(measured_us_).median);
    if (entered_.size() == 1) {
        phase_ = Phase::settled;
        reason_ = "measured " + in_ms(longest_us) + ", and no other is predicted to come near";
        return;
    }
    phase_ = Phase::trying;
    trial_.emplace(static_cast<int>(entered_.size()));
    next_trial();
}

// The MPI library's own first, if it takes part: it wins ties.
std::vector<int> Contest::worth_trying(double chosen_us) const {
    std::vector<int> numbers{0};
    for (std::size_t i = 1; i < arms_.size(); ++i) {
        const bool native = arms_[i].candidate.native();
        const double limit = native ? hopeless_native : hopeless;
        if (predicted_us_[i] > limit * std::max(chosen_us, predicted_us_.front())) continue;
        numbers.insert(native ? numbers.begin() : numbers.end(), static_cast<int>(i));
    }
    return numbers;
}

void Contest::end_trial() {
    phase_ = Phase::settled;
    chosen_ = entered_[static_cast<std::size_t>(trial_->winner())];
    reason_ = "measured " + in_ms(time_of(chosen_));
    for (const int other : entered_) {
        if (other == chosen_) continue;
        reason_ += "; " + to_string(arms_[static_cast<std::size_t>(other)].candidate) + " " +
                   in_ms(time_of(other));
    }
}

Trial::Interval Contest::time_of(int arm) const {
    const auto entered = std::find(entered_.begin(), entered_.end(), arm);
    if (!trial_ || entered == entered_.end()) return median_interval(measured_us_);
    return trial_->time_of(static_cast<int>(entered - entered_.begin()));
}

std::vector<Measured> Contest::measured() const {
    std::vector<Measured> result;
    for (int arm = 0; arm < static_cast<int>(arms_.size()); ++arm) {
        const auto entered = std::find(entered_.begin(), entered_.end(), arm);
        const std::size_t windows =
            entered == entered_.end()
                ? (arm == 0 ? measured_us_.size() : 0)
                : trial_->windows_of(static_cast<int>(entered - entered_.begin()));
        if (windows > 0) {
            result.push_back({arms_[static_cast<std::size_t>(arm)].candidate, time_of(arm), windows});
        }
    }
    return result;
}

// The fastest by prediction, and the MPI library's own. Of an algorithm only the best parameters: trials tell
// algorithms apart sooner than segments. Calls whose lengths nobody knows are no measure for each other.
std::optional<Contest> contest_for(const CallShape& shape, const Decision& decision,
                                   const RankNetwork& network, int reporters) {
    const ShapeClass shapes = class_of(shape);
    if (decision.considered.empty() || shapes.length_class == any_length) return std::nullopt;
    std::vector<Arm> arms{{decision.chosen, decision.tree}};
    std::vector<double> predicted_us(1, 0.0);
    for (const Evaluated& each : decision.considered) {
        if (each.candidate == decision.chosen) {
            predicted_us.front() = each.predicted_us;
            continue;
        }
        const bool known = std::any_of(arms.begin(), arms.end(), [&](const Arm& arm) {
            return arm.candidate.algorithm == each.candidate.algorithm;
        });
        const bool others_will_do = arms.size() + 1 >= most_arms && !each.candidate.native();
        if (known || others_will_do) continue;
        auto ruling = ruling_for(each.candidate, shape, network.topology(), network.placement());
        if (!ruling) continue;
        arms.push_back({each.candidate, std::move(ruling->tree)});
        predicted_us.push_back(each.predicted_us);
    }
    if (arms.size() == 1 || predicted_us.front() <= 0) return std::nullopt;
    return Contest(shapes, std::move(arms), std::move(predicted_us), decision.bound_us,
                   reporters);
}

}  // namespace mutirao
