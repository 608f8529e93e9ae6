// Trials: several arms run in turns inside the program, and what their calls took decides between them.
// Turns follow from the number of a call, so that skew, noise and the program's own rhythm meet all
// arms alike; arms are compared window by window, by ratios, so that drift cancels out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace mutirao {

/// How calls take turns. A window holds so many calls of every arm, those of one after another, as a program
/// makes them that calls again and again: where ranks return before others have what they sent, a single call
/// says nothing of that. The order of the arms is another in each window. Between two windows calls rest:
/// they run by the first arm, and nobody looks at the clock.
struct Turns {
    int arms = 1;
    int repetitions = 1;
    std::uint32_t rest_calls = 0;  ///< before every window

    int window_calls() const { return arms * repetitions; }
    /// The arm of the n-th call in windows, counted from 0; equal on all ranks.
    int arm_of(std::uint64_t call) const;
    /// The first of several calls in a row may wait for what another arm has left to do.
    bool counts(std::uint64_t call) const {
        return repetitions == 1 || call % static_cast<std::uint64_t>(repetitions) != 0;
    }
    /// Of each arm in a window.
    int counted_calls() const { return repetitions == 1 ? 1 : repetitions - 1; }

    bool operator==(const Turns&) const = default;
};

/// Nothing is known yet of who wins.
inline constexpr int undecided = -1;

/// The decider's judgement. Arm 0 is what is there without a trial, the MPI library's own as a rule: it
/// wins ties, and whoever replaces it must be better by a margin.
///
/// By medians and order statistics (Hunold and Carpen-Amarie 2016, doi:10.1109/TPDS.2016.2539167, on how
/// far from normal the times of collectives are): an arm is given up when the interval of its ratio to
/// the present best, which holds the median with at least 98%, shows that it is not better by the margin, or
/// after two windows when it was far slower in both.
class Trial {
  public:
    struct Rules {
        double margin = 0.03;     ///< by which arm 0 must be beaten
        double far_slower = 1.5;
        int most_windows = 24;    ///< then a tie is a tie
    };

    explicit Trial(int arms) : Trial(arms, Rules{}) {}
    Trial(int arms, Rules rules);

    /// What a call of each arm took in one window, in the order of alive(), in any unit.
    void add_window(const std::vector<double>& times);
    /// The arms that still take part, in their order.
    const std::vector<int>& alive() const { return alive_; }
    /// The last one left, or undecided.
    int winner() const { return alive_.size() == 1 ? alive_.front() : undecided; }
    std::size_t windows() const { return windows_; }
    /// Of those alive, by medians; before the first window the first.
    int fastest() const;

    struct Interval {
        double low = 0;
        double median = 0;
        double high = 0;
    };
    /// Of an arm's times in windows in which it took part.
    Interval time_of(int arm) const;
    std::size_t windows_of(int arm) const {
        return times_[static_cast<std::size_t>(arm)].size();
    }

  private:
    bool loses(int arm, int best) const;
    bool ties_with_first(int arm) const;
    std::vector<double> ratios(int arm, int best) const;

    Rules rules_;
    std::size_t windows_ = 0;
    std::vector<int> alive_;
    std::vector<std::vector<double>> times_;  ///< by arm, a time for each window that it saw
};

/// The interval between two order statistics that holds the median with at least 98%; all of the samples
/// where they are too few for that. Empty: all 0.
Trial::Interval median_interval(std::vector<double> samples);

/// So few samples prove nothing: their extremes hold the median less surely than with 98%.
inline constexpr std::size_t least_samples = 7;

}  // namespace mutirao
