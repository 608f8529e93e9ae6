#include "core/forecast/bracket_detector.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

namespace mutirao {
namespace {

constexpr double ms = 1000;

/// A host that looks for messages only during the first part of each period: what has come meanwhile
/// it finds when it looks next.
class SeldomLooker {
  public:
    SeldomLooker(double period_us, double inside_us, double offset_us)
        : period_us_(period_us), inside_us_(inside_us), offset_us_(offset_us) {}

    /// When it looks, at `at_us` or after.
    double next_look(double at_us) const {
        const double within_us = std::fmod(at_us + offset_us_, period_us_);
        return within_us < inside_us_ ? at_us : at_us + period_us_ - within_us;
    }
    /// For how long at most something may have lain that is found now: since the last time inside.
    double unnoticed(double arrived_us, double found_us) const {
        return found_us == arrived_us ? 0 : period_us_ - inside_us_;
    }

  private:
    double period_us_;
    double inside_us_;
    double offset_us_;
};

struct Link {
    SeldomLooker here;
    SeldomLooker there;

    /// One probe sent when this end looks next; returns what is announced, and moves the time on.
    std::optional<double> probe(BracketDetector& detector, double latency_us, double& now_us) const {
        const double sent_us = here.next_look(now_us);
        const double at_us = sent_us + latency_us;
        const double answered_us = there.next_look(at_us);
        const double back_us = answered_us + latency_us;
        now_us = here.next_look(back_us);
        return detector.answered(now_us - sent_us, there.unnoticed(at_us, answered_us) +
                                                       here.unnoticed(back_us, now_us));
    }
};

Link random_link(std::mt19937& random) {
    std::uniform_real_distribution<double> share(0.02, 1);
    const double period_us = 500 * ms;
    return {{period_us, share(random) * period_us, share(random) * period_us},
            {period_us, share(random) * period_us, share(random) * period_us}};
}

TEST(BracketDetector, TakesAPromptReplyForAMeasurement) {
    BracketDetector detector({}, 100 * ms);
    EXPECT_EQ(detector.answered(200 * ms, 0), std::nullopt);
    EXPECT_EQ(detector.answered(2000 * ms, 0), 1000 * ms);
}

TEST(BracketDetector, TakesTheMiddleOfWhatIsNarrowerThanNoise) {
    BracketDetector detector({}, 100 * ms);
    EXPECT_EQ(detector.answered(2000 * ms, 100 * ms), 975 * ms);
}

TEST(BracketDetector, KeepsWhatALateReplyAllows) {
    BracketDetector detector({}, 100 * ms);
    for (int i = 0; i < 100; ++i) {
        EXPECT_EQ(detector.answered(700 * ms, 600 * ms), std::nullopt);
    }
    EXPECT_EQ(detector.announced_us(), 100 * ms);
}

TEST(BracketDetector, TakesTheNearestOfWhatALateReplyAllows) {
    BracketDetector worse({}, 10 * ms);
    EXPECT_EQ(worse.answered(700 * ms, 600 * ms), 50 * ms);
    BracketDetector better({}, 1000 * ms);
    for (int i = 0; i < 3 && better.announced_us() == 1000 * ms; ++i) {
        better.answered(700 * ms, 600 * ms);
    }
    EXPECT_EQ(better.announced_us(), 350 * ms);
}

TEST(BracketDetector, TakesABetterReplyThanTheFirstAtOnce) {
    BracketDetector detector({}, std::numeric_limits<double>::infinity());
    EXPECT_EQ(detector.answered(110 * ms, std::numeric_limits<double>::infinity()), 55 * ms);
    EXPECT_EQ(detector.answered(96 * ms, 40 * ms), 48 * ms);
    EXPECT_EQ(detector.answered(110 * ms, 40 * ms), std::nullopt);
}

TEST(BracketDetector, SilentWhileTheLinkIsWhatItWas) {
    for (unsigned seed = 0; seed < 200; ++seed) {
        std::mt19937 random(seed);
        const Link link = random_link(random);
        BracketDetector detector({}, 80 * ms);
        double now_us = 0;
        for (int i = 0; i < 200; ++i) {
            ASSERT_EQ(link.probe(detector, 80 * ms, now_us), std::nullopt) << "seed " << seed;
            now_us += 37 * ms;
        }
    }
}

TEST(BracketDetector, SeesTenTimesWorseAndBackHoweverSeldomTheEndsLook) {
    for (unsigned seed = 0; seed < 200; ++seed) {
        std::mt19937 random(seed);
        const Link link = random_link(random);
        BracketDetector detector({}, 200 * ms);
        double now_us = 0;
        for (int i = 0; i < 10; ++i) link.probe(detector, 2000 * ms, now_us);
        // At worst both ends had just looked away; and half of 5% is taken for exact.
        EXPECT_GE(detector.announced_us(), 2000 * ms - 500 * ms) << "seed " << seed;
        EXPECT_LE(detector.announced_us(), 2050 * ms) << "seed " << seed;
        for (int i = 0; i < 10; ++i) link.probe(detector, 200 * ms, now_us);
        EXPECT_GE(detector.announced_us(), 195 * ms) << "seed " << seed;
        EXPECT_LE(detector.announced_us(), 200 * ms + 500 * ms) << "seed " << seed;
    }
}

}  // namespace
}  // namespace mutirao
