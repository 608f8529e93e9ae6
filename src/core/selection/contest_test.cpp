#include "core/selection/contest.h"

#include <gtest/gtest.h>

#include <random>

namespace mutirao {
namespace {

constexpr int ranks = 5;

Arm arm(std::string_view name) { return {{find_algorithm(Collective::allgather, name), {}}, {}}; }

/// Ranks that obey rulings, and report what their calls took.
class Job {
  public:
    Job(Contest& contest, std::map<std::string, double> times_us)
        : contest_(contest), times_us_(std::move(times_us)) {}

    /// The next rest, and one window of the present ruling; the ranks' reports come in any order.
    void run_window() {
        const Ruling ruling = contest_.ruling();
        const std::string first(ruling.candidate.algorithm->name);
        calls_[first] += static_cast<int>(ruling.rest_calls);
        TrialReport report{ruling.shapes, ruling.trial, window_++, {}};
        std::vector<TrialReport> reports(ranks, report);
        for (int number = 0; number < ruling.arm_count(); ++number) {
            const std::string name(ruling.arm(number).candidate.algorithm->name);
            calls_[name] += ruling.repetitions;
            for (int rank = 0; rank < ranks; ++rank) {
                const double noise = std::uniform_real_distribution(0.97, 1.03)(random_);
                reports[static_cast<std::size_t>(rank)].times_us.push_back(times_us_.at(name) * noise);
            }
        }
        std::shuffle(reports.begin(), reports.end(), random_);
        for (const TrialReport& each : reports) {
            if (contest_.hear(each)) window_ = 0;
        }
    }
    void run_to_the_end() {
        while (!contest_.settled()) run_window();
    }
    int calls(const std::string& name) { return calls_[name]; }
    void become(const std::string& name, double time_us) { times_us_[name] = time_us; }
    double whole_us() const {
        double sum_us = 0;
        for (const auto& [name, count] : calls_) sum_us += count * times_us_.at(name);
        return sum_us;
    }
    int all_calls() const {
        int sum = 0;
        for (const auto& [name, count] : calls_) sum += count;
        return sum;
    }

  private:
    Contest& contest_;
    std::map<std::string, double> times_us_;
    std::map<std::string, int> calls_;
    std::uint64_t window_ = 0;
    std::mt19937 random_{7};
};

Contest ring_bruck_native(std::optional<double> bound_us = {}) {
    return {{ShapeClass{Collective::allgather, 0, 5}, {arm("ring"), arm("bruck"), arm("native")},
             {1000, 1200, 2000}, bound_us}, ranks};
}

std::string chosen(const Contest& contest) {
    return std::string(contest.ruling().candidate.algorithm->name);
}

TEST(Contest, TriesNothingWhereNothingCouldBeFaster) {
    Contest contest = ring_bruck_native(980);
    Job job(contest, {{"ring", 1000}});
    job.run_to_the_end();
    EXPECT_EQ(chosen(contest), "ring");
    EXPECT_EQ(contest.ruling().trial, 0u);
    EXPECT_LE(job.calls("ring"), 3);
    EXPECT_EQ(contest.measured().size(), 1u);
}

TEST(Contest, FindsThatAPredictionWasWrong) {
    Contest contest = ring_bruck_native(500);
    Job job(contest, {{"ring", 1500}, {"bruck", 1100}, {"native", 1300}});
    job.run_to_the_end();
    EXPECT_EQ(chosen(contest), "bruck");
    EXPECT_LE(job.calls("ring") + job.calls("bruck") + job.calls("native"), 32);
    EXPECT_EQ(contest.measured().size(), 3u);
    EXPECT_NE(contest.reason().find("native"), std::string::npos) << contest.reason();
}

// Fault: staying with the predicted choice because it is there.
TEST(Contest, TheMpiLibrarysOwnWinsTies) {
    Contest contest = ring_bruck_native();
    Job job(contest, {{"ring", 1000}, {"bruck", 1500}, {"native", 1000}});
    job.run_to_the_end();
    EXPECT_EQ(chosen(contest), "native");
}

TEST(Contest, DoesNotTryWhatIsPredictedToBeHopeless) {
    Contest contest({ShapeClass{Collective::allgather, 0, 5}, {arm("ring"), arm("bruck"), arm("native")},
                     {1000, 1700, 3500}}, ranks);
    Job job(contest, {{"ring", 1000}});
    job.run_to_the_end();
    EXPECT_EQ(chosen(contest), "ring");
    EXPECT_NE(contest.reason().find("no other"), std::string::npos);
}

TEST(Contest, HearsOnlyWhatBelongsToItsTrial) {
    Contest contest = ring_bruck_native(500);
    const Ruling first = contest.ruling();
    ASSERT_EQ(first.trial, 1u);
    for (int rank = 0; rank < ranks; ++rank) {
        EXPECT_FALSE(contest.hear({first.shapes, 2, 0, {1.0}}));
        EXPECT_FALSE(contest.hear({first.shapes, 1, 0, {1.0, 2.0}}));
    }
    EXPECT_TRUE(contest.measured().empty());
    Job job(contest, {{"ring", 1500}, {"bruck", 1100}, {"native", 1300}});
    job.run_to_the_end();
    EXPECT_FALSE(contest.hear({first.shapes, 0, 0, {1.0}}));
}

TEST(Contest, ShortCallsAreTimedSeveralAtATime) {
    Contest contest({ShapeClass{Collective::allgather, 0, 5}, {arm("ring"), arm("native")}, {100, 120}},
                    ranks);
    EXPECT_EQ(contest.ruling().repetitions, 5);
}

// Fault: a rest as long as a window.
TEST(Contest, WatchesAtASmallShareOfTheTime) {
    Contest contest = ring_bruck_native(500);
    Job job(contest, {{"ring", 1500}, {"bruck", 1100}, {"native", 1600}});
    job.run_to_the_end();
    ASSERT_EQ(chosen(contest), "bruck");
    const double learned_us = job.whole_us();
    const int learned_calls = job.all_calls();
    for (int window = 0; window < 60; ++window) job.run_window();
    EXPECT_GT(job.calls("native"), 20);
    const double at_best_us = 1100.0 * (job.all_calls() - learned_calls);
    EXPECT_LE(job.whole_us() - learned_us, 1.006 * at_best_us);
}

TEST(Contest, GoesBackToWhatBecameFaster) {
    Contest contest = ring_bruck_native(500);
    Job job(contest, {{"ring", 1500}, {"bruck", 1100}, {"native", 1300}});
    job.run_to_the_end();
    ASSERT_EQ(chosen(contest), "bruck");
    for (int window = 0; window < 20; ++window) job.run_window();
    ASSERT_EQ(chosen(contest), "bruck");
    job.become("native", 900);
    for (int window = 0; window < 40; ++window) job.run_window();
    EXPECT_EQ(chosen(contest), "native");
    EXPECT_EQ(contest.ruling().trial, 0u);
    EXPECT_NE(contest.reason().find("tried again"), std::string::npos) << contest.reason();
}

// Reductions whose sums shall not change any more.
TEST(Contest, IsOverWhereNothingIsWatched) {
    Contest contest({ShapeClass{Collective::allgather, 0, 5}, {arm("ring"), arm("bruck"), arm("native")},
                     {1000, 1200, 2000}, std::nullopt, false}, ranks);
    Job job(contest, {{"ring", 1500}, {"bruck", 1100}, {"native", 1300}});
    job.run_to_the_end();
    EXPECT_EQ(chosen(contest), "bruck");
    EXPECT_EQ(contest.ruling().trial, 0u);
}

TEST(Contest, IsQuestionedOnlyByAChangeOfWhatItChose) {
    Contest contest = ring_bruck_native(500);
    Job job(contest, {{"ring", 1500}, {"bruck", 1100}, {"native", 1300}});
    job.run_to_the_end();
    ASSERT_EQ(chosen(contest), "bruck");  // predicted: 1200
    const auto decision = [](double ring_us, double bruck_us) {
        return Decision{arm("ring").candidate, "",
                        {{arm("ring").candidate, ring_us}, {arm("bruck").candidate, bruck_us}}};
    };
    EXPECT_FALSE(contest.questioned_by(decision(1000, 1200)));
    EXPECT_FALSE(contest.questioned_by(decision(5000, 1300)));
    EXPECT_TRUE(contest.questioned_by(decision(1000, 1500)));
    EXPECT_TRUE(contest.questioned_by(decision(1000, 900)));
}

TEST(Contest, TakesAnEarlierJobsWordForItAndWatches) {
    Contest contest = ring_bruck_native(500);
    const std::vector<Measured> remembered = {{arm("bruck").candidate, {1000, 1050, 1100}, 9},
                                              {arm("native").candidate, {1300, 1350, 1400}, 9}};
    contest.begin_settled(arm("bruck").candidate, remembered);
    EXPECT_TRUE(contest.settled());
    EXPECT_EQ(chosen(contest), "bruck");
    EXPECT_NE(contest.reason().find("profile"), std::string::npos);
    EXPECT_GT(contest.ruling().rest_calls, 0u);
    Job job(contest, {{"ring", 1500}, {"bruck", 1600}, {"native", 1300}});
    for (int window = 0; window < 20; ++window) job.run_window();
    EXPECT_EQ(chosen(contest), "native") << "the network is not what it was";
}

TEST(Contest, DoesNotKnowWhatIsNoneOfItsArms) {
    Contest contest = ring_bruck_native(500);
    contest.begin_settled(arm("sparbit").candidate, {});
    EXPECT_FALSE(contest.settled());
}

// What comes after the credit: arms so alike that it takes long to tell them apart.
TEST(Contest, KeepsWhatTryingCostsToAShareOfTheTime) {
    Contest contest({ShapeClass{Collective::allgather, 0, 5}, {arm("ring"), arm("bruck"), arm("native")},
                     {1000, 1000, 1000}}, ranks);
    Job job(contest, {{"ring", 1000}, {"bruck", 1020}, {"native", 1024}});
    for (int window = 0; window < 3 + 8; ++window) job.run_window();
    ASSERT_FALSE(contest.settled());
    const double on_credit_us = job.whole_us();
    const int on_credit_calls = job.all_calls();
    job.run_to_the_end();
    EXPECT_GT(job.all_calls() - on_credit_calls, 40);
    EXPECT_LE(job.whole_us() - on_credit_us, 1.012 * 1000 * (job.all_calls() - on_credit_calls));
}

}  // namespace
}  // namespace mutirao
