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
/// Predictions of what the MPI library does by itself are worse, and so are those where prediction did not
/// dare to choose.
constexpr double hopeless = 1.5;
constexpr double hopeless_native = 3;
/// Of the catalogue's schedules, beside the predicted choice.
constexpr std::size_t most_others = 2, most_beside_native = 4;
/// Windows of short calls hold several of each arm: a clock does not tell one from another.
constexpr double least_window_us = 500;
constexpr int most_repetitions = 128;

/// A network that changes predictions by less leaves a class alone.
constexpr double changed_ratio = 1.2;

/// So many windows of a trial may cost what they will. Then what its arms take beyond the present choice is
/// kept to this share of the time that the class spends in calls.
constexpr std::size_t windows_on_credit = 8;
constexpr double trying_share = 0.01;
constexpr double watching_share = 0.005;
/// Every round that native loses makes the next one so much rarer.
constexpr int most_doublings = 6;
constexpr double least_rest_windows = 20;
constexpr double most_rest_calls = 1e8;

/// Reports of later windows overtake none of an earlier one of the same rank, so few wait for others.
constexpr std::size_t most_windows_waiting = 64;

std::string duration(const Trial::Interval& time) {
    return mutirao::duration(time.median) + " (" + mutirao::duration(time.low) + " to " +
           mutirao::duration(time.high) + ")";
}

}  // namespace

Contest::Contest(Contestants contestants, int reporters)
    : contestants_(std::move(contestants)),
      reporters_(reporters),
      repetitions_(repetitions_of(predicted_us(0))),
      known_(contestants_.arms.size()) {}

int Contest::repetitions_of(double call_us) const {
    return static_cast<int>(std::clamp(std::ceil(least_window_us / call_us), 1.0,
                                       static_cast<double>(most_repetitions)));
}

void Contest::begin_settled(const Candidate& candidate, const std::vector<Measured>& remembered) {
    const auto chosen = number_of(candidate);
    if (!chosen) return;
    chosen_ = *chosen;
    for (const Measured& each : remembered) {
        const auto number = number_of(each.candidate);
        if (!number) continue;
        known(*number) = {each.time_us, each.windows};
        entered_.push_back(*number);
    }
    repetitions_ = repetitions_of(expected_us(chosen_));
    settle("by the profile: " + measured_text());
    watch();
}

// Of the chosen one and of those that it was compared with.
std::string Contest::measured_text() const {
    std::string text = "measured " + duration(known(chosen_).time_us);
    for (const int other : entered_) {
        if (other == chosen_) continue;
        text += "; " + to_string(arm(other).candidate) + " " + duration(known(other).time_us);
    }
    return text;
}

Ruling Contest::ruling() const {
    const Arm& first = arm(running_.front());
    Ruling ruling{contestants_.shapes, first.candidate, first.tree};
    if (phase_ == Phase::settled) return ruling;
    ruling.trial = number_;
    ruling.repetitions = repetitions_;
    ruling.rest_calls = rest_calls_;
    for (std::size_t i = 1; i < running_.size(); ++i) ruling.others.push_back(arm(running_[i]));
    return ruling;
}

bool Contest::hear(const TrialReport& report) {
    const std::size_t arms = running_.size();
    if (phase_ == Phase::settled || report.trial != number_ || report.times_us.size() != arms) {
        return false;
    }
    Window& window = windows_[report.window];
    window.sums_us.resize(arms, 0);
    window.slowest_us.resize(arms, 0);
    for (std::size_t i = 0; i < arms; ++i) {
        window.sums_us[i] += report.times_us[i];
        window.slowest_us[i] = std::max(window.slowest_us[i], report.times_us[i]);
    }
    if (++window.reports < reporters_) {
        if (windows_.size() > most_windows_waiting) windows_.erase(windows_.begin());
        return false;
    }
    const Window whole = std::move(window);
    windows_.erase(report.window);
    const Ruling before = ruling();
    end_window(whole);
    return !(ruling() == before);
}

void Contest::end_window(const Window& window) {
    if (!warm_) {
        warm_ = true;
        return;
    }
    if (phase_ == Phase::measuring) return end_measuring(window);
    std::vector<double> times_us;
    for (const int number : trial_->alive()) {
        const int entered = entered_[static_cast<std::size_t>(number)];
        const auto place = std::find(running_.begin(), running_.end(), entered) - running_.begin();
        times_us.push_back(time_us(window, static_cast<std::size_t>(place)));
    }
    end_window_of_trial(times_us);
}

// Where every rank waits for every other their mean is the least disturbed. Elsewhere ranks may return long before
// others are done, and the slowest one alone tells what a row of calls takes.
double Contest::time_us(const Window& window, std::size_t running) const {
    const Collective collective = contestants_.shapes.collective;
    const bool one_way = row_of(collective).rooted || collective == Collective::scan ||
                         collective == Collective::exscan;
    return one_way ? window.slowest_us[running] : window.sums_us[running] / reporters_;
}

void Contest::end_measuring(const Window& window) {
    measured_us_.push_back(time_us(window, 0));
    longest_us_.push_back(window.slowest_us.front());
    known(0) = {median_interval(measured_us_), measured_us_.size()};
    if (measured_us_.size() < windows_alone) return;
    const double longest_us = median_interval(longest_us_).median;
    const std::optional<double>& bound_us = contestants_.bound_us;
    if (bound_us && longest_us <= near_bound * *bound_us) {
        return settle("measured " + mutirao::duration(longest_us) +
                      ", and nothing is predicted to take less than " + mutirao::duration(*bound_us));
    }
    repetitions_ = repetitions_of(known(0).time_us.median);
    std::vector<int> numbers = worth_trying();
    if (numbers.size() > 1) {
        phase_ = Phase::trying;
        warm_ = repetitions_ == 1;
        return try_out(std::move(numbers));
    }
    settle("measured " + mutirao::duration(longest_us) + ", and no other is predicted to come near");
    watch();
}

// The MPI library's own first, if it takes part: it wins ties.
std::vector<int> Contest::worth_trying() const {
    const bool dared = !arm(0).candidate.native();
    const double present_us = std::max(known(0).time_us.median, predicted_us(0));
    std::vector<int> numbers{0};
    for (int i = 1; i < static_cast<int>(contestants_.arms.size()); ++i) {
        const bool native = arm(i).candidate.native();
        const bool guessed = !arm(i).candidate.algorithm->has_schedule() || !dared;
        if (predicted_us(i) > (guessed ? hopeless_native : hopeless) * present_us) continue;
        numbers.insert(native ? numbers.begin() : numbers.end(), i);
    }
    return numbers;
}

void Contest::try_out(std::vector<int> numbers) {
    entered_ = std::move(numbers);
    trial_.emplace(static_cast<int>(entered_.size()));
    take_turns();
}

// Who is fastest so far also runs between windows.
void Contest::take_turns() {
    const int present = trial_->windows() > 0
                            ? entered_[static_cast<std::size_t>(trial_->fastest())]
                            : chosen_;
    running_ = {present};
    for (const int number : trial_->alive()) {
        const int entered = entered_[static_cast<std::size_t>(number)];
        if (entered != present) running_.push_back(entered);
    }
    rest_calls_ = rest_calls();
    ++number_;
    windows_.clear();
}

double Contest::expected_us(int number) const {
    return known(number).windows > 0 ? known(number).time_us.median : predicted_us(number);
}

// For which the arms' calls of a window are the share allowed of all calls' time.
std::uint32_t Contest::rest_calls() const {
    const bool watching = phase_ == Phase::watching;
    if (!watching && trial_->windows() < windows_on_credit) return 0;
    const double present_us = expected_us(running_.front());
    double lost_us = 0;
    for (const int number : running_) {
        lost_us += std::max(expected_us(number) - present_us, 0.0) * repetitions_;
    }
    const double rest = lost_us / (present_us * (watching ? watching_share : trying_share));
    if (!watching) return static_cast<std::uint32_t>(std::min(rest, most_rest_calls));
    const double least = least_rest_windows * repetitions_ * static_cast<double>(running_.size());
    return static_cast<std::uint32_t>(
        std::min(std::max(rest, least) * (1 << std::min(rounds_watched_, most_doublings)),
                 most_rest_calls));
}

void Contest::end_window_of_trial(const std::vector<double>& times_us) {
    const std::vector<int> before = trial_->alive();
    trial_->add_window(times_us);
    for (const int number : before) {
        known(entered_[static_cast<std::size_t>(number)]) = {trial_->time_of(number),
                                                             trial_->windows_of(number)};
    }
    if (trial_->winner() != undecided) {
        return phase_ == Phase::trying ? end_trial() : end_round_of_watching();
    }
    const bool credit_is_spent = phase_ == Phase::trying && trial_->windows() == windows_on_credit;
    if (trial_->alive().size() < before.size() || credit_is_spent) take_turns();
}

void Contest::end_trial() {
    chosen_ = entered_[static_cast<std::size_t>(trial_->winner())];
    settle(measured_text());
    watch();
}

void Contest::settle(std::string reason) {
    phase_ = Phase::settled;
    reason_ = std::move(reason);
    running_ = {chosen_};
    trial_.reset();
}

std::optional<int> Contest::number_of(const Candidate& wanted) const {
    for (int number = 0; number < static_cast<int>(contestants_.arms.size()); ++number) {
        if (arm(number).candidate == wanted) return number;
    }
    return std::nullopt;
}

// Where the MPI library's own has won, calls are to cost what they cost without us.
void Contest::watch() {
    const auto native = number_of(native_candidate(contestants_.shapes.collective));
    if (!contestants_.watched || !native || chosen_ == *native) return;
    phase_ = Phase::watching;
    try_out({chosen_, *native});
    if (first_watch_ == 0) first_watch_ = number_;
}

void Contest::end_round_of_watching() {
    const int winner = entered_[static_cast<std::size_t>(trial_->winner())];
    if (winner == chosen_) {
        ++rounds_watched_;
        return watch();
    }
    const std::string before = to_string(arm(chosen_).candidate) + " " + duration(known(chosen_).time_us);
    chosen_ = winner;
    settle("tried again: measured " + duration(known(chosen_).time_us) + "; " + before);
}

// Predictions of one network are as wrong as those of the other: their ratio says how much has changed.
bool Contest::questioned_by(const Decision& decision) const {
    for (const Evaluated& each : decision.considered) {
        if (!(each.candidate == chosen())) continue;
        const double ratio = each.predicted_us / predicted_us(chosen_);
        return ratio > changed_ratio || ratio < 1 / changed_ratio;
    }
    return !decision.considered.empty();
}

std::vector<Measured> Contest::measured() const {
    std::vector<Measured> result;
    for (int number = 0; number < static_cast<int>(contestants_.arms.size()); ++number) {
        if (known(number).windows > 0) {
            result.push_back({arm(number).candidate, known(number).time_us, known(number).windows});
        }
    }
    return result;
}

bool Contestants::has_like(const Evaluated& other) const {
    for (std::size_t i = 0; i < arms.size(); ++i) {
        const Candidate& candidate = arms[i].candidate;
        if (candidate.algorithm == other.candidate.algorithm) return true;
        if (candidate.algorithm->has_schedule() && predicted_us[i] == other.predicted_us) return true;
    }
    return false;
}

// The fastest by prediction, and the MPI library's own. Of an algorithm only the best parameters: trials tell
// algorithms apart sooner than segments; and one of those that take exactly as long, which among few ranks
// exchange the same messages. What the MPI library runs is predicted too badly to be left out by that. Calls whose
// lengths nobody knows are no measure for each other.
std::optional<Contest> contest_for(const CallShape& shape, const Decision& decision,
                                   const RankNetwork& network, int reporters, bool watched) {
    const ShapeClass shapes = class_of(shape);
    if (decision.considered.empty() || shapes.length_class == any_length) return std::nullopt;
    std::size_t room = decision.chosen.native() ? most_beside_native : most_others;
    Contestants all{shapes, {{decision.chosen, decision.tree}}, {0.0}, decision.bound_us, watched};
    for (const Evaluated& each : decision.considered) {
        if (each.candidate == decision.chosen) {
            all.predicted_us.front() = each.predicted_us;
            continue;
        }
        const bool has_schedule = each.candidate.algorithm->has_schedule();
        if (has_schedule && (room == 0 || all.has_like(each))) continue;
        auto ruling = ruling_for(each.candidate, shape, network.topology(), network.placement());
        if (!ruling) continue;
        room -= has_schedule ? 1 : 0;
        all.arms.push_back({each.candidate, std::move(ruling->tree)});
        all.predicted_us.push_back(each.predicted_us);
    }
    if (all.arms.size() == 1 || all.predicted_us.front() <= 0) return std::nullopt;
    return Contest(std::move(all), reporters);
}

}  // namespace mutirao
