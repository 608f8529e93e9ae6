#include "simulate/program.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/text/invariant.h"
#include "simulate/random.h"

namespace mutirao::simulate {
namespace {

std::size_t at(int rank) { return static_cast<std::size_t>(rank); }

double latest(const std::vector<double>& times_us) { return *std::ranges::max_element(times_us); }

Random random_of(std::uint64_t seed, Purpose purpose, std::uint64_t call, int rank) {
    constexpr std::uint64_t odd = 0x9E3779B97F4A7C15u;
    const auto number = static_cast<std::uint64_t>(purpose);
    Random mixed(((seed * odd + number) * odd + call) * odd + static_cast<std::uint64_t>(rank));
    mixed.next();
    return mixed;
}

}  // namespace

// Box and Muller 1958, doi:10.1214/aoms/1177706645.
double normal_of(std::uint64_t seed, Purpose purpose, std::uint64_t call, int rank) {
    constexpr double two_pi = 6.283185307179586;
    Random random = random_of(seed, purpose, call, rank);
    const double radius = std::sqrt(-2 * std::log(1 - random.unit()));
    return radius * std::cos(two_pi * random.unit());
}

namespace {

class Running {
  public:
    Running(const Program& program, const Truth& truth, Chooser& chooser, std::uint64_t seed)
        : program_(program),
          truth_(truth),
          chooser_(chooser),
          seed_(seed),
          now_us_(at(program.ranks), 0),
          in_calls_us_(at(program.ranks), 0) {}

    Outcome run() {
        for (int round = 0; round < program_.rounds; ++round) {
            for (const Program::Step& step : program_.steps) {
                compute(step);
                call(step.shape);
            }
        }
        outcome_.elapsed_us = latest(now_us_);
        outcome_.in_calls_us = std::accumulate(in_calls_us_.begin(), in_calls_us_.end(), 0.0) / program_.ranks;
        return std::move(outcome_);
    }

  private:
    void compute(const Program::Step& step) {
        for (int rank = 0; rank < program_.ranks; ++rank) {
            const double slower = 1 + program_.skew * random_of(seed_, Purpose::skew, 0, rank).unit();
            const double late = program_.lateness * std::abs(normal_of(seed_, Purpose::lateness, number_, rank));
            now_us_[at(rank)] += step.compute_us * (slower + late);
        }
    }

    void hear_news() {
        for (; next_news_ < program_.news.size(); ++next_news_) {
            const Program::News& news = program_.news[next_news_];
            if (news.call > 0 && news.call >= number_) return;
            const double known_us = (news.call > 0 ? entered_us_[news.call] : 0) + news.after_us;
            if (known_us > now_us_.front()) return;
            chooser_.hear_network(news.network);
        }
    }

    void call(const CallShape& shape) {
        hear_news();
        const Call call{number_++, shape};
        entered_us_.push_back(now_us_.front());
        const Arm arm = chooser_.enter(0, call, now_us_.front());
        for (int rank = 1; rank < program_.ranks; ++rank) {
            if (!(chooser_.enter(rank, call, now_us_[at(rank)]) == arm))
                broken_invariant("ranks differ (call, rank)", static_cast<long long>(call.number), rank);
        }
        const std::vector<double> done_us = truth_(call, arm, now_us_);
        const double begun_us = row_of(shape.collective).rooted ? now_us_[at(shape.root)] : latest(now_us_);
        outcome_.calls_us.push_back(latest(done_us) - begun_us);
        for (int rank = 0; rank < program_.ranks; ++rank) {
            const double took_us = done_us[at(rank)] - now_us_[at(rank)];
            in_calls_us_[at(rank)] += took_us;
            now_us_[at(rank)] = done_us[at(rank)];
            chooser_.leave(rank, call, done_us[at(rank)], took_us);
        }
    }

    const Program& program_;
    const Truth& truth_;
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
    return std::accumulate(calls_us.begin() + static_cast<std::ptrdiff_t>(from), calls_us.end(), 0.0);
}

Outcome run(const Program& program, const Truth& truth, Chooser& chooser, std::uint64_t seed) {
    return Running(program, truth, chooser, seed).run();
}

}  // namespace mutirao::simulate
