// What an agent finds out and hears beside latencies: bandwidth, and the speed of hosts.
#include <algorithm>

#include "agent/agent_loop.h"
#include "agent/clock.h"

namespace mutirao::agent {

void AgentLoop::measure_bandwidth(std::int64_t now) {
    if (rounds_.version().hash != sites_of_version_) {
        sites_of_version_ = rounds_.version().hash;
        site_of_ = sites_of(rounds_.version().latency_us, host_count());
        bandwidth_plan_.follow(rounds_.version(), now);
    }
    carry(bandwidth_.advance(now));
    end_bandwidth(now);
    take_seen_rates();
    const auto peer = bandwidth_.busy() ? std::nullopt : bandwidth_plan_.due(now);
    if (!peer) return;
    if (mesh_.up(*peer)) {
        bandwidth_plan_.asked(*peer, now);
        carry(bandwidth_.ask(*peer, now));
    } else {
        bandwidth_plan_.failed(*peer, now);
    }
}

void AgentLoop::end_bandwidth(std::int64_t now) {
    const auto ended = bandwidth_.take_ended();
    if (!ended) return;
    if (ended->refused) return bandwidth_plan_.refused(ended->peer, now);
    if (!ended->bytes_per_us) return bandwidth_plan_.failed(ended->peer, now);
    bandwidth_plan_.measured(ended->peer, now);
    journal_.measured("bandwidth_bytes_per_us", ended->peer, *ended->bytes_per_us);
    publish_bandwidth(ended->peer, *ended->bytes_per_us);
}

// A train of packets may be held up by other traffic. Where no bandwidth is known none is assumed to be
// scarce, and what was seen is no reason to: whoever sent it may have been slow.
void AgentLoop::take_seen_rates() {
    constexpr double worth_telling = 1.25;
    const auto self = static_cast<std::size_t>(job_.self);
    for (const auto& [peer, bytes_per_us] : seen_rates_.take()) {
        const auto place = self * job_.contacts.size() + static_cast<std::size_t>(peer);
        const double known = published_.bandwidth_bytes_per_us[place];
        if (known > 0 && bytes_per_us > worth_telling * known) {
            journal_.measured("seen_bytes_per_us", peer, bytes_per_us);
            publish_bandwidth(peer, bytes_per_us);
        }
    }
}

void AgentLoop::publish_bandwidth(int peer, double bytes_per_us) {
    const Fact fact{std::min(job_.self, peer), std::max(job_.self, peer),
                    facts_.next_stamp(wall_ns()), bytes_per_us, 0};
    learn({&fact, 1}, job_.self);
}

void AgentLoop::carry(const BandwidthSensor::Output& output) {
    for (const BandwidthSensor::Outgoing& each : output) {
        if (each.kind == Kind::bandwidth_data)
            datagrams_.send(each.to, each.kind, each.payload);
        else
            mesh_.send(each.to, each.kind, each.payload);
    }
}

void AgentLoop::learn(std::span<const Fact> facts, int from) {
    const std::vector<Fact> fresh = facts_.learn(facts);
    if (fresh.empty()) return;
    for (int peer = 0; peer < host_count(); ++peer)
        if (peer != from && mesh_.up(peer)) tell(peer, fresh);
}

void AgentLoop::tell(int peer, std::span<const Fact> facts) {
    for (; !facts.empty(); facts = facts.subspan(std::min(facts.size(), facts_per_frame)))
        mesh_.send(peer, Kind::facts, encode(facts.first(std::min(facts.size(), facts_per_frame))));
}

NetworkView AgentLoop::whole_view() const {
    NetworkView view = rounds_.view();
    view.changes += facts_.changes();
    facts_.show(site_of_, view);
    return view;
}

}  // namespace mutirao::agent
