// One execution of a protocol on a virtual clock: every message takes its link's latency and
// handling it takes no time, so how long something takes is exact and the same on every machine.
// The worlds are those of channels.h, and others whose choices of Kind::deliver are
// {kind, from, to}. Between two hosts messages arrive in the order in which they were sent, also
// when the latency falls meanwhile; what arrives at one time is handled in the order of sending.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <utility>

namespace mutirao::simulate {

template <class World>
class TimedRun {
  public:
    using Choice = typename World::Choice;
    using Output = typename World::Output;
    /// Asked when a message is sent.
    using Latency = std::function<double(int from, int to)>;

    struct Step {
        double time_us = 0;
        Choice choice;
        Output sent;
    };

    TimedRun(World start, Latency latency_us)
        : world_(std::move(start)), latency_us_(std::move(latency_us)) {}

    /// Something from outside that is to happen at this time; not before now.
    void schedule(double time_us, const Choice& choice) {
        events_.emplace(std::max(time_us, now_us_), choice);
    }

    /// What happens next, or nothing if nothing can any more.
    std::optional<Step> step() {
        if (events_.empty()) return std::nullopt;
        const auto [time_us, choice] = *events_.begin();
        events_.erase(events_.begin());
        now_us_ = time_us;
        Step step{time_us, choice, world_.apply(choice)};
        for (const auto& outgoing : step.sent) send(choice.to, outgoing.to);
        return step;
    }

    const World& world() const { return world_; }
    double now_us() const { return now_us_; }

  private:
    void send(int from, int to) {
        double& arrival_us = last_arrival_us_[{from, to}];
        arrival_us = std::max(arrival_us, now_us_ + latency_us_(from, to));
        schedule(arrival_us, Choice{Choice::Kind::deliver, from, to});
    }

    World world_;
    Latency latency_us_;
    std::multimap<double, Choice> events_;  ///< by time; those of one time as they were scheduled
    std::map<std::pair<int, int>, double> last_arrival_us_;
    double now_us_ = 0;
};

}  // namespace mutirao::simulate
