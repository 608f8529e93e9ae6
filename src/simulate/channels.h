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
#include <compare>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "core/network/tree.h"
#include "core/text/invariant.h"
#include "simulate/digest.h"

namespace mutirao::simulate {

/// Which ordered pairs of hosts have a channel.
class ChannelEnds {
  public:
    ChannelEnds(int hosts, const EdgeList& links)
        : hosts_(hosts),
          channel_(static_cast<std::size_t>(hosts) * static_cast<std::size_t>(hosts), -1) {
        for (const auto& [a, b] : links) {
            add(a, b);
            add(b, a);
        }
    }

    int channel_count() const { return static_cast<int>(ends_.size()); }
    std::pair<int, int> ends(int channel) const { return ends_[static_cast<std::size_t>(channel)]; }
    /// Ascending.
    std::vector<int> neighbours(int host) const {
        std::vector<int> list;
        for (int other = 0; other < hosts_; ++other)
            if (channel_[index(host, other)] >= 0) list.push_back(other);
        return list;
    }
    int channel(int from, int to) const {
        const int found = channel_[index(from, to)];
        if (found < 0) broken_invariant("no channel between these hosts", from, to);
        return found;
    }

  private:
    void add(int from, int to) {
        channel_[index(from, to)] = channel_count();
        ends_.emplace_back(from, to);
    }
    std::size_t index(int from, int to) const {
        return static_cast<std::size_t>(from) * static_cast<std::size_t>(hosts_) +
               static_cast<std::size_t>(to);
    }

    int hosts_;
    std::vector<int> channel_;
    std::vector<std::pair<int, int>> ends_;
};

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

        auto operator<=>(const Choice&) const = default;
    };

    Channels(std::vector<Machine> machines, const EdgeList& links)
        : topology_(std::make_shared<const ChannelEnds>(static_cast<int>(machines.size()), links)),
          machines_(std::move(machines)),
          queues_(static_cast<std::size_t>(topology_->channel_count())) {
        for (int host = 0; host < host_count(); ++host)
            if (machine(host).asleep()) asleep_.push_back(host);
    }

    int host_count() const { return static_cast<int>(machines_.size()); }
    const Machine& machine(int host) const { return machines_[static_cast<std::size_t>(host)]; }
    std::vector<int> neighbours(int host) const { return topology_->neighbours(host); }
    /// The message that would be delivered next; there must be one.
    const Message& next(int from, int to) const {
        return queues_[static_cast<std::size_t>(topology_->channel(from, to))].front();
    }

    std::size_t delivery_count() const { return ready_.size(); }
    Choice delivery(std::size_t i) const {
        const auto [from, to] = topology_->ends(ready_[i]);
        return {Choice::Kind::deliver, from, to};
    }
    std::size_t spontaneous_count() const { return asleep_.size(); }
    Choice spontaneous(std::size_t i) const { return {Choice::Kind::wake, -1, asleep_[i]}; }

    Output apply(const Choice& choice) {
        Machine& machine = machines_[static_cast<std::size_t>(choice.to)];
        Output sent =
            choice.kind == Choice::Kind::wake
                ? machine.wake()
                : machine.on(choice.from, take(topology_->channel(choice.from, choice.to)));
        if (!machine.asleep()) std::erase(asleep_, choice.to);
        for (const auto& outgoing : sent)
            put(topology_->channel(choice.to, outgoing.to), outgoing.message);
        return sent;
    }

    Digest digest() const {
        Digester digester;
        digester.add(machines_);
        digester.add(queues_);
        return digester.value();
    }

  private:
    Message take(int channel) {
        auto& queue = queues_[static_cast<std::size_t>(channel)];
        const Message message = queue.front();
        queue.erase(queue.begin());
        if (queue.empty()) std::erase(ready_, channel);
        return message;
    }

    void put(int channel, const Message& message) {
        auto& queue = queues_[static_cast<std::size_t>(channel)];
        if (queue.empty()) ready_.push_back(channel);
        queue.push_back(message);
    }

    std::shared_ptr<const ChannelEnds> topology_;
    std::vector<Machine> machines_;
    std::vector<std::vector<Message>> queues_;
    std::vector<int> ready_;   ///< channels that hold messages, in no particular order
    std::vector<int> asleep_;  ///< hosts that may be woken
};

}  // namespace mutirao::simulate
