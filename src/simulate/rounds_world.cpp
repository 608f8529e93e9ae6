#include "simulate/rounds_world.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <string_view>
#include <utility>
#include <vector>

#include "core/network/tree.h"
#include "core/spanning_tree/rounds_message.h"

namespace mutirao::simulate {
namespace {

constexpr double never = std::numeric_limits<double>::infinity();

/// Kruskal's, over the usable links.
EdgeList tree_of(int hosts, const std::vector<double>& latency_us) {
    return minimum_spanning_tree(Network(hosts, latency_us));
}

}  // namespace

rounds::LinkTable known_links(int hosts, const std::vector<double>& latency_us) {
    const auto at_us = [&](int a, int b) { return latency_us[static_cast<std::size_t>(a * hosts + b)]; };
    rounds::LinkTable links(hosts);
    bool something = false;
    links.for_each([&](int low, int high, const rounds::LinkState&) {
        something = something || at_us(low, high) < never;
    });
    links.for_each([&](int low, int high, const rounds::LinkState&) {
        links.set(low, high, {something && at_us(low, high) == never ? 1U : 0U, 0, at_us(low, high)});
    });
    return links;
}

RoundsWorld::RoundsWorld(const RoundsScript& script)
    : script_(script), links_(script.latency_us.size()), ends_(script.latency_us.size()) {
    for (int host = 0; host < script.hosts; ++host)
        hosts_.push_back({newborn(host), true});
    for (int low = 0; low < script.hosts; ++low) {
        for (int high = low + 1; high < script.hosts; ++high) {
            link(low, high).latency_us = script.latency_us[pair(low, high)];
            link(low, high).exists = std::isfinite(link(low, high).latency_us);
            renew_link(low, high);
        }
    }
    for (int host = 0; host < script.hosts; ++host) renew_choices(host);
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
    check_version(choice.to);
    renew_choices(choice.to);
    return sent;
}

Rounds RoundsWorld::newborn(int host) {
    ++births_;
    if (!script_.known) return Rounds(host, script_.hosts, births_);
    return {host, known_links(script_.hosts, script_.latency_us), tree_of(script_.hosts, script_.latency_us), births_};
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
    if (changed.alive) changed.machine = newborn(host);
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
    const std::uint32_t number = version.id.number;
    if (number == 0) return;
    const auto [known, is_new] = hashes_.try_emplace(version.id, version.hash);
    if (known->second != version.hash)
        violation_ = "host " + std::to_string(host) + " has another version " +
                     std::to_string(number) + " than others of its round";
    if (is_new && version.tree != tree_of(host_count(), version.links.latencies_us()))
        violation_ = "version " + std::to_string(number) + " of host " +
                     std::to_string(host) + " is not minimal for its own latencies";
}

void RoundsWorld::renew_choices(int host) {
    const auto is_old = [host](const Choice& each) {
        return each.kind == Choice::Kind::event || each.from == host || each.to == host;
    };
    std::erase_if(deliveries_, is_old);
    std::erase_if(outside_, is_old);
    for (int other = 0; other < host_count(); ++other) {
        if (other == host) continue;
        for (const auto& [from, to] : {std::pair(host, other), std::pair(other, host)}) {
            if (!end(to, from).arriving.empty()) deliveries_.push_back({Choice::Kind::deliver, from, to});
            if (will_measure(to, from)) outside_.push_back({Choice::Kind::measure, from, to});
        }
    }
    if (next_event_ < script_.events.size()) {
        const RoundsEvent& event = script_.events[next_event_];
        outside_.push_back({Choice::Kind::event, event.b, event.a});
    }
}

Digest RoundsWorld::digest() const {
    Digester digester;
    digester.add(next_event_);
    for (const Host& host : hosts_) {
        digester.add(host.alive);
        if (host.alive) digester.add(host.machine);
    }
    digester.add(links_);
    digester.add(ends_);
    return digester.value();
}

// Words for what happens.

namespace {

std::string in_short(double value) {
    if (std::isinf(value)) return "never";
    std::string text = std::to_string(value);
    return text.substr(0, text.find('.') + 2);
}

std::string name(const rounds::RoundId& id) {
    return std::to_string(id.number) + " of " + std::to_string(id.root);
}

std::string arrow(int from, int to) { return std::to_string(from) + " -> " + std::to_string(to); }

/// "news 0-3=25", "round 4 of 0 ...".
std::string text_of(const rounds::Message& message) {
    constexpr std::array<std::string_view, 6> kinds = {
        "news", "newest", "round", "ask_version", "version", "step"};
    std::string text(kinds[static_cast<std::size_t>(message.kind)]);
    if (message.id != rounds::RoundId{}) text += " " + name(message.id);
    if (message.kind == rounds::Kind::round)
        text += " from " + name(message.base);
    for (const rounds::LinkNews& link : message.links)
        text += " " + std::to_string(link.low) + "-" + std::to_string(link.high) + "=" +
                in_short(link.state.latency_us) + "(" + std::to_string(link.state.breaks) + "." +
                std::to_string(link.state.sequence) + ")";
    return text;
}

}  // namespace

std::string RoundsWorld::describe(int host) const {
    const Rounds& state = machine(host);
    std::string text = std::to_string(host) + ": ";
    if (!alive(host)) return text + "dead";
    text += "version " + name(state.version().id) + ", newest " + name(state.newest());
    if (state.leads()) text += ", leads";
    if (state.running()) text += ", in a round";
    text += ", usable:";
    const auto& latency_us = state.view().latency_us;
    for (int other = 0; other < host_count(); ++other) {
        if (other == host || std::isinf(latency_us[index(host) * hosts_.size() + index(other)]))
            continue;
        text += " " + std::to_string(other);
    }
    return text;
}

std::string RoundsWorld::describe(const Choice& choice) const {
    constexpr std::array<std::string_view, 6> events = {"latency", "link",  "reset",
                                                        "host",    "alarm", "restart"};
    if (choice.kind == Choice::Kind::event) {
        const RoundsEvent& event = script_.events[next_event_];
        return "event " + std::string(events[static_cast<std::size_t>(event.kind)]) + " " +
               std::to_string(event.a) + " " + std::to_string(event.b) + " " +
               in_short(event.latency_us);
    }
    if (choice.kind == Choice::Kind::measure)
        return std::to_string(choice.to) + " measures the link to " + std::to_string(choice.from);
    const Item& item = end(choice.to, choice.from).arriving.front();
    if (item.kind == Item::Kind::message)
        return arrow(choice.from, choice.to) + " " + text_of(item.message);
    return arrow(choice.from, choice.to) +
           (item.kind == Item::Kind::joined ? " joined" : " lost");
}

}  // namespace mutirao::simulate
