#include "mpi/watch/lookout.h"

#include <mpi.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/network/tree.h"

namespace mutirao::mpi {
namespace {

// Nobody measures the links of a host without an agent, but its ranks may be there all the same: it
// is thought to be farther away than it was, so that nothing goes through it.
constexpr double without_agent_us = 1e6;

// The view's numbers of hosts, in both directions alike.
class Latencies {
  public:
    explicit Latencies(const NetworkView& view) : view_(view) {
        for (int host = 0; host < view.host_count; ++host) {
            silent_.push_back(is_silent(host));
        }
    }

    bool silent(int host) const { return silent_[static_cast<std::size_t>(host)]; }
    double between(int a, int b) const {
        const double latency_us = view_.latency_us[view_.index(a, b)];
        return std::isfinite(latency_us) || (!silent(a) && !silent(b))
                   ? latency_us
                   : view_.last_known_us[view_.index(a, b)] + without_agent_us;
    }

    /// With what agents have measured of its bandwidth, if they have.
    Link link(int a, int b) const {
        Link link{.latency_us = between(a, b)};
        if (!view_.bandwidth_bytes_per_us.empty() && view_.bandwidth_bytes_per_us[view_.index(a, b)] > 0) {
            link.bandwidth_bytes_per_us = view_.bandwidth_bytes_per_us[view_.index(a, b)];
        }
        return link;
    }

  private:
    bool is_silent(int host) const {
        for (int other = 0; other < view_.host_count; ++other) {
            if (other != host && std::isfinite(view_.latency_us[view_.index(host, other)])) {
                return false;
            }
        }
        return true;
    }

    const NetworkView& view_;
    std::vector<bool> silent_;
};

// The agents' tree, where it spans the communicator's hosts and only those; otherwise one from the
// same weights.
EdgeList spanning_tree(const NetworkView& view, const std::vector<int>& hosts,
                       const Network& network) {
    std::vector<int> place(static_cast<std::size_t>(view.host_count), -1);
    for (std::size_t host = 0; host < hosts.size(); ++host) {
        place[static_cast<std::size_t>(hosts[host])] = static_cast<int>(host);
    }
    EdgeList edges;
    for (const auto& [a, b] : view.tree) {
        const int low = std::min(place[static_cast<std::size_t>(a)], place[static_cast<std::size_t>(b)]);
        const int high = std::max(place[static_cast<std::size_t>(a)], place[static_cast<std::size_t>(b)]);
        if (low >= 0) {
            edges.emplace_back(low, high);
        }
    }
    std::sort(edges.begin(), edges.end());
    if (edges.size() + 1 != hosts.size()) {
        edges = minimum_spanning_tree(network);
    }
    return edges.size() + 1 == hosts.size() ? edges : EdgeList{};
}

// Not measured: what a message and a byte cost a host is taken from the order of magnitude that a
// kernel's TCP has, so that one sender for all is not thought to be free.
constexpr HostCosts assumed_costs{10.0, 10.0, 1000.0};

bool all_known(const Network& network) {
    return std::ranges::all_of(network.latency_us(), [](double each) { return std::isfinite(each); });
}

}  // namespace

// What the MPI libraries do over TCP by default, less their headers. Open MPI's ob1 asks the
// receiver beyond btl_tcp_eager_limit (64 KiB) and buffers what is shorter. MPICH over libfabric's
// tcp provider never asks, but completes what is longer than an injected message only when the
// receiver has acknowledged it; Intel MPI with a libfabric of its own does not wait for that.
Transport transport_of(const Settings& settings, const SocketLimits& sockets) {
    Transport transport;
    if (std::isfinite(sockets.initial_window_bytes)) {
        transport.initial_window_bytes = static_cast<std::size_t>(sockets.initial_window_bytes);
    }
    transport.bbr = sockets.bbr != 0;
    transport.header_bytes = 64;  // Open MPI's 8 + 14 to 40, MPICH's some 50
#if defined(OPEN_MPI)
    transport.eager_limit_bytes = 65536 - 128;
#else
    if (carrier() != Carrier::other) transport.buffered_limit_bytes = 128;
    transport.detached_bytes = may_leave_sends_behind() ? static_cast<std::size_t>(sockets.buffer_bytes) : 0;
#endif
    if (settings.eager_limit_bytes != 0) {
        transport.eager_limit_bytes = settings.eager_limit_bytes;
    }
    return transport;
}

std::optional<Topology> topology_of(const NetworkView& view, const std::vector<int>& hosts,
                                    int here) {
    const Latencies latencies(view);
    if (hosts.size() > 1 && latencies.silent(here)) {
        return std::nullopt;
    }
    Topology topology;
    const int count = static_cast<int>(hosts.size());
    topology.network = Network(count);
    for (int from = 0; from < count; ++from) {
        for (int to = 0; to < count; ++to) {
            if (from != to) {
                topology.network.set_link(from, to,
                                          latencies.link(hosts[static_cast<std::size_t>(from)],
                                                         hosts[static_cast<std::size_t>(to)]));
            }
        }
    }
    topology.spanning_tree = spanning_tree(view, hosts, topology.network);
    return topology;
}

std::optional<Topology> topology_of(const NetworkView& view, int here) {
    std::vector<int> all(static_cast<std::size_t>(view.host_count));
    std::iota(all.begin(), all.end(), 0);
    return topology_of(view, all, here);
}

bool knows_bandwidths(const Network& network, const std::vector<int>& site_of) {
    for (int a = 0; a < network.host_count(); ++a) {
        for (int b = 0; b < a; ++b) {
            const bool apart = site_of[static_cast<std::size_t>(a)] != site_of[static_cast<std::size_t>(b)];
            if (apart && !std::isfinite(network.link(a, b).bandwidth_bytes_per_us)) {
                return false;
            }
        }
    }
    return true;
}

MemoryCosts memory_costs_of(const NetworkView& view, int host) {
    MemoryCosts costs;
    const auto at = static_cast<std::size_t>(host);
    if (at < view.host_speeds.size() && view.host_speeds[at].copy_bytes_per_us > 0) {
        costs.copy_bytes_per_us = view.host_speeds[at].copy_bytes_per_us;
        costs.reduce_bytes_per_us = view.host_speeds[at].reduce_bytes_per_us;
        costs.measured = true;
    }
    if (at < view.host_speeds.size() && view.host_speeds[at].message_us > 0) {
        costs.message_latency_us = view.host_speeds[at].message_us;
    }
    return costs;
}

void complete_network(Topology& topology, const Settings& settings, const SocketLimits& sockets,
                      std::vector<int> site_of, const Topology* before) {
    for (int host = 0; host < topology.network.host_count(); ++host) {
        topology.network.set_host(host, assumed_costs);
    }
    topology.network.transport = transport_of(settings, sockets);
    topology.site_of = std::move(site_of);
    topology.region_of =
        discover_regions(topology.network, topology.site_of, before ? before->region_of : std::vector<int>{});
    topology.network.uplinks = uplinks_of(topology.network, topology.site_of);
}

std::optional<Sighting> Lookout::look() {
    const bool doubts_are_over = last_ && lines_.doubts_are_over(now_us());
    const std::optional<NetworkView> view = source_->newer_than(doubts_are_over ? 0 : seen_);
    if (!view) {
        return std::nullopt;
    }
    seen_ = view->changes;
    Sighting sighting{nullptr, false, memory_costs_of(*view, here_)};
    if (std::optional<Topology> topology = topology_of(*view, hosts_, here_)) {
        // What was never measured may yet be; what its agents have given up will not be.
        sighting.all_known = view->unknown_links == 0 || all_known(topology->network);
        std::vector<int> site_of = named_sites_.empty() ? sites_of(topology->network) : named_sites_;
        if (last_) lines_.suspect(topology->network, last_->network, site_of, now_us());
        complete_network(*topology, settings_, sockets_, std::move(site_of), last_.get());
        topology->network.connected = std::make_shared<const EdgeList>(connected_);
        sighting.topology = std::make_shared<const Topology>(std::move(*topology));
    }
    last_ = sighting.topology;
    return sighting;
}

void Lookout::note_messages(const EdgeList& pairs) {
    const std::size_t most_pairs = 16 * hosts_.size();
    for (const auto& [a, b] : pairs) {
        const std::pair<int, int> pair = std::minmax(a, b);
        const auto place = std::ranges::lower_bound(connected_, pair);
        if (connected_.size() < most_pairs && (place == connected_.end() || *place != pair)) {
            connected_.insert(place, pair);
        }
    }
}

// As latencies tell, but hosts of one site are believed to be apart only after a while: load makes links longer, too.
std::vector<int> Lookout::sites_of(const Network& network) {
    constexpr double believed_after_us = 30e6;
    if (last_ == nullptr) return discover_sites(network);
    std::vector<int> found = discover_sites(network, last_->site_of);
    const bool are_more = std::ranges::max(found) > std::ranges::max(last_->site_of);
    if (!are_more || !all_known(network)) {
        apart_since_us_.reset();
        return found;
    }
    if (!apart_since_us_) apart_since_us_ = now_us();
    return now_us() < *apart_since_us_ + believed_after_us ? last_->site_of : found;
}

}  // namespace mutirao::mpi
