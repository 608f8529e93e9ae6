#include "core/selection/trial.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace mutirao {
namespace {

TEST(Turns, GiveEveryArmItsShareOfEveryWindowInARow) {
    constexpr int repetitions = 3;
    for (int arms = 1; arms <= 7; ++arms) {
        const Turns turns{arms, repetitions};
        std::vector<int> begins(static_cast<std::size_t>(arms), 0);
        for (std::uint64_t window = 0; window < 200; ++window) {
            std::vector<int> order;
            for (int i = 0; i < turns.window_calls(); ++i) {
                const std::uint64_t call = window * static_cast<std::uint64_t>(turns.window_calls()) +
                                           static_cast<std::uint64_t>(i);
                const int arm = turns.arm_of(call);
                ASSERT_GE(arm, 0);
                ASSERT_LT(arm, arms);
                const bool in_a_row = !order.empty() && order.back() == arm;
                EXPECT_EQ(in_a_row, i % repetitions != 0);
                EXPECT_EQ(turns.counts(call), in_a_row);
                if (!in_a_row) {
                    EXPECT_EQ(std::count(order.begin(), order.end(), arm), 0);
                }
                order.push_back(arm);
            }
            ++begins[static_cast<std::size_t>(order.front())];
        }
        for (const int count : begins) EXPECT_NEAR(count, 200 / arms, 60) << arms;
    }
}

// Fault: turns that a program's own rhythm fits, say every fourth call of it late.
TEST(Turns, FitNoRhythmOfTheProgram) {
    for (const int arms : {2, 4}) {
        const Turns turns{arms, 1};
        std::vector<int> late(static_cast<std::size_t>(arms), 0);
        for (std::uint64_t call = 0; call < 4000; call += 4) {
            ++late[static_cast<std::size_t>(turns.arm_of(call))];
        }
        for (const int count : late) EXPECT_NEAR(count, 1000 / arms, 100) << arms;
    }
}

// By brute force over all ways in which samples may lie about their median.
TEST(MedianInterval, LeavesOutAsManyAsItMay) {
    for (std::size_t samples = least_samples; samples <= 16; ++samples) {
        std::vector<double> ordered(samples);
        for (std::size_t i = 0; i < samples; ++i) ordered[i] = static_cast<double>(i);
        const auto held = median_interval(ordered);
        const auto outside = static_cast<std::size_t>(held.low);
        EXPECT_EQ(held.high, static_cast<double>(samples - 1 - outside));
        const auto chance_with = [&](std::size_t left_out) {
            std::size_t misses = 0;
            for (std::size_t below = 0; below < std::size_t{1} << samples; ++below) {
                const auto count = static_cast<std::size_t>(__builtin_popcountll(below));
                if (count <= left_out || count >= samples - left_out) ++misses;
            }
            return 1 - std::ldexp(static_cast<double>(misses), -static_cast<int>(samples));
        };
        EXPECT_GE(chance_with(outside), 0.98) << samples;
        EXPECT_LT(chance_with(outside + 1), 0.98) << samples;
    }
}

class Program {
  public:
    explicit Program(std::vector<double> medians, double spread, unsigned seed)
        : medians_(std::move(medians)), noise_(0, spread), random_(seed) {}

    /// Runs a trial to its end; by the way, how much longer its calls took than those of arm 0.
    int run(Trial& trial) {
        while (trial.winner() == undecided) {
            std::vector<double> times;
            const double drift = 1 + 0.5 * std::sin(static_cast<double>(trial.windows()) / 5);
            for (const int arm : trial.alive()) {
                const double median = medians_[static_cast<std::size_t>(arm)];
                times.push_back(drift * median * std::exp(noise_(random_)));
                extra_ += median / medians_[0] - 1;
            }
            trial.add_window(times);
        }
        return trial.winner();
    }
    double extra() const { return extra_; }

  private:
    std::vector<double> medians_;
    std::normal_distribution<double> noise_;
    std::mt19937 random_;
    double extra_ = 0;
};

TEST(Trial, FindsWhoIsClearlyFaster) {
    for (unsigned seed = 0; seed < 200; ++seed) {
        Trial trial(4);
        Program program({1.0, 0.8, 0.95, 1.3}, 0.03, seed);
        EXPECT_EQ(program.run(trial), 1) << seed;
        EXPECT_LE(trial.windows(), 24u);
    }
}

// Fault: giving up arm 0 for one that is better by less than the margin, or by chance.
TEST(Trial, KeepsWhatIsThereInATie) {
    int replaced = 0;
    for (unsigned seed = 0; seed < 500; ++seed) {
        Trial trial(4);
        Program program({1.0, 1.0, 1.0, 0.99}, 0.1, seed);
        if (program.run(trial) != 0) ++replaced;
    }
    EXPECT_LE(replaced, 10);
}

// Fault: trying until the last window what will not become clearer.
TEST(Trial, SoonEndsATieOfTwo) {
    Trial trial(2);
    Program program({1.0, 1.0}, 0.01, 1);
    EXPECT_EQ(program.run(trial), 0);
    EXPECT_LE(trial.windows(), 10u);
}

TEST(Trial, SoonGivesUpWhatIsFarSlower) {
    Trial trial(3);
    Program program({1.0, 100, 30}, 0.2, 1);
    EXPECT_EQ(program.run(trial), 0);
    EXPECT_EQ(trial.windows(), 2u);
    EXPECT_LT(program.extra(), 300);
}

TEST(Trial, TellsWhatItMeasured) {
    Trial trial(2);
    for (int window = 0; window < 4; ++window) {
        trial.add_window({10.0 + window, 11.0 + window});
    }
    EXPECT_EQ(trial.alive(), (std::vector<int>{0, 1}));
    EXPECT_DOUBLE_EQ(trial.time_of(1).median, 12.5);
    EXPECT_DOUBLE_EQ(trial.time_of(1).low, 11);
    EXPECT_DOUBLE_EQ(trial.time_of(1).high, 14);
}

}  // namespace
}  // namespace mutirao
