// Machines joined by first-in-first-out channels, in memory: the world in which a protocol is
// explored. Nothing happens by itself; whoever drives it picks one of the choices.
//
// A world, as explorer.h and random_walk.h understand it, is a copyable value with
//   Choice                               what may happen next
//   delivery_count(), delivery(i)        choices that the network makes
//   spontaneous_count(), spontaneous(i)  choices that come from outside (here: waking a host)
//   apply(choice)                        makes it happen, returns what was sent
//   digest()                             equal for equal states
// A protocol with more choices, such as changing links, wraps Channels in a world of its own.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "core/network/tree.h"
#include "core/text/invariant.h"
#include "simulate/digest.h"

namespace mutirao::simulate {

/// Machine: a copyable value with asleep(), wake() and on(from, message), which return the messages to send, and
/// parts(), all of its state; encode(message) gives a message's bytes.
template <class Machine>
class Channels {
  public:
    using Output = decltype(std::declval<Machine&>().wake());
    using Message = decltype(Output::value_type::message);

    struct Choice {
        enum class Kind : std::uint8_t { wake, deliver };
        Kind kind = Kind::wake;
        int from = -1;  ///< deliver
        int to = -1;
    };

    Channels(std::vector<Machine> machines, const EdgeList& links)
        : machines_(std::move(machines)), queues_(2 * links.size()) {
        EdgeList ends;
        for (const auto& [a, b] : links) ends.insert(ends.end(), {{a, b}, {b, a}});
        std::ranges::sort(ends);
        ends_ = std::make_shared<const EdgeList>(std::move(ends));
        for (int host = 0; host < host_count(); ++host)
            if (machine(host).asleep()) asleep_.push_back(host);
    }

    int host_count() const { return static_cast<int>(machines_.size()); }
    const Machine& machine(int host) const { return machines_[static_cast<std::size_t>(host)]; }
    /// The message that would be delivered next; there must be one.
    const Message& next(int from, int to) const {
        return queues_[channel(from, to)].front();
    }

    std::size_t delivery_count() const { return ready_.size(); }
    Choice delivery(std::size_t i) const {
        const auto [from, to] = (*ends_)[ready_[i]];
        return {Choice::Kind::deliver, from, to};
    }
    std::size_t spontaneous_count() const { return asleep_.size(); }
    Choice spontaneous(std::size_t i) const { return {Choice::Kind::wake, -1, asleep_[i]}; }

    Output apply(const Choice& choice) {
        Machine& machine = machines_[static_cast<std::size_t>(choice.to)];
        Output sent =
            choice.kind == Choice::Kind::wake
                ? machine.wake()
                : machine.on(choice.from, take(channel(choice.from, choice.to)));
        if (!machine.asleep()) std::erase(asleep_, choice.to);
        for (const auto& outgoing : sent) put(channel(choice.to, outgoing.to), outgoing.message);
        return sent;
    }

    Digest digest() const { return digest_of(machines_, queues_); }

  private:
    std::size_t channel(int from, int to) const {
        const auto found = std::ranges::lower_bound(*ends_, std::pair(from, to));
        if (found == ends_->end() || *found != std::pair(from, to))
            broken_invariant("no channel between these hosts", from, to);
        return static_cast<std::size_t>(found - ends_->begin());
    }

    Message take(std::size_t channel) {
        auto& queue = queues_[channel];
        const Message message = queue.front();
        queue.erase(queue.begin());
        if (queue.empty()) std::erase(ready_, channel);
        return message;
    }

    void put(std::size_t channel, const Message& message) {
        auto& queue = queues_[channel];
        if (queue.empty()) ready_.push_back(channel);
        queue.push_back(message);
    }

    std::shared_ptr<const EdgeList> ends_;  ///< (from, to) of each channel, ascending
    std::vector<Machine> machines_;
    std::vector<std::vector<Message>> queues_;  ///< by channel
    std::vector<std::size_t> ready_;            ///< channels that hold messages, in no particular order
    std::vector<int> asleep_;                   ///< hosts that may be woken
};

}  // namespace mutirao::simulate
