// Hosts that run Rounds over links that change, die and come back, and hosts that do: the world in
// which rounds are explored, walked at random and timed. What is true and what hosts have been told
// are kept apart: a channel that died swallows what is sent until its ends learn of it, each at its
// own time; a host that was told of a new channel late finds messages waiting.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "core/spanning_tree/rounds.h"
#include "simulate/digest.h"

namespace mutirao::simulate {

/// Something that happens to the network, or a doubt of an agent.
struct RoundsEvent {
    enum class Kind : std::uint8_t {
        latency,  ///< the link between a and b takes latency_us from now on; infinite: measuring
                  ///< fails while the channel works
        link,     ///< the link between a and b dies, or comes back
        reset,    ///< the channel between a and b breaks, and a new one takes its place at once
        host,     ///< the agent of a dies, or comes back: as at the start, or knowing nothing
        alarm,    ///< a wrongly thinks that nothing comes from b
        restart,  ///< the watchdog of a
    };
    Kind kind = Kind::latency;
    int a = 0;
    int b = 0;
    double latency_us = 0;
};

struct RoundsScript {
    int hosts = 0;
    std::vector<double> latency_us;  ///< hosts^2, row by row, the same both ways; infinite: there is no such link
    bool known = true;               ///< the hosts start with a tree, otherwise with nothing
    std::vector<RoundsEvent> events;
};

/// Of a script's latencies. Where something is known, a link without a latency is known to be unusable.
rounds::LinkTable known_links(int hosts, const std::vector<double>& latency_us);

class RoundsWorld {
  public:
    using Message = rounds::Message;
    using Output = rounds::Output;

    struct Choice {
        enum class Kind : std::uint8_t { event, measure, deliver };
        Kind kind = Kind::event;
        int from = -1;  ///< measure: the other end, of which `to` finds that it shows wrongly
        int to = -1;    ///< who acts
    };

    explicit RoundsWorld(const RoundsScript& script);

    int host_count() const { return static_cast<int>(hosts_.size()); }
    bool alive(int host) const { return hosts_[index(host)].alive; }
    const Rounds& machine(int host) const { return hosts_[index(host)].machine; }
    /// Infinite if nothing gets through.
    double true_latency_us(int a, int b) const;
    /// An end has yet to find out what its link is like.
    bool to_be_measured() const;
    /// The same of a link that carries nothing.
    bool to_be_given_up() const;
    /// What went wrong in a step, if anything: versions of one round that differ.
    const std::string& violation() const { return violation_; }
    std::string describe(const Choice& choice) const;
    std::string describe(int host) const;

    std::size_t delivery_count() const { return deliveries_.size(); }
    Choice delivery(std::size_t i) const { return deliveries_[i]; }
    std::size_t spontaneous_count() const { return outside_.size(); }
    Choice spontaneous(std::size_t i) const { return outside_[i]; }
    Output apply(const Choice& choice);

    Digest digest() const;

  private:
    /// What arrives at one end of a channel.
    struct Item {
        enum class Kind : std::uint8_t { joined, lost, message };
        Kind kind = Kind::message;
        int life = 0;  ///< joined
        Message message;

        auto parts() const { return std::tie(kind, life, message); }
    };
    struct Host {
        Rounds machine;
        bool alive = true;
    };
    struct Link {
        double latency_us = 0;
        bool exists = false;
        bool up = true;
        int life = 0;  ///< of the channel over it; grows each time
        bool carries = false;

        auto parts() const { return std::tie(latency_us, up, life); }
    };
    /// One end of a channel: what its host was told last.
    struct End {
        static constexpr int untried = -1, broken = 0;
        int life = untried;
        std::deque<Item> arriving;

        auto parts() const { return std::tie(life, arriving); }
    };

    static std::size_t index(int host) { return static_cast<std::size_t>(host); }
    Link& link(int a, int b) { return links_[pair(a, b)]; }
    const Link& link(int a, int b) const { return links_[pair(a, b)]; }
    /// At host `at`.
    End& end(int at, int other) { return ends_[index(at) * hosts_.size() + index(other)]; }
    const End& end(int at, int other) const {
        return ends_[index(at) * hosts_.size() + index(other)];
    }
    std::size_t pair(int a, int b) const {
        return index(a < b ? a : b) * hosts_.size() + index(a < b ? b : a);
    }

    Rounds newborn(int host);
    Output happen(const RoundsEvent& event);
    void toggle_link(int a, int b);
    void toggle_host(int host);
    /// Makes channels work or break as links and hosts now are.
    void renew_link(int a, int b);
    void break_end(int at, int other);
    Output measure(int at, int other);
    Output deliver(int from, int to);
    void check_version(int host);
    bool will_measure(int at, int other) const;
    /// As they are after a step of that host: no step changes what becomes possible between others.
    void renew_choices(int host);

    RoundsScript script_;
    std::vector<Host> hosts_;
    std::vector<Link> links_;
    std::vector<End> ends_;
    std::size_t next_event_ = 0;
    std::uint64_t births_ = 0;
    std::vector<Choice> deliveries_;
    std::vector<Choice> outside_;
    std::map<rounds::RoundId, std::uint64_t> hashes_;
    std::string violation_;
};

}  // namespace mutirao::simulate
