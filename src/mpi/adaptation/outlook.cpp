#include "mpi/adaptation/outlook.h"

#include <algorithm>
#include <cmath>

#include "core/spanning_tree/kruskal.h"

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
        const double latency_us = view_.latency_us[index(a, b)];
        return std::isfinite(latency_us) || (!silent(a) && !silent(b))
                   ? latency_us
                   : view_.last_known_us[index(a, b)] + without_agent_us;
    }

  private:
    std::size_t index(int a, int b) const {
        return static_cast<std::size_t>(a) * static_cast<std::size_t>(view_.host_count) +
               static_cast<std::size_t>(b);
    }
    bool is_silent(int host) const {
        for (int other = 0; other < view_.host_count; ++other) {
            if (other != host && std::isfinite(view_.latency_us[index(host, other)])) {
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

}  // namespace

std::optional<Topology> Outlook::look(const Topology& agreed) {
    const std::optional<NetworkView> view = source_->newer_than(seen_);
    if (!view) {
        return std::nullopt;
    }
    seen_ = view->changes;
    const Latencies latencies(*view);
    if (latencies.silent(hosts_.front())) {
        return std::nullopt;  // this host itself reaches nobody: it knows nothing
    }
    Topology newest = agreed;
    const int hosts = static_cast<int>(hosts_.size());
    for (int from = 0; from < hosts; ++from) {
        for (int to = 0; to < hosts; ++to) {
            if (from == to) continue;
            Link link = agreed.network.link(from, to);
            link.latency_us = latencies.between(hosts_[static_cast<std::size_t>(from)],
                                                hosts_[static_cast<std::size_t>(to)]);
            newest.network.set_link(from, to, link);
        }
    }
    newest.spanning_tree = spanning_tree(*view, hosts_, newest.network);
    return newest;
}

}  // namespace mutirao::mpi
