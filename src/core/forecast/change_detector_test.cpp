#include "core/forecast/change_detector.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <random>
#include <vector>

namespace mutirao {
namespace {

constexpr double ms = 1000;

/// Feeds `count` measurements; returns what was announced meanwhile.
std::vector<double> feed(ChangeDetector& detector, int count,
                         const std::function<double(int)>& value_us) {
    std::vector<double> announced;
    for (int i = 0; i < count; ++i) {
        if (const auto news = detector.measured(value_us(i))) {
            EXPECT_EQ(detector.announced(), news);
            announced.push_back(*news);
        }
    }
    return announced;
}

std::vector<double> feed(ChangeDetector& detector, int count, double value_us) {
    return feed(detector, count, [=](int) { return value_us; });
}

/// A link of 100 ms that has been steady for long.
ChangeDetector steady() {
    ChangeDetector detector({}, 100 * ms);
    EXPECT_TRUE(feed(detector, 200, 100 * ms).empty());
    return detector;
}

TEST(ChangeDetector, TellsTheFirstMeasurementOnlyIfNobodyKnows) {
    ChangeDetector unknown;
    EXPECT_FALSE(unknown.announced());
    EXPECT_EQ(unknown.measured(100 * ms), 100 * ms);
    EXPECT_EQ(unknown.measured(100 * ms), std::nullopt);
    ChangeDetector known({}, 100 * ms);
    EXPECT_EQ(known.measured(101 * ms), std::nullopt);
    EXPECT_EQ(known.announced(), 100 * ms);
}

TEST(ChangeDetector, SilentOverNoise) {
    struct Link {
        const char* what;
        double level_us;
        double scatter_us;
    };
    for (const Link& link : {Link{"long, quiet", 175 * ms, 0.5 * ms},
                             Link{"long, uneven", 100 * ms, 10 * ms},
                             Link{"beside each other", 0.05 * ms, 0.03 * ms}}) {
        std::size_t news = 0;
        for (unsigned seed = 0; seed < 20; ++seed) {
            std::mt19937 random(seed);
            std::normal_distribution<double> value(link.level_us, link.scatter_us);
            ChangeDetector detector({}, link.level_us);
            news += feed(detector, 5000, [&](int) { return std::max(value(random), 0.0); }).size();
        }
        EXPECT_LE(news, 20U) << link.what << ", in 100,000 measurements";
    }
}

// A quarter of the measurements waited somewhere, as on a busy host. Caught when planted: outliers
// kept from the bank, so that the band never learns of them.
TEST(ChangeDetector, FewNewsOverFrequentOutliers) {
    std::mt19937 random(3);
    std::uniform_real_distribution<double> waited(0, 60 * ms);
    ChangeDetector detector({}, 50 * ms);
    const auto news = feed(detector, 10'000, [&](int) {
        return 50 * ms + (random() % 4 == 0 ? waited(random) : 0);
    });
    EXPECT_LE(news.size(), 40U);
}

// Caught when planted: one measurement confirms.
TEST(ChangeDetector, AModerateStepNeedsASecondMeasurement) {
    ChangeDetector detector = steady();
    EXPECT_EQ(detector.measured(150 * ms), std::nullopt);
    EXPECT_EQ(detector.measured(100 * ms), std::nullopt) << "it was an outlier";
    EXPECT_EQ(detector.measured(150 * ms), std::nullopt);
    EXPECT_EQ(detector.measured(180 * ms), 150 * ms) << "what both measurements bear out";
    EXPECT_TRUE(feed(detector, 50, 152 * ms).empty());
    EXPECT_NEAR(detector.forecast()->value, 152 * ms, 1 * ms) << "forecasts begin at the new level";
}

// Caught when planted: a band that the step itself makes wider before it is confirmed.
TEST(ChangeDetector, AStepSoonAfterTheStartIsSeen) {
    ChangeDetector detector({}, 130 * ms);
    EXPECT_TRUE(feed(detector, 4, 130 * ms).empty());
    EXPECT_EQ(detector.measured(80 * ms), std::nullopt);
    EXPECT_EQ(detector.measured(80 * ms), 80 * ms);
}

TEST(ChangeDetector, MeasurementsOnBothSidesDoNotConfirmEachOther) {
    ChangeDetector detector = steady();
    const auto news =
        feed(detector, 40, [](int i) { return i % 2 == 0 ? 130 * ms : 70 * ms; });
    EXPECT_TRUE(news.empty());
}

TEST(ChangeDetector, ALargeStepIsBelievedAtOnce) {
    ChangeDetector worse = steady();
    EXPECT_EQ(worse.measured(1000 * ms), 1000 * ms);
    EXPECT_TRUE(feed(worse, 50, 1000 * ms).empty());
    EXPECT_EQ(worse.measured(100 * ms), 100 * ms);
    // By factor only: what a busy host does to short links all the time.
    ChangeDetector near({}, 0.05 * ms);
    feed(near, 200, 0.05 * ms);
    EXPECT_EQ(near.measured(2 * ms), std::nullopt);
}

// Caught when planted: a memory for outliers that forgets at once.
TEST(ChangeDetector, LinksWithWildOutliersAreNotBelievedAtOnceAgain) {
    ChangeDetector detector = steady();
    const auto news =
        feed(detector, 640, [](int i) { return i % 16 == 5 ? 1000 * ms : 100 * ms; });
    EXPECT_EQ(news, (std::vector{1000 * ms, 100 * ms}));
    detector.measured(1000 * ms);
    EXPECT_EQ(detector.measured(1000 * ms), 1000 * ms) << "but two in a row are";
}

// Caught when planted: no damping.
TEST(ChangeDetector, ALevelThatSwingsAboutTheBandsEdgeIsSoonLeftAlone) {
    ChangeDetector detector = steady();
    const auto news = feed(detector, 4000, [](int i) { return (i / 4 % 2 == 0 ? 100 : 107) * ms; });
    EXPECT_LE(news.size(), 3U);
}

TEST(ChangeDetector, ASlowDriftIsToldInSteps) {
    std::mt19937 random(4);
    std::normal_distribution<double> scatter(0, 8 * ms);
    ChangeDetector detector({}, 100 * ms);
    feed(detector, 200, [&](int) { return 100 * ms + scatter(random); });
    double worst = 0;
    for (int i = 0; i < 2000; ++i) {
        const double level_us = 100 * ms + 0.05 * ms * i;
        detector.measured(level_us + scatter(random));
        worst = std::max(worst, std::abs(*detector.announced() - level_us) / level_us);
    }
    EXPECT_LT(worst, 0.2);
}

// Caught when planted: forecasts not compared with what is announced; single measurements then
// leave the band sooner or later, all on one side.
TEST(ChangeDetector, ALevelThatMovesWithinTheScatterIsToldByTheForecast) {
    double sum_us = 0;
    for (unsigned seed = 0; seed < 40; ++seed) {
        std::mt19937 random(seed);
        std::normal_distribution<double> scatter(0, 12 * ms);
        ChangeDetector detector({}, 100 * ms);
        feed(detector, 300, [&](int) { return 100 * ms + scatter(random); });
        feed(detector, 100, [&](int) { return 122 * ms + scatter(random); });
        sum_us += std::abs(*detector.announced() - 122 * ms);
    }
    EXPECT_LT(sum_us / 40, 10 * ms);
}

TEST(ChangeDetector, AThresholdIsThePapersPlainRule) {
    for (const double percent : {0.0, 10.0, 70.0}) {
        std::mt19937 random(5);
        std::lognormal_distribution<double> value(10, 0.4);
        ChangeDetector detector({.threshold_percent = percent});
        std::optional<double> announced;
        for (int i = 0; i < 2000; ++i) {
            const double value_us = value(random);
            const bool news =
                !announced || std::abs(value_us - *announced) > percent / 100 * *announced;
            if (news) announced = value_us;
            ASSERT_EQ(detector.measured(value_us).has_value(), news) << percent << "%, " << i;
            ASSERT_EQ(detector.announced(), announced);
        }
    }
}

TEST(ChangeDetector, AReplyIsLateOnlyBeyondTheForecast) {
    EXPECT_EQ(ChangeDetector().late_after_us(), std::numeric_limits<double>::infinity());
    EXPECT_EQ(ChangeDetector().overdue(10'000 * ms), std::nullopt);
    ChangeDetector detector = steady();
    EXPECT_GT(detector.late_after_us(), 110 * ms);
    EXPECT_LE(detector.late_after_us(), 150 * ms);
    EXPECT_EQ(detector.overdue(0.99 * detector.late_after_us()), std::nullopt);
    // An uneven link is given longer.
    std::mt19937 random(6);
    std::normal_distribution<double> value(100 * ms, 10 * ms);
    ChangeDetector uneven({}, 100 * ms);
    feed(uneven, 200, [&](int) { return value(random); });
    EXPECT_GT(uneven.late_after_us(), detector.late_after_us());
}

// Caught when planted: a provisional value that is taken for measured.
TEST(ChangeDetector, AnOverdueReplyIsNewsThatGrowsByDoublings) {
    ChangeDetector detector = steady();
    EXPECT_EQ(detector.overdue(150 * ms), 1000 * ms);
    int told = 0;
    for (double waited = 150 * ms; waited < 60'000 * ms; waited += 10 * ms) {
        const double before = *detector.announced();
        if (const auto news = detector.overdue(waited)) {
            ++told;
            EXPECT_GE(*news, waited);
            EXPECT_GE(*news, 2 * before);
        }
        EXPECT_GE(*detector.announced(), waited);
    }
    EXPECT_LE(told, 6);  // 1 s, 2 s, .. 64 s
    EXPECT_EQ(detector.measured(700 * ms), 700 * ms) << "the reply, at last";
    EXPECT_TRUE(feed(detector, 50, 700 * ms).empty());
}

TEST(ChangeDetector, AfterAFalseAlarmTheLinkIsWhatItWas) {
    ChangeDetector detector = steady();
    ASSERT_TRUE(detector.overdue(200 * ms));
    EXPECT_EQ(detector.measured(100 * ms), 100 * ms);
    EXPECT_EQ(detector.bank().series().count(), 201U) << "and its forecasts go on";
    // As late as it was said to be: nothing new.
    ASSERT_TRUE(detector.overdue(200 * ms));
    EXPECT_EQ(detector.measured(1000 * ms), std::nullopt);
    EXPECT_EQ(detector.announced(), 1000 * ms);
}

TEST(ChangeDetector, ADeadLinkIsToldAtItsFirstSignOfLife) {
    ChangeDetector detector = steady();
    detector.unreachable();
    EXPECT_EQ(detector.announced(), std::numeric_limits<double>::infinity());
    EXPECT_EQ(detector.late_after_us(), std::numeric_limits<double>::infinity());
    EXPECT_EQ(detector.overdue(1e9), std::nullopt);
    EXPECT_EQ(detector.measured(120 * ms), 120 * ms);
}

TEST(ChangeDetector, IsSmallEnoughForEveryLink) { EXPECT_LE(sizeof(ChangeDetector), 1280U); }

TEST(BracketDetector, SaysWhatRepliesProve) {
    constexpr double infinite = std::numeric_limits<double>::infinity();
    struct Reply {
        double round_trip_us, unnoticed_us;
        double then_us;  ///< what is announced afterwards
        bool measured = true;
    };
    struct Case {
        const char* what;
        double announced_us;
        std::vector<Reply> replies;
    };
    for (const auto& [what, announced_us, replies] : {
             Case{"prompt replies are measurements", 100 * ms, {{200 * ms, 0, 100 * ms}, {2000 * ms, 0, 1000 * ms}}},
             Case{"the middle of what is narrower than noise", 100 * ms, {{2000 * ms, 100 * ms, 975 * ms}}},
             Case{"what late replies allow stands", 100 * ms, std::vector<Reply>(100, {700 * ms, 600 * ms, 100 * ms})},
             Case{"the nearest of what a late reply allows", 10 * ms, {{700 * ms, 600 * ms, 50 * ms}}},
             Case{"likewise of a better one, the second time",
                  1000 * ms,
                  {{700 * ms, 600 * ms, 1000 * ms}, {700 * ms, 600 * ms, 350 * ms}}},
             Case{"a better reply than the first counts at once",
                  infinite,
                  {{110 * ms, infinite, 55 * ms, false}, {96 * ms, 40 * ms, 48 * ms, false},
                   {110 * ms, 40 * ms, 48 * ms, false}}},
             Case{"no late reply is a measurement, though it beats the first",
                  infinite,
                  {{276 * ms, 336 * ms, 138 * ms, false}, {242 * ms, 205 * ms, 121 * ms, false},
                   {124 * ms, 0, 62 * ms}}},
         }) {
        SCOPED_TRACE(what);
        BracketDetector detector({}, announced_us);
        for (const Reply& reply : replies) {
            const double before_us = detector.announced_us();
            const auto news_us = detector.answered(reply.round_trip_us, reply.unnoticed_us);
            EXPECT_EQ(news_us, reply.then_us == before_us ? std::nullopt : std::optional(reply.then_us));
            EXPECT_EQ(detector.announced_us(), reply.then_us);
            EXPECT_EQ(detector.was_measured(), reply.measured);
        }
    }
}

}  // namespace
}  // namespace mutirao
