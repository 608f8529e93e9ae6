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

    /// One window of the present ruling; the ranks' reports come in any order.
    void run_window() {
        const Ruling ruling = contest_.ruling();
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

  private:
    Contest& contest_;
    std::map<std::string, double> times_us_;
    std::map<std::string, int> calls_;
    std::uint64_t window_ = 0;
    std::mt19937 random_{7};
};

Contest ring_bruck_native(std::optional<double> bound_us = {}) {
    return {ShapeClass{Collective::allgather, 0, 5}, {arm("ring"), arm("bruck"), arm("native")},
            {1000, 1200, 2000}, bound_us, ranks};
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
    Contest contest = {ShapeClass{Collective::allgather, 0, 5},
                       {arm("ring"), arm("bruck"), arm("native")},
                       {1000, 1700, 3500}, std::nullopt, ranks};
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
    Contest contest = {ShapeClass{Collective::allgather, 0, 5}, {arm("ring"), arm("native")},
                       {100, 120}, std::nullopt, ranks};
    EXPECT_EQ(contest.ruling().repetitions, 5);
}

}  // namespace
}  // namespace mutirao
