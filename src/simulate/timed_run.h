// One execution of a protocol on a virtual clock: every message takes its link's latency and
// handling it takes no time, so how long something takes is exact and the same on every machine.
// The worlds are those of channels.h, and others whose choices of Kind::deliver are
// {kind, from, to}. Between two hosts messages arrive in the order in which they were sent, also
// when the latency falls meanwhile; what arrives at one time is handled in the order of sending.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <queue>
#include <utility>
#include <vector>

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
        events_.push({std::max(time_us, now_us_), next_number_++, choice});
    }

    /// What happens next, or nothing if nothing can any more.
    std::optional<Step> step() {
        if (events_.empty()) return std::nullopt;
        const Event event = events_.top();
        events_.pop();
        now_us_ = event.time_us;
        Step step{now_us_, event.choice, world_.apply(event.choice)};
        for (const auto& outgoing : step.sent) send(event.choice.to, outgoing.to);
        return step;
    }

    const World& world() const { return world_; }
    double now_us() const { return now_us_; }

  private:
    struct Event {
        double time_us = 0;
        std::uint64_t number = 0;  ///< later ones are larger
        Choice choice;
    };
    struct Later {
        bool operator()(const Event& a, const Event& b) const {
            return std::pair(a.time_us, a.number) > std::pair(b.time_us, b.number);
        }
    };

    void send(int from, int to) {
        double& arrival_us = last_arrival_us_[{from, to}];
        arrival_us = std::max(arrival_us, now_us_ + latency_us_(from, to));
        schedule(arrival_us, Choice{Choice::Kind::deliver, from, to});
    }

    World world_;
    Latency latency_us_;
    std::priority_queue<Event, std::vector<Event>, Later> events_;
    std::map<std::pair<int, int>, double> last_arrival_us_;
    std::uint64_t next_number_ = 0;
    double now_us_ = 0;
};

}  // namespace mutirao::simulate
