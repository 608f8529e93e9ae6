// The promise, over programs of all kinds, and the programs themselves.
#include "simulate/program.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <limits>
#include <map>

#include "core/selection/decider.h"
#include "core/selection/samples.h"

namespace mutirao::simulate {
namespace {

TEST(Programs, FollowFromTheirSeed) {
    for (std::uint64_t seed = 1; seed <= 50; ++seed)
        EXPECT_EQ(run_natively(program_of(seed)).calls_us, run_natively(program_of(seed)).calls_us) << seed;
    EXPECT_NE(run_natively(program_of(1)).calls_us, run_natively(program_of(2)).calls_us);
}

// Who knows everything is hardly ever slower than native: what calls take depends on when they are made.
TEST(Programs, AreWonByWhoKnowsThem) {
    for (std::uint64_t seed = 1; seed <= 200; ++seed) {
        const Program program = program_of(seed);
        EXPECT_LE(run_knowingly(program).elapsed_us, 1.02 * run_natively(program).elapsed_us) << "seed " << seed;
    }
}

// The promise, over programs of all kinds: what the decider may lose a program, and what it wins.

constexpr double opening_us = 100'000;

/// Calls run as the library's decider rules: rank 0 has a Decider, every rank tells it what its calls took, and each
/// ruling holds from the decider's next call on.
class DecidedChooser : public Chooser {
  public:
    explicit DecidedChooser(const Program& program)
        : program_(program),
          decider_(std::make_shared<Ledger>(opening_us)),
          ranks_(static_cast<std::size_t>(program.ranks)) {}

    Arm enter(int rank, const Call& call, double now_us) override {
        if (rank == 0) decide(call, now_us);
        Rank& me = ranks_[static_cast<std::size_t>(rank)];
        for (; me.obeyed < announced_.size() && announced_[me.obeyed].first_call <= call.number; ++me.obeyed) {
            const Ruling& ruling = announced_[me.obeyed].ruling;
            me.classes.insert_or_assign(ruling.shapes, Obeyed{ruling, Course(ruling)});
        }
        const ShapeClass shapes = class_of(call.shape);
        const Ruling native{shapes, native_candidate(call.shape.collective), {}};
        Obeyed& it = me.classes.try_emplace(shapes, Obeyed{native, Course(shapes)}).first->second;
        it.clocked = it.course.clocks();
        const bool probed = it.clocked && it.course.probes();
        return probed ? *it.ruling.probe : it.ruling.arm;
    }

    void leave(int rank, const Call& call, double now_us, double took_us) override {
        Obeyed& it = ranks_[static_cast<std::size_t>(rank)].classes.at(class_of(call.shape));
        if (!it.clocked || !it.course.add(now_us - took_us, now_us)) return;
        const double way_us = rank == 0 ? 0 : program_.states.front().network->between_hosts().link(rank, 0).latency_us;
        reports_.push_back({now_us + way_us, it.course.take_report()});
    }

    void hear_network(const SyntheticState& state) override {
        const bool another = known_state_ != nullptr;
        known_state_ = &state;
        for (const auto& [shapes, shape] : known_) foresee(shape, another);
    }

  private:
    struct Obeyed {
        Ruling ruling;
        Course course;
        bool clocked = false;  ///< the call that goes on
    };
    struct Announced {
        std::uint64_t first_call;
        Ruling ruling;
    };
    struct Reported {
        double arrives_us;
        TimeReport report;
    };
    struct Rank {
        std::map<ShapeClass, Obeyed> classes;
        std::size_t obeyed = 0;  ///< announcements
    };

    void decide(const Call& call, double now_us) {
        const ShapeClass shapes = class_of(call.shape);
        if (known_.try_emplace(shapes, call.shape).second) {
            decider_.take_on(shapes, program_.ranks, !row_of(call.shape.collective).reduces);
            if (known_state_ != nullptr) foresee(call.shape, false);
        }
        const auto arrived = [&](const Reported& each) { return each.arrives_us <= now_us; };
        for (const Reported& each : reports_)
            if (arrived(each)) decider_.on_report(each.report);
        std::erase_if(reports_, arrived);
        std::vector<Decider::CallsMade> made;
        for (const auto& [each, calls] : made_) made.push_back({each, calls});
        for (const Decided& each : decider_.on_time(now_us, made))
            if (each.announced) announced_.push_back({call.number + 1, each.ruling});
        ++made_[shapes];
    }

    void foresee(const CallShape& shape, bool another_network) {
        constexpr double error_of_predictions = 0.25;
        constexpr std::size_t most_arms = 5;
        Outlook outlook;
        for (const SyntheticArm& each : known_state_->class_of_shape(shape).arms) {
            if (outlook.arms.size() < most_arms)
                outlook.arms.push_back({each.arm, each.predicted.cold_us, each.predicted.warm_us});
        }
        outlook.error = error_of_predictions;
        outlook.news_us = another_network ? std::numeric_limits<double>::infinity() : 0;
        decider_.on_outlook(class_of(shape), std::move(outlook));
    }

    const Program& program_;
    Decider decider_;
    const SyntheticState* known_state_ = nullptr;  ///< of the network
    std::map<ShapeClass, CallShape> known_;
    std::map<ShapeClass, std::uint64_t> made_;
    std::vector<Announced> announced_;
    std::vector<Rank> ranks_;
    std::vector<Reported> reports_;  ///< on their way to rank 0
};

/// For each class and state of the network one probe of two calls by whatever is slowest, and the calls after it that
/// are the probe's as well.
double misjudged_us(const Program& program) {
    double sum_us = 0;
    for (const SyntheticState& state : program.states) {
        for (const SyntheticClass& each : state.classes) {
            double slowest_us = 0;
            for (const SyntheticArm& arm : each.arms) slowest_us = std::max(slowest_us, arm.taken.cold_us);
            constexpr double probe_us = 200;
            sum_us += std::max(2 * slowest_us, probe_us * slowest_us / each.arms.front().taken.warm_us);
        }
    }
    return sum_us;
}

TEST(DecidedPrograms, LoseNoMoreThanIsPromised) {
    constexpr std::uint64_t programs = 500;
    constexpr std::size_t learnt_after = 200;
    std::vector<double> shares;
    for (std::uint64_t seed = 1; seed <= programs; ++seed) {
        const Program program = program_of(seed);
        DecidedChooser chooser(program);
        const Outcome natively = run_natively(program), chosen = run(program, chooser);
        const double promised_us = Ledger::income_share * chosen.in_calls_us + opening_us + misjudged_us(program);
        EXPECT_LE(chosen.elapsed_us - natively.elapsed_us, promised_us) << "seed " << seed;
        const std::size_t from = learnt_after * program.states.front().classes.size();
        if (const auto share = share_won(natively, chosen, run_knowingly(program), from)) shares.push_back(*share);
    }
    ASSERT_GT(shares.size(), 100u);
    std::sort(shares.begin(), shares.end());
    std::printf("share of what was to be won after %zu calls: median %.3f, lowest quarter %.3f, lowest tenth %.3f\n",
                learnt_after, shares[shares.size() / 2], shares[shares.size() / 4], shares[shares.size() / 10]);
    EXPECT_GE(shares[shares.size() / 2], 0.9);
}

}  // namespace
}  // namespace mutirao::simulate
