#include "mpi/drivers/ghs_driver.h"

#include <algorithm>
#include <cmath>

#include "core/spanning_tree/ghs.h"
#include "core/spanning_tree/wire.h"

namespace mutirao::mpi {
namespace {

std::vector<ghs::Neighbour> neighbours(int me, const std::vector<double>& latency_us) {
    std::vector<ghs::Neighbour> usable;
    for (int host = 0; host < static_cast<int>(latency_us.size()); ++host) {
        const double value = latency_us[static_cast<std::size_t>(host)];
        if (host != me && std::isfinite(value)) {
            usable.push_back({host, Weight{value, std::min(me, host), std::max(me, host)}});
        }
    }
    return usable;
}

}  // namespace

TreePart build_spanning_tree(Mailbox& mailbox, const std::vector<double>& latency_us) {
    const int me = mailbox.leaders().my_host;
    ghs::Node node(me, neighbours(me, latency_us));
    TreePart part;
    const auto post = [&](const ghs::Output& output) {
        for (const ghs::Outgoing& outgoing : output) {
            const auto wire = ghs::encode(outgoing.message);
            mailbox.send(outgoing.to, Phase::ghs, wire);
            ++part.messages_sent;
        }
    };
    post(node.wake());
    while (!node.finished()) {
        if (const auto received = mailbox.poll(Phase::ghs)) {
            if (const auto message = ghs::decode(received->body)) {
                post(node.on(received->from, *message));
            }
        }
    }
    part.branches = node.branches();
    part.hosts_in_tree = node.hosts_in_tree();
    return part;
}

}  // namespace mutirao::mpi
