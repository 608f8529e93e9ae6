#include "agent/links.h"

#include <cmath>

#include "agent/sensors/host_sensors.h"
#include "core/text/bytes.h"

namespace mutirao::agent {
namespace {

/// The traffic at a host is bounded: where there are more links, each is probed less often.
constexpr double links_at_full_rate = 23;

std::int64_t stretched(std::int64_t period_ns, int count, double at_full_rate) {
    return static_cast<std::int64_t>(static_cast<double>(period_ns) *
                                     std::max(1.0, count / at_full_rate));
}

/// Spreads whole numbers evenly over 0..1, neighbours far apart: multiples of the golden ratio.
double phase_of(int number) {
    const double turns = 0.6180339887498949 * (number + 1);
    return turns - std::floor(turns);
}

struct Echo {
    std::uint32_t probe = 0;
    std::int64_t held_ns = 0;
};
template <class Codec>
void fields(Codec& codec, Coded<Codec, Echo>& echo) {
    codec.number(echo.probe, 4);
    codec.number(echo.held_ns, 4);
}

std::vector<std::byte> echo_of(std::uint32_t probe, std::int64_t held_ns) {
    return to_bytes(Echo{probe, std::clamp<std::int64_t>(held_ns, 0, UINT32_MAX)});
}

}  // namespace

Links::Links(int self, const Options& options, Mesh& mesh, Counters& counters, Journal& journal)
    : self_(self),
      tree_period_ns_(options.tree_period_ms * ns_per_ms),
      other_period_ns_(stretched(options.other_period_ms * ns_per_ms, mesh.host_count() - 1,
                                 links_at_full_rate)),
      dead_after_ns_(options.dead_after_ms * ns_per_ms),
      mesh_(mesh),
      counters_(counters),
      journal_(journal),
      watches_(static_cast<std::size_t>(mesh.host_count())) {
    for (int peer = 0; peer < mesh.host_count(); ++peer) {
        probers_.emplace_back(options.rule, std::nullopt, dead_after_ns_, phase_of(self + peer), &stolen_);
        probers_.back().set_period(other_period_ns_, 0);
    }
}

void Links::joined(int peer, const std::optional<Greeting>& greeting, std::int64_t now_ns) {
    watches_[index(peer)] = {};
    if (peer < self_) return;
    // All channels come up at about the same time: the first probes must not go out all at once.
    const auto spread_ns = static_cast<std::int64_t>(phase_of(peer) * 20 * ns_per_ms);
    LinkProber& prober = probers_[index(peer)];
    prober.start(now_ns + spread_ns, now_ns);
    if (!greeting) return;
    journal_.measured("tcp_connect_us", peer, greeting->connect_us);
    prober.estimated(greeting->round_trip_us / 2);
    if (!prober.detector().was_measured())
        announcements_.push_back({peer, *prober.announced_us()});
}

void Links::lost(int peer) {
    if (peer > self_) probers_[index(peer)].stop();
}

void Links::use_tree(const NetworkView& view, std::int64_t now_ns) {
    std::vector<std::int64_t> period_ns(probers_.size(), other_period_ns_);
    const TreeShares shares(view, static_cast<double>(tree_period_ns_) / ns_per_us);
    for (const auto& [low, high] : view.tree) {
        if (low != self_) continue;
        const double factor = shares.stretch(low, high);
        const double stretched_ns = factor * static_cast<double>(tree_period_ns_);
        if (stretched_ns < static_cast<double>(other_period_ns_))
            period_ns[index(high)] = static_cast<std::int64_t>(stretched_ns);
    }
    for (int peer = self_ + 1; peer < host_count(); ++peer)
        probers_[index(peer)].set_period(period_ns[index(peer)], now_ns);
}

template <class Answer>
void Links::on(const Frame& frame, Way way, std::int64_t arrived_ns, Answer answer) {
    const Head& head = frame.head;
    if (head.kind == Kind::probe && head.sender < self_) {
        answer(echo_of(head.counter, way == Way::udp ? now_ns() - arrived_ns : 0));
        watches_[index(head.sender)] = {arrived_ns, false};
    } else if (head.kind == Kind::echo && head.sender > self_) {
        answered(head.sender, way, frame.payload, arrived_ns);
    } else {
        ++counters_[Count::rejected_unexpected];
    }
}

void Links::on_datagram(const Datagram& datagram) {
    on(datagram.frame, Way::udp, datagram.arrived_ns,
       [&](const auto& echo) { mesh_.answer(datagram, Kind::echo, echo); });
}

void Links::on_frame(const Frame& frame) {
    on(frame, Way::channel, now_ns(), [&](const auto& echo) { mesh_.send(frame.head.sender, Kind::echo, echo); });
}

void Links::answered(int peer, Way way, std::span<const std::byte> echo, std::int64_t arrived_ns) {
    const auto told = from_bytes<Echo>(echo);
    if (!told) {
        ++counters_[Count::rejected_malformed];
        return;
    }
    const ProbeId probe{way, told->probe};
    LinkProber& prober = probers_[index(peer)];
    if (prober.would_be_slow(probe, arrived_ns)) look_for_theft(now_ns());
    const auto round_trip_us = prober.answered(probe, told->held_ns, arrived_ns);
    if (!round_trip_us) return;
    ++counters_[Count::probes_answered];
    journal_.measured_latency(peer, *round_trip_us / 2);
    if (const auto latency_us = prober.announced_us())
        announcements_.push_back({peer, *latency_us});
}

void Links::excuse(std::int64_t now_ns) {
    for (LinkProber& prober : probers_) prober.excuse(now_ns);
    for (Watch& watch : watches_)
        if (watch.heard_ns != 0) watch.heard_ns = now_ns;
}

void Links::look_for_theft(std::int64_t now_ns) { stolen_.read(now_ns, stolen_processor_ns()); }

void Links::advance(std::int64_t now_ns) {
    for (int peer = self_ + 1; peer < host_count(); ++peer) {
        LinkProber& prober = probers_[index(peer)];
        if (now_ns < prober.next_ns()) continue;
        const auto before = prober.announced_us();
        if (prober.would_be_late(now_ns)) look_for_theft(now_ns);
        const std::uint64_t late_before = prober.late_probes();
        const ProbesDue due = prober.advance(now_ns);
        if (due.udp) send_probe(peer, Way::udp);
        if (due.channel) send_probe(peer, Way::channel);
        counters_[Count::probes_late] += prober.late_probes() - late_before;
        if (const auto after = prober.announced_us(); after && after != before)
            announcements_.push_back({peer, *after});
    }
    for (int peer = 0; peer < self_; ++peer) {
        Watch& watch = watches_[index(peer)];
        if (watch.heard_ns == 0 || watch.silent || now_ns - watch.heard_ns < silence_ns())
            continue;
        watch.silent = true;
        announcements_.push_back({peer, no_link_us});
    }
}

std::int64_t Links::next_ns() const {
    std::int64_t next = never_ns;
    for (int peer = self_ + 1; peer < host_count(); ++peer)
        next = std::min(next, probers_[index(peer)].next_ns());
    for (int peer = 0; peer < self_; ++peer) {
        const Watch& watch = watches_[index(peer)];
        if (watch.heard_ns != 0 && !watch.silent)
            next = std::min(next, watch.heard_ns + silence_ns());
    }
    return next;
}

void Links::send_probe(int peer, Way way) {
    const std::int64_t sent_ns = now_ns();
    const auto number =
        way == Way::udp ? mesh_.send_datagram(peer, Kind::probe, {}) : mesh_.send(peer, Kind::probe, {});
    if (!number) return;
    ++counters_[Count::probes_sent];
    probers_[index(peer)].sent({way, *number}, sent_ns);
}

}  // namespace mutirao::agent
