#include "mpi/drivers/maintenance_driver.h"

#include <algorithm>
#include <cmath>

#include "core/spanning_tree/maintenance.h"
#include "core/spanning_tree/wire.h"

namespace mutirao::mpi {
namespace {

maintenance::Round describe(const Topology& before, const std::vector<ChangedLink>& changes) {
    maintenance::Round round;
    round.root = 0;
    round.tree = before.spanning_tree;
    for (const ChangedLink& link : changes) {
        round.changes.push_back({link.low, link.high,
                                 before.network.link(link.low, link.high).latency_us,
                                 link.latency_us});
    }
    for (int host = 0; host < before.network.host_count(); ++host) {
        round.hosts.insert(host);
    }
    return round;
}

std::vector<ghs::Neighbour> usable_links(int me, const Network& network) {
    std::vector<ghs::Neighbour> usable;
    for (int other = 0; other < network.host_count(); ++other) {
        const double value = network.link(me, other).latency_us;
        if (other != me && std::isfinite(value)) {
            usable.push_back({other, Weight{value, std::min(me, other), std::max(me, other)}});
        }
    }
    return usable;
}

}  // namespace

Topology with_changes(Topology before, const std::vector<ChangedLink>& changes) {
    for (const ChangedLink& each : changes) {
        Link link = before.network.link(each.low, each.high);
        link.latency_us = each.latency_us;
        before.network.set_both(each.low, each.high, link);
    }
    return before;
}

EdgeList adapt_spanning_tree(Mailbox& mailbox, const Topology& before,
                             const std::vector<ChangedLink>& changes) {
    const Topology now = with_changes(before, changes);
    const int me = mailbox.leaders().my_host;
    maintenance::Node node(me, usable_links(me, now.network), describe(before, changes));
    const auto post = [&](const maintenance::Output& output) {
        for (const maintenance::Outgoing& outgoing : output) {
            mailbox.send(outgoing.to, Phase::maintenance, maintenance::encode(outgoing.message));
        }
    };
    post(node.start());
    while (!node.finished()) {
        if (const auto received = mailbox.poll(Phase::maintenance)) {
            if (const auto message = maintenance::decode(received->body)) {
                post(node.on(received->from, *message));
            }
        }
    }
    return node.tree();
}

}  // namespace mutirao::mpi
