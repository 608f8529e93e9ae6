// Every order of events of a protocol on a small network: depth first over all choices, each state
// once. Since protocols here must end, a state that leads back to itself is a failure, and the
// worst number of messages over all orders follows from the states' own worst remainders.
//
// Rules say what must hold:
//   Counts                       an array of numbers, none negative, added up along an execution
//   count(from, outgoing)        -> Counts: what one sent message adds
//   objection(world, choice)     why this choice must not be possible here; empty: it may
//   objection_at_rest(world)     why the world must not stop here; asked whenever nothing is in
//                                flight, even if something may still come from outside
#pragma once

#include <algorithm>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "simulate/digest.h"

namespace mutirao::simulate {

/// Counts of several kinds, each by itself.
template <class Counts>
void add(Counts& sum, const Counts& more) {
    std::ranges::transform(sum, more, sum.begin(), [](auto a, auto b) { return a + b; });
}

template <class World, class Rules>
class Explorer {
  public:
    using Choice = typename World::Choice;
    using Counts = typename Rules::Counts;

    Explorer(World start, Rules rules, std::size_t most_states = 20'000'000)
        : start_(std::move(start)), rules_(std::move(rules)), most_states_(most_states) {}

    /// The first failure found, to which path() leads; empty: there is none.
    std::string run() {
        enter(start_, Counts{});
        while (failure_.empty() && !stack_.empty()) {
            Frame& frame = stack_.back();
            if (frame.next == frame.choices.size()) {
                leave();
            } else {
                step(frame.world, frame.choices[frame.next++]);
            }
        }
        return failure_;
    }

    /// The choices from the start up to the one being tried.
    std::vector<Choice> path() const {
        std::vector<Choice> choices;
        for (const Frame& frame : stack_)
            if (frame.next > 0) choices.push_back(frame.choices[frame.next - 1]);
        return choices;
    }

    std::size_t states() const { return worst_from_.size(); }
    std::size_t steps() const { return steps_; }
    /// The largest value of each count over all executions.
    Counts worst() const { return worst_from_.at(start_.digest()).counts; }

  private:
    struct Frame {
        World world;
        std::vector<Choice> choices;
        std::size_t next = 0;
        Counts worst{};    ///< over the executions from here on
        Counts arrival{};  ///< what the step into this state added
    };
    struct Known {
        Counts counts{};
        bool open = true;  ///< on the path being tried
    };

    void step(const World& from, const Choice& choice) {
        ++steps_;
        if (object(rules_.objection(from, choice))) return;
        World world = from;
        Counts added{};
        for (const auto& outgoing : world.apply(choice))
            add(added, rules_.count(choice.to, outgoing));
        enter(std::move(world), added);
    }

    void enter(World world, const Counts& arrival) {
        const auto [entry, is_new] = worst_from_.try_emplace(world.digest());
        if (!is_new) {
            if (entry->second.open) {
                object("an order of events that never ends");
            } else {
                fold(arrival, entry->second.counts);
            }
            return;
        }
        if (world.delivery_count() == 0 && object(rules_.objection_at_rest(world))) return;
        if (worst_from_.size() > most_states_ && object("more states than allowed")) return;
        Frame frame{std::move(world), {}, 0, Counts{}, arrival};
        for (std::size_t i = 0; i < frame.world.delivery_count(); ++i)
            frame.choices.push_back(frame.world.delivery(i));
        for (std::size_t i = 0; i < frame.world.spontaneous_count(); ++i)
            frame.choices.push_back(frame.world.spontaneous(i));
        stack_.push_back(std::move(frame));
    }

    void leave() {
        const Frame done = std::move(stack_.back());
        stack_.pop_back();
        worst_from_[done.world.digest()] = {done.worst, false};
        if (!stack_.empty()) fold(done.arrival, done.worst);
    }

    /// An execution from the state on top: a step that adds `arrival`, then `rest`.
    void fold(const Counts& arrival, const Counts& rest) {
        Counts total = arrival;
        add(total, rest);
        Counts& worst = stack_.back().worst;
        for (std::size_t i = 0; i < total.size(); ++i) worst[i] = std::max(worst[i], total[i]);
    }

    bool object(std::string reason) {
        failure_ = std::move(reason);
        return !failure_.empty();
    }

    World start_;
    Rules rules_;
    std::size_t most_states_;
    std::size_t steps_ = 0;
    std::vector<Frame> stack_;
    std::unordered_map<Digest, Known, DigestHash> worst_from_;
    std::string failure_;
};

}  // namespace mutirao::simulate
