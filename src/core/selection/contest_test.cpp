#include "core/selection/contest.h"

#include <gtest/gtest.h>

#include <random>

#include "core/network/test_networks.h"
#include "core/spanning_tree/kruskal.h"

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
    EXPECT_EQ(contest.ruling().trial, 0u) << "its calls are timed though they cannot be shortened";
}

// Where prediction did not dare to choose, it is not believed either that another would be much slower.
TEST(Contest, BesideTheMpiLibrarysOwnTriesWhatIsPredictedToBeSlower) {
    Contest contest({ShapeClass{Collective::allgather, 0, 5}, {arm("native"), arm("ring"), arm("bruck")},
                     {1000, 2500, 3500}}, ranks);
    Job job(contest, {{"native", 1000}, {"ring", 700}});
    job.run_to_the_end();
    EXPECT_EQ(chosen(contest), "ring");
}

// Fault: counting what the first calls by an algorithm take, whose plans and paths are new.
TEST(Contest, OfShortCallsTheFirstWindowOfATrialCountsForNothing) {
    Contest contest({ShapeClass{Collective::allgather, 0, 5}, {arm("ring"), arm("native")}, {100, 120}},
                    ranks);
    Job job(contest, {{"ring", 100}, {"native", 5000}});
    for (int window = 0; window < 3; ++window) job.run_window();
    ASSERT_EQ(contest.ruling().arm_count(), 2);
    job.run_window();
    EXPECT_EQ(contest.measured().size(), 1u);
    job.become("native", 120);
    job.run_window();
    ASSERT_EQ(contest.measured().size(), 2u);
    for (const Measured& each : contest.measured()) EXPECT_LT(each.time_us.high, 130);
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

// By hand: what native loses in a window, 300 us, is 0.5% of 60 calls of 1000 us; or 20 windows of two calls.
TEST(Contest, RestsBetweenWindowsOfWatchingAndEverLonger) {
    const auto watching = [](double native_us) {
        Contest contest = ring_bruck_native(500);
        contest.begin_settled(arm("bruck").candidate,
                              {{arm("bruck").candidate, {1000, 1000, 1000}, 9},
                               {arm("native").candidate, {native_us, native_us, native_us}, 9}});
        return contest;
    };
    Contest contest = watching(1300);
    EXPECT_EQ(contest.ruling().rest_calls, 60u);
    EXPECT_EQ(watching(1050).ruling().rest_calls, 40u);
    Job job(contest, {{"bruck", 1000}, {"native", 1300}});
    for (int window = 0; window < 20; ++window) job.run_window();
    EXPECT_EQ(chosen(contest), "bruck");
    EXPECT_GE(contest.ruling().rest_calls, 100u);
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

// A ruling may take effect when its contest is over; what is logged then is what it was made for.
TEST(Contest, KnowsWhichRulingsWereMadeOnTrial) {
    Contest contest = ring_bruck_native(500);
    Job job(contest, {{"ring", 1500}, {"bruck", 1100}, {"native", 1300}});
    std::vector<std::uint32_t> on_trial;
    while (!contest.settled()) {
        on_trial.push_back(contest.ruling().trial);
        job.run_window();
    }
    const std::uint32_t watching = contest.ruling().trial;
    ASSERT_NE(watching, 0u);
    EXPECT_TRUE(contest.had_settled_by(watching));
    for (const std::uint32_t trial : on_trial) EXPECT_FALSE(contest.had_settled_by(trial)) << trial;
}

TEST(Contest, RestsByTheFastestSoFar) {
    Contest contest = ring_bruck_native();
    Job job(contest, {{"ring", 1100}, {"bruck", 1000}, {"native", 1024}});
    while (!contest.settled() && contest.ruling().rest_calls == 0) job.run_window();
    ASSERT_FALSE(contest.settled());
    EXPECT_EQ(chosen(contest), "bruck");
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
    const Decision without{arm("ring").candidate, "", {{arm("ring").candidate, 1000}}};
    EXPECT_TRUE(contest.questioned_by(without)) << "what was chosen reaches nobody any more";
    EXPECT_FALSE(contest.questioned_by({arm("ring").candidate, "", {}})) << "nothing was predicted";
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

std::vector<std::string> tried(Contest contest, std::map<std::string, double> times_us) {
    Job job(contest, std::move(times_us));
    for (int window = 0; window < 3; ++window) job.run_window();
    std::vector<std::string> names;
    const Ruling ruling = contest.ruling();
    for (int number = 0; number < ruling.arm_count(); ++number) {
        names.push_back(to_string(ruling.arm(number).candidate));
    }
    return names;
}

// Of one algorithm the best parameters, of those that take exactly as long one, and no more than four beside native.
TEST(Contest, HasAFewArmsThatDiffer) {
    Topology topology{test::random_network(3, 4), {}, {0, 0, 0, 0}};
    topology.spanning_tree = minimum_spanning_tree(topology.network);
    const RankNetwork network = one_rank_per_host(std::move(topology));
    const auto candidate = [](std::string_view name, int radix = 2) {
        return Candidate{find_algorithm(Collective::allgather, name), {.radix = radix}};
    };
    Decision decision{candidate("native"), "",
                      {{candidate("bruck", 3), 100}, {candidate("recursive_doubling"), 100},
                       {candidate("bruck", 4), 105}, {candidate("ring"), 110},
                       {candidate("linear"), 120}, {candidate("neighbor_exchange"), 130},
                       {candidate("sparbit"), 140}, {candidate("gather_broadcast"), 150},
                       {candidate("native"), 200}}};
    CallShape shape{.collective = Collective::allgather, .length_bytes = 16};
    const auto contest = contest_for(shape, decision, network, ranks, true);
    ASSERT_TRUE(contest);
    EXPECT_EQ(tried(*contest, {{"native", 200}}),
              (std::vector<std::string>{"native", "bruck:radix=3", "ring", "linear",
                                        "neighbor_exchange"}));
    decision.considered.clear();
    EXPECT_FALSE(contest_for(shape, decision, network, ranks, true)) << "nothing to choose from";
    decision.considered = {{candidate("native"), 200}, {candidate("ring"), 110}};
    EXPECT_TRUE(contest_for(shape, decision, network, ranks, true));
    shape.collective = Collective::alltoallv;
    EXPECT_FALSE(contest_for(shape, decision, network, ranks, true)) << "calls of any length";
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

// Fault: the mean of ranks whose leaves return at once.
TEST(Contest, JudgesAReductionByItsSlowestRank) {
    const auto reduction = [](std::string_view name) {
        return Arm{{find_algorithm(Collective::reduce, name), {}}, {}};
    };
    constexpr int reporters = 8;
    Contest contest({.shapes = {.collective = Collective::reduce, .root = 0, .length_class = 4},
                     .arms = {reduction("native"), reduction("flat")},
                     .predicted_us = {20, 20}},
                    reporters);
    std::uint64_t window = 0;
    for (int i = 0; i < 100 && !contest.settled(); ++i) {
        const Ruling ruling = contest.ruling();
        for (int rank = 0; rank < reporters; ++rank) {
            TrialReport report{ruling.shapes, ruling.trial, window, {}};
            for (int number = 0; number < ruling.arm_count(); ++number) {
                const bool native = ruling.arm(number).candidate.native();
                report.times_us.push_back(native ? 20 : rank == 0 ? 100 : 1);
            }
            if (contest.hear(report)) window = std::uint64_t(-1);
        }
        ++window;
    }
    ASSERT_TRUE(contest.settled());
    EXPECT_TRUE(contest.chosen().native()) << contest.reason();
}

}  // namespace
}  // namespace mutirao
