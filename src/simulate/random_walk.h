// One random execution of a protocol, for networks too large to explore. Fair schedulers hide
// faults that need one slow link, so a seed also draws how unfair it is and how eagerly the
// choices from outside (waking hosts) are taken. The rules are those of explorer.h.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "simulate/explorer.h"
#include "simulate/random.h"

namespace mutirao::simulate {

template <class World, class Rules>
class RandomWalk {
  public:
    using Choice = typename World::Choice;
    using Counts = typename Rules::Counts;

    RandomWalk(World start, Rules rules, std::uint64_t seed)
        : world_(std::move(start)),
          rules_(std::move(rules)),
          random_(seed),
          slow_seed_(random_.next()),
          candidates_(1 + 3 * random_.below(3)),
          eagerness_(eagernesses[random_.below(eagernesses.size())]) {}

    /// Until nothing can happen any more, or something fails: what, as after `most_steps`.
    std::string run(std::size_t most_steps) {
        while (world_.delivery_count() + world_.spontaneous_count() > 0) {
            std::string reason;
            if (world_.delivery_count() == 0) reason = rules_.objection_at_rest(world_);
            if (!reason.empty()) return reason;
            const Choice choice = choose();
            path_.push_back(choice);
            reason = path_.size() > most_steps ? "more steps than allowed" : rules_.objection(world_, choice);
            if (!reason.empty()) return reason;
            for (const auto& outgoing : world_.apply(choice))
                add(counts_, rules_.count(choice.to, outgoing));
        }
        return rules_.objection_at_rest(world_);
    }

    const Counts& counts() const { return counts_; }
    const std::vector<Choice>& path() const { return path_; }

  private:
    static constexpr std::array<double, 4> eagernesses = {0.0, 0.01, 0.3, 1.0};

    Choice choose() {
        const bool outside =
            world_.delivery_count() == 0 ||
            (world_.spontaneous_count() > 0 && random_.unit() < eagerness_);
        if (outside) return world_.spontaneous(random_.below(world_.spontaneous_count()));
        Choice best = world_.delivery(random_.below(world_.delivery_count()));
        for (std::size_t i = 1; i < candidates_; ++i) {
            const Choice other = world_.delivery(random_.below(world_.delivery_count()));
            if (slowness(other) < slowness(best)) best = other;
        }
        return best;
    }

    /// Fixed per pair of hosts: with several candidates, slow channels wait very long.
    std::uint64_t slowness(const Choice& choice) const {
        const auto pair = (static_cast<std::uint64_t>(choice.from) << 32) ^
                          static_cast<std::uint64_t>(choice.to);
        return scramble(slow_seed_ ^ pair);
    }

    World world_;
    Rules rules_;
    Random random_;
    std::uint64_t slow_seed_;
    std::size_t candidates_;
    double eagerness_;
    std::vector<Choice> path_;
    Counts counts_{};
};

}  // namespace mutirao::simulate
