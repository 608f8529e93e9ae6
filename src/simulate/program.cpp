#include "simulate/program.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/schedule/predictor.h"
#include "core/text/invariant.h"
#include "simulate/random.h"

namespace mutirao::simulate {
namespace {

enum Purpose : std::uint64_t { of_noise, of_arm, of_lateness, of_skew };

std::size_t at(int rank) { return static_cast<std::size_t>(rank); }

Random random_of(std::uint64_t seed, std::uint64_t purpose, std::uint64_t call, int rank) {
    constexpr std::uint64_t odd = 0x9E3779B97F4A7C15u;
    Random mixed(((seed * odd + purpose) * odd + call) * odd + static_cast<std::uint64_t>(rank));
    mixed.next();
    return mixed;
}

/// The walk of an arm depends on its candidate and on the tree.
bool runs_alike(const Arm& a, const Arm& b) { return a.candidate == b.candidate && a.tree == b.tree; }

Candidate native_of(const WalkedTruth::Options& options, const CallShape& shape) {
    std::string_view name = row_of(shape.collective).native_is_like.front();
    for (const auto& each : options.native)
        if (each.collective == shape.collective && shape.length_bytes >= each.from_bytes) name = each.name;
    return {find_algorithm(shape.collective, name), {}};
}

}  // namespace

double uniform_of(std::uint64_t seed, std::uint64_t purpose, std::uint64_t call, int rank) {
    return random_of(seed, purpose, call, rank).unit();
}

// Box and Muller 1958, doi:10.1214/aoms/1177706645.
double normal_of(std::uint64_t seed, std::uint64_t purpose, std::uint64_t call, int rank) {
    constexpr double two_pi = 6.283185307179586;
    Random random = random_of(seed, purpose, call, rank);
    const double radius = std::sqrt(-2 * std::log(1 - random.unit()));
    return radius * std::cos(two_pi * random.unit());
}

// --- what is true ------------------------------------------------------------------------------------

WalkedTruth::WalkedTruth(std::vector<NetworkSince> networks, Options options)
    : networks_(std::move(networks)),
      options_(std::move(options)),
      connections_(networks_.front().network->rank_count(), networks_.front().network->host_count()) {
    connections_.connect_round_trips = options_.connect_round_trips;
}

const RankNetwork& WalkedTruth::network_at(double now_us) const {
    const NetworkSince* newest = &networks_.front();
    for (const NetworkSince& each : networks_)
        if (each.since_us <= now_us) newest = &each;
    return *newest->network;
}

const WalkedTruth::Planned& WalkedTruth::plan(const CallShape& shape, const Arm& arm) {
    for (const auto& each : plans_)
        if (each->shape == shape && runs_alike(each->arm, arm)) return *each;
    const RankNetwork& network = *networks_.front().network;
    Arm runs = arm;
    if (arm.candidate.native()) runs = {native_of(options_, shape), std::nullopt};
    auto schedules = build_all(Ruling{class_of(shape), runs.candidate, runs.tree}, shape, network.placement());
    if (!schedules) broken_invariant("a simulated arm without schedule: bytes, ranks",
                                     static_cast<long long>(shape.length_bytes), network.rank_count());
    // Native is what it is; an error of its own would only be another program.
    const double error = arm.candidate.native()
                             ? 1
                             : std::exp(options_.arm_error *
                                        normal_of(options_.seed, of_arm,
                                                  std::hash<ShapeClass>()(class_of(shape)),
                                                  static_cast<int>(plans_.size())));
    plans_.push_back(std::make_unique<Planned>(Planned{shape, arm, std::move(*schedules), error}));
    return *plans_.back();
}

std::vector<double> WalkedTruth::run(const Call& call, const Arm& arm, const std::vector<double>& begin_us) {
    const double together_us = *std::max_element(begin_us.begin(), begin_us.end());
    const Planned& planned = plan(call.shape, arm);
    PredictOptions options;
    options.start_us = begin_us;
    options.connections = &connections_;
    Prediction walked = predict(planned.schedules, network_at(together_us), std::move(options));
    if (walked.stuck) broken_invariant("a simulated call never ends: call", static_cast<long long>(call.number), 0);
    const double factor =
        planned.error * std::exp(options_.noise * normal_of(options_.seed, of_noise, call.number, 0));
    for (std::size_t rank = 0; rank < begin_us.size(); ++rank) {
        // Waiting for the last rank is no part of what varies.
        double& done_us = walked.rank_complete_us[rank];
        const double moving_us = std::max(done_us - together_us, 0.0);
        done_us += moving_us * (factor - 1);
    }
    return walked.rank_complete_us;
}

// --- the program -------------------------------------------------------------------------------------

namespace {

class Running {
  public:
    Running(const Program& program, Truth& truth, Chooser& chooser, std::uint64_t seed)
        : program_(program),
          truth_(truth),
          chooser_(chooser),
          seed_(seed),
          now_us_(at(program.ranks), program.first_call_us),
          in_calls_us_(at(program.ranks), 0) {}

    Outcome run() {
        for (int round = 0; round < program_.rounds; ++round) {
            if (*std::max_element(now_us_.begin(), now_us_.end()) > program_.until_us) break;
            for (std::size_t step = 0; step < program_.steps.size(); ++step) {
                compute(program_.steps[step]);
                if (program_.synchronous && step == 0 && round > 0) wait_for_all(program_.steps[step].shape.root);
                call(step);
            }
        }
        outcome_.elapsed_us = *std::max_element(now_us_.begin(), now_us_.end());
        outcome_.in_calls_us = std::accumulate(in_calls_us_.begin(), in_calls_us_.end(), 0.0) / program_.ranks;
        return std::move(outcome_);
    }

  private:
    void compute(const Program::Step& step) {
        for (int rank = 0; rank < program_.ranks; ++rank) {
            const double slower = 1 + program_.skew * uniform_of(seed_, of_skew, 0, rank);
            const double late = program_.lateness * std::abs(normal_of(seed_, of_lateness, number_, rank));
            now_us_[at(rank)] += step.compute_us * (slower + late);
        }
    }

    void wait_for_all(int root) {
        const Network& network = truth_.network_at(now_us_[at(root)]).between_hosts();
        const Placement& placement = truth_.network_at(now_us_[at(root)]).placement();
        double told_us = now_us_[at(root)];
        for (int rank = 0; rank < program_.ranks; ++rank) {
            const Link way = network.link(placement.host_of(rank), placement.host_of(root));
            told_us = std::max(told_us, now_us_[at(rank)] + way.latency_us);
        }
        now_us_[at(root)] = told_us;
    }

    void hear_news() {
        for (; next_news_ < program_.news.size(); ++next_news_) {
            const Program::News& news = program_.news[next_news_];
            if (news.call > 0 && news.call >= number_) return;
            const double known_us = (news.call > 0 ? entered_us_[news.call] : 0) + news.after_us;
            if (known_us > now_us_.front()) return;
            chooser_.hear_network(news.network, known_us);
        }
    }

    void call(std::size_t step) {
        hear_news();
        const Call call{number_++, program_.steps[step].shape};
        entered_us_.push_back(now_us_.front());
        std::vector<double> begin_us;
        Arm arm;
        for (int rank = 0; rank < program_.ranks; ++rank) {
            Chooser::Way way = chooser_.enter(rank, call, now_us_[at(rank)]);
            if (rank > 0 && !(way.arm == arm)) {
                broken_invariant("ranks differ (call, rank)", static_cast<long long>(call.number), rank);
            }
            arm = std::move(way.arm);
            begin_us.push_back(std::max(way.begin_us, now_us_[at(rank)]));
        }
        const std::vector<double> done_us = truth_.run(call, arm, begin_us);
        note(step, call.shape, arm, begin_us, done_us);
        for (int rank = 0; rank < program_.ranks; ++rank) {
            const double took_us = done_us[at(rank)] - now_us_[at(rank)];
            in_calls_us_[at(rank)] += took_us;
            now_us_[at(rank)] = done_us[at(rank)];
            chooser_.leave(rank, call, done_us[at(rank)], took_us);
        }
    }

    void note(std::size_t step, const CallShape& shape, const Arm& arm, const std::vector<double>& begin_us,
              const std::vector<double>& done_us) {
        const double begun_us = row_of(shape.collective).rooted
                                    ? begin_us[at(shape.root)]
                                    : *std::max_element(begin_us.begin(), begin_us.end());
        outcome_.calls.push_back(
            {step, to_string(arm.candidate), begun_us, *std::max_element(done_us.begin(), done_us.end())});
    }

    const Program& program_;
    Truth& truth_;
    Chooser& chooser_;
    std::uint64_t seed_;
    std::uint64_t number_ = 0;
    std::size_t next_news_ = 0;
    std::vector<double> now_us_;  ///< by rank
    std::vector<double> in_calls_us_;
    std::vector<double> entered_us_;  ///< rank 0, by call
    Outcome outcome_;
};

}  // namespace

double Outcome::took_us(std::size_t from) const {
    double sum_us = 0;
    for (std::size_t call = from; call < calls.size(); ++call) sum_us += calls[call].took_us();
    return sum_us;
}

Outcome run(const Program& program, Truth& truth, Chooser& chooser, std::uint64_t seed) {
    return Running(program, truth, chooser, seed).run();
}

}  // namespace mutirao::simulate
