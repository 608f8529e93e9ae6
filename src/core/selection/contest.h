// How one class of calls gets from a prediction to a choice that measurements support: calls by the
// predicted choice are timed first; if that is about as fast as the lower bound allows, nothing else is
// tried. Otherwise it takes turns with the MPI library's own and with other candidates (trial.h). What wins
// is watched: the MPI library's own is tried again now and then, ever more rarely while it loses. A pure
// machine: ranks' reports in, rulings out.
//
// What trying costs beyond the present choice is bounded: after the first windows, which are credit, by a
// share of the time that the class spends in calls.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/selection/ruling.h"
#include "core/selection/selection.h"
#include "core/selection/trial.h"

namespace mutirao {

struct Measured {
    Candidate candidate;
    Trial::Interval time_us;  ///< of one call: see Contest::time_us
    std::size_t windows = 0;  ///< that it took part in
};

/// All that may be tried in one class of calls.
struct Contestants {
    ShapeClass shapes;
    std::vector<Arm> arms;             ///< the first is the predicted choice
    std::vector<double> predicted_us;  ///< of each
    std::optional<double> bound_us{};  ///< no algorithm can take less
    bool watched = true;               ///< also once settled

    /// The same algorithm, or what amounts to the same messages.
    bool has_like(const Evaluated& other) const;
};

class Contest {
  public:
    /// `reporters`: how many ranks report every window.
    Contest(Contestants contestants, int reporters);

    /// Without trials, by what an earlier job measured; nothing happens if the candidate is not among the arms.
    void begin_settled(const Candidate& candidate, const std::vector<Measured>& remembered);

    /// How calls are to run from now on.
    Ruling ruling() const;
    /// True: ruling() has changed.
    bool hear(const TrialReport& report);

    /// What was chosen is now predicted to take another time than before the network changed, so that what was
    /// measured says little.
    bool questioned_by(const Decision& decision) const;

    /// A choice has been made.
    bool settled() const { return phase_ == Phase::settled || phase_ == Phase::watching; }
    /// It had been made when that trial was ruled; a ruling may take effect when more has happened.
    bool had_settled_by(std::uint32_t trial) const { return first_watch_ != 0 && trial >= first_watch_; }
    const Candidate& chosen() const { return arm(chosen_).candidate; }
    /// One line, once settled.
    const std::string& reason() const { return reason_; }
    /// What was measured, in the order of the arms; without those that never ran.
    std::vector<Measured> measured() const;

  private:
    enum class Phase : unsigned char { measuring, trying, settled, watching };

    struct Window {
        int reports = 0;
        std::vector<double> sums_us, slowest_us;  ///< of all ranks, by running arm
    };
    struct Known {
        Trial::Interval time_us;
        std::size_t windows = 0;
    };

    const Arm& arm(int number) const { return contestants_.arms[static_cast<std::size_t>(number)]; }
    double predicted_us(int number) const {
        return contestants_.predicted_us[static_cast<std::size_t>(number)];
    }
    Known& known(int number) { return known_[static_cast<std::size_t>(number)]; }
    const Known& known(int number) const { return known_[static_cast<std::size_t>(number)]; }
    double expected_us(int number) const;
    std::optional<int> number_of(const Candidate& wanted) const;

    double time_us(const Window& window, std::size_t running) const;
    std::string measured_text() const;
    void end_window(const Window& window);
    void end_measuring(const Window& window);
    void end_window_of_trial(const std::vector<double>& times_us);
    void end_trial();
    void end_round_of_watching();
    void settle(std::string reason);
    void watch();
    std::vector<int> worth_trying() const;
    void try_out(std::vector<int> numbers);
    void take_turns();
    std::uint32_t rest_calls() const;
    int repetitions_of(double call_us) const;

    Contestants contestants_;
    int reporters_;
    int repetitions_;
    Phase phase_ = Phase::measuring;
    std::uint32_t number_ = 1;       ///< of the trial
    std::uint32_t first_watch_ = 0;  ///< the first trial that only watches what has been chosen; 0: none yet
    std::map<std::uint64_t, Window> windows_;  ///< of which some reports are missing
    std::vector<Known> known_;                 ///< by arm
    std::vector<double> measured_us_, longest_us_;  ///< of the predicted choice, while it is alone
    std::optional<Trial> trial_;
    std::vector<int> entered_;      ///< arms by the number that the trial has for them
    std::vector<int> running_{0};   ///< arms that take turns; the first also between windows
    std::uint32_t rest_calls_ = 0;
    bool warm_ = true;              ///< false: the first window counts for nothing
    int rounds_watched_ = 0;
    int chosen_ = 0;
    std::string reason_;
};

/// A contest for a decision that prediction has made; nothing if there is nothing to choose from.
std::optional<Contest> contest_for(const CallShape& shape, const Decision& decision,
                                   const RankNetwork& network, int reporters, bool watched);

}  // namespace mutirao
