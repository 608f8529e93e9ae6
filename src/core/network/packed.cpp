// A tree for each share of a long message. Over long links TCP lets some ten packets of an idle connection
// through and then waits for their acknowledgements, so what counts is not how much goes over the best links
// but that all links carry something at once: one share per connection, a share as long as the first window.
// The trees are grown one after the other, each as Prim and Dijkstra would with the trade-off of Alpert, Hu,
// Huang, Kahng and Karger 1995 (doi:10.1109/43.406717): the next host is the one that is near to the tree,
// and the earlier that tree has the share the better. What a tree uses of links, ports and uplinks the next
// ones find taken. How much nearness counts is tried.
//
// Cost: hosts^2 a tree, four times.
#include <algorithm>
#include <array>
#include <limits>

#include "core/network/tree.h"

namespace mutirao {
namespace {

constexpr double never = std::numeric_limits<double>::infinity();

/// Of links that take a message at once whatever its length: as long as goes without asking the receiver.
constexpr std::size_t usual_share_bytes = 60 * 1024;

/// How much of the time until a host has the share counts where another is to get it from there. 1 gives
/// shortest paths, which enter a far site several times; with less that is left to its hosts.
constexpr std::array<double, 4> weights_of_the_past = {1, 0.97, 0.9, 0.8};

std::size_t share_count(const Network& network, std::size_t length_bytes) {
    const std::size_t window_bytes = network.transport.at_once_bytes();
    const std::size_t share_bytes = window_bytes == Transport::unlimited
                                        ? usual_share_bytes
                                        : std::max(window_bytes, 2 * Transport::spare_bytes) - Transport::spare_bytes;
    const auto hosts = static_cast<std::size_t>(std::max(network.host_count(), 1));
    return std::min((length_bytes + share_bytes - 1) / share_bytes, most_packed_places / hosts);
}

/// What the trees so far have taken of the network.
class Use {
  public:
    /// `both_ways`: what goes over a link one way goes over it the other way as well.
    Use(const Network& network, std::size_t share_bytes, bool both_ways)
        : network_(network),
          share_bytes_(share_bytes),
          both_ways_(both_ways),
          outgoing_free_us_(static_cast<std::size_t>(network.host_count())),
          incoming_free_us_(outgoing_free_us_.size()),
          uplink_out_free_us_(network.uplinks.bytes_per_us.size()),
          uplink_in_free_us_(uplink_out_free_us_.size()),
          streams_(outgoing_free_us_.size() * outgoing_free_us_.size()) {}

    /// When `to` has the share from `from`, which has it at `has_us`; never where no link is.
    double arrival_us(int from, int to, double has_us) const { return way(from, to, has_us).arrive_us; }

    void take(int from, int to, double has_us) {
        const Way taken = way(from, to, has_us);
        Stream& stream = streams_[index(from, to)];
        if (stream.bytes == 0) stream.begun_us = taken.begin_us;
        stream.bytes += share_bytes_;
        stream.free_us = taken.left_us;
        if (both_ways_) {
            Stream& back = streams_[index(to, from)];
            if (back.bytes == 0) back.begun_us = taken.begin_us;
            back.bytes += share_bytes_;
        }
        outgoing_free_us_[at(from)] =
            taken.begin_us + transmission_us(share_bytes_, network_.host(from).port_bytes_per_us);
        incoming_free_us_[at(to)] = taken.arrive_us;
        if (crosses(from, to)) {
            uplink_out_free_us_[uplink(from)] = taken.begin_us + uplink_us(from);
            uplink_in_free_us_[uplink(to)] = taken.arrive_us;
        }
    }

  private:
    struct Stream {
        double begun_us = 0;
        double free_us = 0;
        std::size_t bytes = 0;
    };
    struct Way {
        double begin_us = never;
        double left_us = never;
        double arrive_us = never;
    };

    Way way(int from, int to, double has_us) const {
        const Link link = network_.link(from, to);
        if (!link.usable()) return {};
        const HostCosts& sender = network_.host(from);
        const HostCosts& receiver = network_.host(to);
        const Stream& stream = streams_[index(from, to)];
        Way way;
        way.begin_us = std::max(has_us, outgoing_free_us_[at(from)]) + sender.send_overhead_us;
        double receiver_free_us =
            incoming_free_us_[at(to)] + transmission_us(share_bytes_, receiver.port_bytes_per_us);
        if (crosses(from, to)) {
            way.begin_us = std::max(way.begin_us, uplink_out_free_us_[uplink(from)]);
            receiver_free_us = std::max(receiver_free_us, uplink_in_free_us_[uplink(to)] + uplink_us(to));
        }
        way.left_us = std::max(way.begin_us, stream.free_us) +
                      transmission_us(share_bytes_, link.bandwidth_bytes_per_us);
        if (network_.transport.holds_back()) {
            const double begun_us = stream.bytes == 0 ? way.begin_us : stream.begun_us;
            const double trip_us = link.latency_us + network_.link(to, from).latency_us;
            way.left_us = std::max(way.left_us,
                                   begun_us + network_.transport.held_back_us(stream.bytes + share_bytes_, trip_us));
        }
        way.arrive_us = std::max(way.left_us + link.latency_us, receiver_free_us) +
                        receiver.receive_overhead_us;
        return way;
    }

    static std::size_t at(int host) { return static_cast<std::size_t>(host); }
    std::size_t index(int from, int to) const { return at(from) * outgoing_free_us_.size() + at(to); }
    std::size_t uplink(int host) const { return at(network_.uplinks.of_host[at(host)]); }
    double uplink_us(int host) const {
        return transmission_us(share_bytes_, network_.uplinks.bytes_per_us[uplink(host)]);
    }
    bool crosses(int from, int to) const {
        return !network_.uplinks.of_host.empty() && uplink(from) != uplink(to);
    }

    const Network& network_;
    const std::size_t share_bytes_;
    const bool both_ways_;
    std::vector<double> outgoing_free_us_, incoming_free_us_;      ///< by host
    std::vector<double> uplink_out_free_us_, uplink_in_free_us_;  ///< by uplink
    std::vector<Stream> streams_;                                 ///< by pair of hosts
};

/// Nothing if a host cannot be reached. Within a tree links are as the trees before have left them: a host
/// sends one share to several others in less time than any of them is away.
std::optional<Tree> next_tree(Use& use, int host_count, int root, double weight_of_the_past, double& last_us) {
    const auto arrival_us = [&](int from, int to, double has_us) { return use.arrival_us(from, to, has_us); };
    const auto nearness_us = [&](int from, int to, double has_us) {
        return use.arrival_us(from, to, has_us) - (1 - weight_of_the_past) * has_us;
    };
    const Growth grown = grow(host_count, root, nearness_us, arrival_us);
    if (!grown.reaches_all()) return std::nullopt;
    for (const int host : grown.order) {
        const int parent = grown.parent[static_cast<std::size_t>(host)];
        if (parent >= 0) use.take(parent, host, grown.has_us[static_cast<std::size_t>(parent)]);
    }
    last_us = std::max(last_us, std::ranges::max(grown.has_us));
    return tree_from_parents(grown.parent, root);
}

}  // namespace

std::optional<Tree> packed_trees(const Network& network, int root, std::size_t length_bytes, bool both_ways) {
    if (network.host_count() > most_packed_hosts) return std::nullopt;
    const std::size_t count = share_count(network, length_bytes);
    if (count <= 1) return shortest_path_tree(network, root, length_bytes);  // it has all links for itself
    const std::size_t share_bytes = (length_bytes + count - 1) / count;
    std::vector<Tree> best;
    double best_us = never;
    for (const double weight : weights_of_the_past) {
        Use use(network, share_bytes, both_ways);
        double last_us = 0;  // when all hosts have all shares so far
        std::vector<Tree> trees;
        for (std::size_t share = 0; share < count && last_us < best_us; ++share) {
            auto tree = next_tree(use, network.host_count(), root, weight, last_us);
            if (!tree) return std::nullopt;
            trees.push_back(std::move(*tree));
        }
        if (last_us >= best_us) continue;
        best_us = last_us;
        best = std::move(trees);
    }
    Tree result = best.front();
    result.shares = std::move(best);
    return result;
}

}  // namespace mutirao
