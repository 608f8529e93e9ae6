// A cut divides the hosts into one host, or one site with an uplink, and all others. Of the bytes
// that must cross it towards hosts that are at least some distance away, the last ones leave no
// earlier than the cut's rate allows, and then have that distance before them. So it is inward:
// bytes from hosts at least so far away begin to cross only then.
//
// How fast news spreads where a message costs each side's processor: Karp, Sahay, Santos and Schauser 1993,
// doi:10.1145/165231.165250, of equal links; here all are taken for the best one.
#include "core/selection/bounds.h"

#include <cmath>
#include <functional>
#include <limits>
#include <queue>
#include <span>
#include <utility>
#include <vector>

namespace mutirao {
namespace {

constexpr int most_hosts_for_all_paths = 128;
constexpr int sampled_hosts = 8;
constexpr double infinite = std::numeric_limits<double>::infinity();

enum class Way : unsigned char { out, in };

/// What a message without bytes takes, with what it costs both sides.
double message_us(const Network& network, int from, int to) {
    return network.host(from).send_overhead_us + network.link(from, to).latency_us +
           network.host(to).receive_overhead_us;
}

/// From one host to all others, or to one from all (Way::in).
std::vector<double> shortest_us(const Network& network, int end, Way way) {
    const auto through_us = [&](int via, int other, double has_us) {
        return has_us + (way == Way::out ? message_us(network, via, other) : message_us(network, other, via));
    };
    return grow(network.host_count(), end, through_us, through_us).has_us;
}

class Distances {
  public:
    Distances(const CallShape& shape, const RankNetwork& network)
        : from_(static_cast<std::size_t>(network.host_count())), to_(from_.size()) {
        const int hosts = network.host_count();
        const auto look_from = [&](int host) {
            from_[static_cast<std::size_t>(host)] =
                shortest_us(network.between_hosts(), host, Way::out);
        };
        if (hosts <= most_hosts_for_all_paths) {
            for (int host = 0; host < hosts; ++host) look_from(host);
            return;
        }
        const bool rooted = row_of(shape.collective).rooted;
        const int middle = rooted ? network.placement().host_of(shape.root) : 0;
        // To see that every host is reached from every other it takes the ways to one of them.
        to_[static_cast<std::size_t>(middle)] =
            shortest_us(network.between_hosts(), middle, Way::in);
        const int stride = rooted ? hosts : (hosts - 1) / sampled_hosts + 1;
        for (int host = middle; host < hosts; host += stride) look_from(host);
    }

    /// At least so long; 0 where it was not looked at.
    double us(int from, int to) const {
        const auto a = static_cast<std::size_t>(from), b = static_cast<std::size_t>(to);
        if (!from_[a].empty()) return from_[a][b];
        return to_[b].empty() ? 0 : to_[b][a];
    }

  private:
    std::vector<std::vector<double>> from_, to_;  ///< by host; empty: not looked at
};

/// What holds for all hosts of a network.
struct Best {
    double message_us = infinite;
    double send_overhead_us = infinite;
    double receive_overhead_us = infinite;
    std::size_t ranks = 0;  ///< of the host with the most

    explicit Best(const RankNetwork& network) {
        const Network& hosts = network.between_hosts();
        for (int host = 0; host < hosts.host_count(); ++host) {
            send_overhead_us = std::min(send_overhead_us, hosts.host(host).send_overhead_us);
            receive_overhead_us = std::min(receive_overhead_us, hosts.host(host).receive_overhead_us);
            ranks = std::max(ranks, network.placement().ranks_of(host).size());
            for (int other = 0; other < hosts.host_count(); ++other) {
                if (other != host) message_us = std::min(message_us, mutirao::message_us(hosts, host, other));
            }
        }
    }

    /// When so many other hosts can have heard from one, if all ranks of whoever has heard pass it on at once,
    /// one message after the other. Or, backwards in time, one host from so many.
    double spread_us(int others, double overhead_us) const {
        std::priority_queue<double, std::vector<double>, std::greater<>> told_us;
        told_us.push(message_us);
        while (true) {
            const double now_us = told_us.top();
            others -= static_cast<int>(ranks);
            if (others <= 0) return now_us;
            told_us.pop();
            told_us.push(now_us + overhead_us);
            for (std::size_t host = 0; host < ranks; ++host) told_us.push(now_us + message_us);
        }
    }
};

/// Of ranks, as far as it matters what must pass between two of them.
struct Group {
    int ranks = 0;
    double block_bytes = 0;  ///< of the blocks of all of them
    int lowest = std::numeric_limits<int>::max();
    int highest = -1;
    bool has_root = false;

    void join(const Group& other) {
        ranks += other.ranks;
        block_bytes += other.block_bytes;
        lowest = std::min(lowest, other.lowest);
        highest = std::max(highest, other.highest);
        has_root = has_root || other.has_root;
    }
};

/// Whether what some rank of `to` has in the end depends on some rank of `from`.
bool influences(Collective collective, const Group& from, const Group& to) {
    switch (row_of(collective).base) {
        case Collective::broadcast:
        case Collective::scatter: return from.has_root;
        case Collective::gather:
        case Collective::reduce: return to.has_root;
        case Collective::allgather: return from.block_bytes > 0;
        case Collective::reduce_scatter_block: return to.block_bytes > 0;
        case Collective::scan:
        case Collective::exscan: return from.lowest < to.highest;
        default: return true;
    }
}

/// That must pass from one group to another, whatever passes through others.
double crossing_bytes(const CallShape& shape, const Group& from, const Group& to) {
    const bool both = from.ranks > 0 && to.ranks > 0;
    if (!both || !influences(shape.collective, from, to)) return 0;
    const double length_bytes = static_cast<double>(shape.length_bytes);
    switch (row_of(shape.collective).base) {
        case Collective::gather:
        case Collective::allgather: return from.block_bytes;
        case Collective::scatter:
        case Collective::reduce_scatter_block: return to.block_bytes;
        case Collective::alltoall: return length_bytes * from.ranks * to.ranks;
        case Collective::barrier: return 0;
        default: return length_bytes;
    }
}

struct Outsiders {
    double distance_us = 0;  ///< from the cut, or to it
    Group group;
};

class Finder {
  public:
    Finder(const CallShape& shape, const RankNetwork& network)
        : shape_(shape),
          network_(network.between_hosts()),
          distances_(shape, network),
          best_(network) {
        const Placement& placement = network.placement();
        for (int host = 0; host < network.host_count(); ++host) {
            const std::span<const int> ranks = placement.ranks_of(host);
            const bool has_root = row_of(shape.collective).rooted &&
                                  placement.host_of(shape.root) == host;
            groups_.push_back({static_cast<int>(ranks.size()), block_bytes_of(ranks),
                               ranks.front(), ranks.back(), has_root});
        }
    }

    /// Infinite where something needed cannot get through.
    double latency_us() const {
        double longest_us = 0;
        int most_told = 0, most_heard = 0;
        for (int host = 0; host < hosts(); ++host) {
            int told = 0, heard = 0;
            for (int other = 0; other < hosts(); ++other) {
                if (other == host) continue;
                if (influences(shape_.collective, group(host), group(other))) {
                    ++told;
                    longest_us = std::max(longest_us, distances_.us(host, other));
                }
                if (influences(shape_.collective, group(other), group(host))) ++heard;
            }
            most_told = std::max(most_told, told);
            most_heard = std::max(most_heard, heard);
        }
        if (most_told == 0) return longest_us;
        return std::max({longest_us, best_.spread_us(most_told, best_.send_overhead_us),
                         best_.spread_us(most_heard, best_.receive_overhead_us)});
    }

    double bandwidth_us() const {
        double longest_us = 0;
        for (const Way way : {Way::out, Way::in}) {
            const std::vector<double> rates = rates_bytes_per_us(way);
            for (int host = 0; host < hosts(); ++host) {
                const double rate = rates[static_cast<std::size_t>(host)];
                longest_us = std::max(longest_us, cut_us({host}, rate, way));
            }
        }
        const std::vector<double>& uplinks = network_.uplinks.bytes_per_us;
        std::vector<std::vector<int>> sites(uplinks.size());
        for (std::size_t host = 0; host < network_.uplinks.of_host.size(); ++host) {
            const auto site = static_cast<std::size_t>(network_.uplinks.of_host[host]);
            sites[site].push_back(static_cast<int>(host));
        }
        for (std::size_t site = 0; site < sites.size(); ++site) {
            for (const Way way : {Way::out, Way::in})
                longest_us = std::max(longest_us, cut_us(sites[site], uplinks[site], way));
        }
        return longest_us;
    }

  private:
    int hosts() const { return static_cast<int>(groups_.size()); }
    double block_bytes_of(std::span<const int> ranks) const {
        const std::vector<std::size_t>& lengths = shape_.lengths;
        double bytes = 0;
        for (const int rank : ranks) {
            bytes += static_cast<double>(
                lengths.empty() ? shape_.length_bytes : lengths[static_cast<std::size_t>(rank)]);
        }
        return bytes;
    }
    const Group& group(int host) const { return groups_[static_cast<std::size_t>(host)]; }

    /// Of each host's port, or of all its links together where these are slower.
    std::vector<double> rates_bytes_per_us(Way way) const {
        std::vector<double> rates(groups_.size(), 0);
        for (int from = 0; from < hosts(); ++from) {
            for (int to = 0; to < hosts(); ++to) {
                const Link link = network_.link(from, to);
                if (from == to || !link.usable()) continue;
                rates[static_cast<std::size_t>(way == Way::out ? from : to)] +=
                    link.bandwidth_bytes_per_us;
            }
        }
        for (int host = 0; host < hosts(); ++host) {
            double& rate = rates[static_cast<std::size_t>(host)];
            rate = std::min(rate, network_.host(host).port_bytes_per_us);
        }
        return rates;
    }

    double cut_us(const std::vector<int>& inside, double bytes_per_us, Way way) const {
        const bool limits = std::isfinite(bytes_per_us) && bytes_per_us > 0;
        if (!limits) return 0;
        Group insiders;
        for (const int host : inside) insiders.join(group(host));
        Group far;
        double longest_us = 0;
        for (const Outsiders& next : farthest_first(inside, way)) {
            far.join(next.group);
            const double bytes = way == Way::out ? crossing_bytes(shape_, insiders, far)
                                                 : crossing_bytes(shape_, far, insiders);
            if (bytes > 0)
                longest_us = std::max(longest_us, next.distance_us + bytes / bytes_per_us);
        }
        return longest_us;
    }

    /// From the cut, or to it; and once what a message costs those inside, whichever of them has the last one.
    double beyond_cut_us(const std::vector<int>& inside, int outside, Way way) const {
        double beyond_us = infinite, least_cost_us = infinite;
        for (const int end : inside) {
            const HostCosts& costs = network_.host(end);
            const double cost_us = way == Way::out ? costs.send_overhead_us : costs.receive_overhead_us;
            const double whole_us = way == Way::out ? distances_.us(end, outside) : distances_.us(outside, end);
            beyond_us = std::min(beyond_us, whole_us - cost_us);
            least_cost_us = std::min(least_cost_us, cost_us);
        }
        return std::max(beyond_us + least_cost_us, 0.0);
    }

    /// Those without a known distance are joined, which spares sorting them in large networks.
    std::vector<Outsiders> farthest_first(const std::vector<int>& inside, Way way) const {
        std::vector<Outsiders> result;
        Outsiders near;
        std::size_t next_inside = 0;
        for (int host = 0; host < hosts(); ++host) {
            if (next_inside < inside.size() && inside[next_inside] == host) {
                ++next_inside;
                continue;
            }
            const double distance_us = beyond_cut_us(inside, host, way);
            if (distance_us > 0)
                result.push_back({distance_us, group(host)});
            else
                near.group.join(group(host));
        }
        std::sort(result.begin(), result.end(), [](const Outsiders& a, const Outsiders& b) {
            return a.distance_us > b.distance_us;
        });
        result.push_back(near);
        return result;
    }

    const CallShape& shape_;
    const Network& network_;
    Distances distances_;
    Best best_;
    std::vector<Group> groups_;  ///< by host
};

/// Every rank combines equally much at best.
double reduction_us(const CallShape& shape, const RankNetwork& network) {
    if (!row_of(shape.collective).reduces) return 0;
    const double ranks = network.rank_count();
    double operands_bytes = static_cast<double>(shape.length_bytes);
    if (row_of(shape.collective).in_blocks != InBlocks::none) operands_bytes *= ranks;
    const double combined_bytes = operands_bytes * (ranks - 1) / ranks;
    return combined_bytes / network.memory().reduce_bytes_per_us;
}

}  // namespace

std::optional<Bounds> lower_bounds(const CallShape& shape, const RankNetwork& network) {
    if (shape.empty() || network.rank_count() == 0) return Bounds{};
    const CallShape known = known_to_all(shape);
    const Finder finder(known, network);
    const double latency_us = finder.latency_us();
    if (std::isinf(latency_us)) return std::nullopt;
    return Bounds{latency_us, finder.bandwidth_us(), reduction_us(known, network)};
}

std::optional<Bounds> measured_lower_bounds(const CallShape& shape, const RankNetwork& network) {
    Topology topology = network.topology();
    for (int host = 0; host < network.host_count(); ++host) {
        topology.network.set_host(host, {.port_bytes_per_us = topology.network.host(host).port_bytes_per_us});
    }
    MemoryCosts memory = network.memory();
    if (!memory.measured) memory.reduce_bytes_per_us = infinite;
    return lower_bounds(shape, {std::move(topology), network.placement(), memory});
}

}  // namespace mutirao
