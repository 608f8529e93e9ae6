// How one class of calls gets from a prediction to a choice that measurements support: calls by the
// predicted choice are timed first; if that is about as fast as the lower bound allows, nothing else is
// tried. Otherwise it takes turns with the MPI library's own and with other candidates (trial.h). A pure
// machine: ranks' reports in, rulings out.
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
    Trial::Interval time_us;  ///< of one call, the mean of the ranks
    std::size_t windows = 0;  ///< that it took part in
};

class Contest {
  public:
    /// `arms`: all that may be tried, the MPI library's own among them; the first is the predicted choice.
    /// Their predicted times stand in `predicted_us`. `reporters`: how many ranks report every window.
    Contest(ShapeClass shapes, std::vector<Arm> arms, std::vector<double> predicted_us,
            std::optional<double> bound_us, int reporters);

    /// How calls are to run from now on.
    Ruling ruling() const;
    /// True: ruling() has changed.
    bool hear(const TrialReport& report);

    bool settled() const { return phase_ == Phase::settled; }
    /// One line, once settled.
    const std::string& reason() const { return reason_; }
    /// What was measured, in the order of the arms; without those that never ran.
    std::vector<Measured> measured() const;

  private:
    enum class Phase : unsigned char { measuring, trying, settled };

    struct Window {
        int reports = 0;
        std::vector<double> sums_us;
        double longest_us = 0;  ///< of any rank and arm
    };

    void end_window(const Window& window);
    void end_measuring();
    void end_trial();
    std::vector<int> worth_trying(double chosen_us) const;
    void next_trial() { ++number_, windows_.clear(); }
    Trial::Interval time_of(int arm) const;

    ShapeClass shapes_;
    std::vector<Arm> arms_;
    std::vector<double> predicted_us_;
    std::optional<double> bound_us_;
    int reporters_;
    int repetitions_;
    Phase phase_ = Phase::measuring;
    std::uint32_t number_ = 1;
    std::map<std::uint64_t, Window> windows_;  ///< of which some reports are missing
    std::vector<double> measured_us_, longest_us_;  ///< of the predicted choice, while it is alone
    std::vector<int> entered_;     ///< arms by the number that the trial has for them
    std::optional<Trial> trial_;
    int chosen_ = 0;
    std::string reason_;
};

/// A contest for a decision that prediction has made; nothing if there is nothing to choose from.
std::optional<Contest> contest_for(const CallShape& shape, const Decision& decision,
                                   const RankNetwork& network, int reporters);

}  // namespace mutirao
