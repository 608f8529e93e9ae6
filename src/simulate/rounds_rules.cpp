#include "simulate/rounds_rules.h"

#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

namespace mutirao::simulate {
namespace {

constexpr double never = std::numeric_limits<double>::infinity();

/// A matrix of latencies, restricted to the hosts that its usable links join to one of them.
struct Reached {
    std::vector<bool> hosts;
    std::vector<double> latency_us;
};

void restrict_to(const std::vector<bool>& hosts, std::vector<double>& latency_us) {
    for (std::size_t i = 0; i < latency_us.size(); ++i) {
        const std::size_t a = i / hosts.size();
        const std::size_t b = i % hosts.size();
        if (a != b && !(hosts[a] && hosts[b])) latency_us[i] = never;
    }
}

Reached reached_from(int host, std::vector<double> latency_us) {
    const auto count = static_cast<std::size_t>(std::lround(std::sqrt(latency_us.size())));
    Reached reached{std::vector<bool>(count, false), std::move(latency_us)};
    reached.hosts[static_cast<std::size_t>(host)] = true;
    for (std::size_t round = 0; round < count; ++round) {
        for (std::size_t i = 0; i < reached.latency_us.size(); ++i) {
            if (std::isfinite(reached.latency_us[i]) && reached.hosts[i / count])
                reached.hosts[i % count] = true;
        }
    }
    restrict_to(reached.hosts, reached.latency_us);
    return reached;
}

std::vector<double> truth(const RoundsWorld& world) {
    std::vector<double> latency_us;
    for (int a = 0; a < world.host_count(); ++a)
        for (int b = 0; b < world.host_count(); ++b)
            latency_us.push_back(a == b ? 0 : world.true_latency_us(a, b));
    return latency_us;
}

std::string of_host(int host, const std::string& what) {
    return "host " + std::to_string(host) + " " + what;
}

bool waits(const RoundsWorld& world) {
    for (int host = 0; host < world.host_count(); ++host)
        if (world.alive(host) && world.machine(host).waits_for_links()) return true;
    return false;
}

/// Of a host by itself.
std::string host_objection(const RoundsWorld& world, int host, const Reached& reached) {
    const Rounds& machine = world.machine(host);
    if (machine.running()) return of_host(host, "is in a round that does not end");
    // What hosts start with may hold several networks.
    std::vector<double> latency_us = machine.version().latency_us;
    restrict_to(reached.hosts, latency_us);
    if (latency_us != reached.latency_us)
        return of_host(host, "has a version for other latencies than it knows");
    const EdgeList& tree = machine.version().tree;
    if (tree != spanning_forest(world.host_count(), machine.version().latency_us))
        return of_host(host, "has another tree than Kruskal");
    if (machine.view().tree != machine.version().tree)
        return of_host(host, "shows another tree than it has");
    if (world.to_be_measured()) return {};
    if (machine.view().unknown_links != 0) return of_host(host, "waits for links for ever");
    if (reached.latency_us != reached_from(host, truth(world)).latency_us)
        return of_host(host, "does not know what its links are like");
    return {};
}

}  // namespace

RoundsRules::Counts RoundsRules::count(int, const rounds::Outgoing& outgoing) const {
    Counts counts{};
    counts[static_cast<std::size_t>(outgoing.message.kind)] = 1;
    return counts;
}

std::string RoundsRules::objection(const RoundsWorld& world, const RoundsWorld::Choice&) const {
    return world.violation();
}

std::string RoundsRules::objection_at_rest(const RoundsWorld& world) const {
    if (!world.violation().empty()) return world.violation();
    // Until then a round may wait for a host that is gone.
    if (world.to_be_given_up()) return {};
    // And a host that has no tree for links that are still to be measured.
    if (world.to_be_measured() && waits(world)) return {};
    for (int host = 0; host < world.host_count(); ++host) {
        if (!world.alive(host)) continue;
        const Version& version = world.machine(host).version();
        const Reached reached = reached_from(host, world.machine(host).view().latency_us);
        if (std::string reason = host_objection(world, host, reached); !reason.empty())
            return reason;
        for (int other = 0; other < world.host_count(); ++other) {
            if (!reached.hosts[static_cast<std::size_t>(other)]) continue;
            if (!world.alive(other)) return of_host(host, "does not know that a host is gone");
            if (world.machine(other).version() != version)
                return of_host(host, "has another version than host " + std::to_string(other));
        }
    }
    return {};
}

}  // namespace mutirao::simulate
