#include "simulate/rounds_world.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "core/spanning_tree/kruskal.h"
#include "core/spanning_tree/wire.h"
#include "simulate/random.h"

namespace mutirao::simulate {
namespace {

constexpr double never = std::numeric_limits<double>::infinity();

std::size_t square(int hosts) {
    return static_cast<std::size_t>(hosts) * static_cast<std::size_t>(hosts);
}

}  // namespace

EdgeList spanning_forest(int hosts, const std::vector<double>& latency_us) {
    std::vector<WeightedEdge> edges;
    for (int low = 0; low < hosts; ++low) {
        for (int high = low + 1; high < hosts; ++high) {
            const auto at = static_cast<std::size_t>(low * hosts + high);
            edges.push_back({low, high, {latency_us[at], low, high}});
        }
    }
    return kruskal(hosts, std::move(edges));
}

RoundsWorld::RoundsWorld(const RoundsScript& script)
    : script_(script), links_(square(script.hosts)), ends_(square(script.hosts)) {
    for (int host = 0; host < script.hosts; ++host)
        hosts_.push_back({newborn(host, script.known), true});
    for (int low = 0; low < script.hosts; ++low) {
        for (int high = low + 1; high < script.hosts; ++high) {
            link(low, high).latency_us = script.latency_us[pair(low, high)];
            link(low, high).exists = std::isfinite(link(low, high).latency_us);
            renew_link(low, high);
        }
    }
    renew_choices();
}

double RoundsWorld::true_latency_us(int a, int b) const {
    return link(a, b).carries ? link(a, b).latency_us : never;
}

bool RoundsWorld::to_be_measured() const {
    return std::ranges::any_of(
        outside_, [](const Choice& choice) { return choice.kind == Choice::Kind::measure; });
}

bool RoundsWorld::to_be_given_up() const {
    return std::ranges::any_of(outside_, [this](const Choice& choice) {
        return choice.kind == Choice::Kind::measure && !link(choice.to, choice.from).carries;
    });
}

RoundsWorld::Output RoundsWorld::apply(const Choice& choice) {
    Output sent;
    if (choice.kind == Choice::Kind::event) sent = happen(script_.events[next_event_++]);
    if (choice.kind == Choice::Kind::measure) sent = measure(choice.to, choice.from);
    if (choice.kind == Choice::Kind::deliver) sent = deliver(choice.from, choice.to);
    for (const rounds::Outgoing& outgoing : sent) {
        const bool arrives = link(choice.to, outgoing.to).carries &&
                             end(choice.to, outgoing.to).life == link(choice.to, outgoing.to).life;
        if (arrives)
            end(outgoing.to, choice.to)
                .arriving.push_back({Item::Kind::message, 0, outgoing.message});
    }
    if (choice.to >= 0) check_version(choice.to);
    renew_choices();
    return sent;
}

Rounds RoundsWorld::newborn(int host, bool knows_start) {
    ++births_;
    if (knows_start)
        return Rounds(host, script_.hosts, script_.latency_us,
                      spanning_forest(script_.hosts, script_.latency_us), births_);
    return Rounds(host, script_.hosts, std::vector<double>(square(script_.hosts), never), {},
                  births_);
}

RoundsWorld::Output RoundsWorld::happen(const RoundsEvent& event) {
    using Kind = RoundsEvent::Kind;
    if (event.kind == Kind::latency) link(event.a, event.b).latency_us = event.latency_us;
    if (event.kind == Kind::link || event.kind == Kind::reset) toggle_link(event.a, event.b);
    if (event.kind == Kind::reset) toggle_link(event.a, event.b);
    if (event.kind == Kind::host) toggle_host(event.a);
    Rounds& machine = hosts_[index(event.a)].machine;
    if (event.kind == Kind::alarm && alive(event.a)) return machine.announce(event.b, never);
    if (event.kind == Kind::restart && alive(event.a)) return machine.restart();
    return {};
}

void RoundsWorld::toggle_link(int a, int b) {
    link(a, b).up = !link(a, b).up;
    renew_link(a, b);
}

void RoundsWorld::toggle_host(int host) {
    Host& changed = hosts_[index(host)];
    changed.alive = !changed.alive;
    for (int other = 0; other < host_count(); ++other) {
        if (other == host) continue;
        end(host, other) = {};
        renew_link(host, other);
    }
    if (changed.alive) changed.machine = newborn(host, script_.known && births_ % 2 == 0);
}

void RoundsWorld::renew_link(int a, int b) {
    Link& changed = link(a, b);
    const bool carries = changed.exists && changed.up && alive(a) && alive(b);
    if (!carries) {
        break_end(a, b);
        break_end(b, a);
    } else if (!changed.carries) {
        ++changed.life;
        end(a, b).arriving.push_back({Item::Kind::joined, changed.life, {}});
        end(b, a).arriving.push_back({Item::Kind::joined, changed.life, {}});
    }
    changed.carries = carries;
}

/// Also the end that never saw the channel work: one day its host gives up.
void RoundsWorld::break_end(int at, int other) {
    End& broken = end(at, other);
    broken.arriving.clear();
    const bool will_know = alive(at) && link(at, other).exists && broken.life != End::broken;
    if (will_know) broken.arriving.push_back({Item::Kind::lost, 0, {}});
}

/// The lower host measures what differs from its view; both ends doubt a link that they gave up, and
/// give up what nobody has said anything of.
bool RoundsWorld::will_measure(int at, int other) const {
    if (!alive(at)) return false;
    const Link& measured = link(at, other);
    const bool unknown = machine(at).unknown(other);
    if (!measured.exists) return unknown;
    const double shown_us =
        machine(at).view().latency_us[index(at) * hosts_.size() + index(other)];
    if (!measured.carries)
        return end(at, other).life == End::broken && (unknown || std::isfinite(shown_us));
    const bool differs = unknown || shown_us != measured.latency_us;
    return at < other && end(at, other).life == measured.life && differs;
}

RoundsWorld::Output RoundsWorld::measure(int at, int other) {
    return hosts_[index(at)].machine.announce(other, true_latency_us(at, other));
}

RoundsWorld::Output RoundsWorld::deliver(int from, int to) {
    End& at = end(to, from);
    if (at.arriving.empty()) return {};
    const Item item = std::move(at.arriving.front());
    at.arriving.pop_front();
    Rounds& machine = hosts_[index(to)].machine;
    if (item.kind == Item::Kind::message) return machine.on(from, item.message);
    at.life = item.life;
    return item.kind == Item::Kind::joined ? machine.joined(from) : machine.lost(from);
}

void RoundsWorld::check_version(int host) {
    const Version& version = machine(host).version();
    if (version.number == 0) return;
    const auto [known, is_new] = hashes_.try_emplace(machine(host).version_id(), version.hash);
    if (known->second != version.hash)
        violation_ = "host " + std::to_string(host) + " has another version " +
                     std::to_string(version.number) + " than others of its round";
    if (is_new && version.tree != spanning_forest(host_count(), version.latency_us))
        violation_ = "version " + std::to_string(version.number) + " of host " +
                     std::to_string(host) + " is not minimal for its own latencies";
}

void RoundsWorld::renew_choices() {
    deliveries_.clear();
    outside_.clear();
    if (next_event_ < script_.events.size()) {
        const RoundsEvent& event = script_.events[next_event_];
        outside_.push_back({Choice::Kind::event, event.b, event.a});
    }
    for (int to = 0; to < host_count(); ++to) {
        for (int from = 0; from < host_count(); ++from) {
            if (from == to) continue;
            if (!end(to, from).arriving.empty())
                deliveries_.push_back({Choice::Kind::deliver, from, to});
            if (will_measure(to, from))
                outside_.push_back({Choice::Kind::measure, from, to});
        }
    }
}

Digest RoundsWorld::digest() const {
    Digester digester(next_event_);
    for (const Host& host : hosts_) {
        digester.add(std::string_view(host.alive ? "alive" : "dead"));
        if (host.alive) digester.add(host.machine.fingerprint());
    }
    for (const Link& each : links_) {
        const std::array<double, 3> state = {each.latency_us, each.up ? 1.0 : 0.0,
                                             static_cast<double>(each.life)};
        digester.add(std::as_bytes(std::span(state)));
    }
    for (const End& each : ends_) {
        digester.add(std::to_string(each.life) + ":" + std::to_string(each.arriving.size()));
        for (const Item& item : each.arriving) {
            digester.add(std::to_string(static_cast<int>(item.kind)) + std::to_string(item.life));
            digester.add(rounds::encode(item.message));
        }
    }
    return digester.value();
}

}  // namespace mutirao::simulate
