// What goes between one rank and all others, a message for each host.
#pragma once

#include <vector>

#include "core/algorithms/equal_blocks.h"
#include "core/algorithms/over_placement.h"

namespace mutirao {

/// The ranks of the root's host share out the other hosts; in each of these one rank speaks for all.
class ThroughHosts {
  public:
    explicit ThroughHosts(const Request& request)
        : placement_(given_placement(request)), root_(request.root),
          root_host_(placement_.host_of(root_)), block_bytes_(request.length_bytes) {}

    int leader(int host) const { return placement_.leader(host, root_); }
    /// The rank of the root's host that deals with another; the root itself last, which has most to do.
    int gate(int host) const {
        const auto ranks = placement_.ranks_of(root_host_);
        const auto turn = static_cast<std::size_t>(placement_.position_of(root_) + distance(host));
        return ranks[turn % ranks.size()];
    }
    /// With whom the root itself exchanges what another host has or gets.
    int root_peer(int host) const { return gate(host) == root_ ? leader(host) : gate(host); }
    /// The hosts for which a rank stands between their leader and the root.
    std::vector<int> passed_on_by(int rank) const {
        if (rank == root_ || placement_.host_of(rank) != root_host_) return {};
        std::vector<int> hosts = other_hosts();
        std::erase_if(hosts, [&](int host) { return gate(host) != rank; });
        return hosts;
    }
    /// In the order in which they are dealt with.
    std::vector<int> other_hosts() const {
        std::vector<int> hosts;
        for (int i = 1; i < placement_.host_count(); ++i) {
            hosts.push_back((root_host_ + i) % placement_.host_count());
        }
        return hosts;
    }
    std::vector<Region> blocks(int host, Buffer buffer) const {
        std::vector<Region> blocks;
        for (const int rank : placement_.ranks_of(host)) {
            blocks.push_back(nth_block(buffer, rank, block_bytes_));
        }
        return blocks;
    }

  private:
    /// Counted round from the root's host.
    int distance(int host) const {
        return (host - root_host_ + placement_.host_count()) % placement_.host_count();
    }

    const Placement& placement_;
    int root_;
    int root_host_;
    std::size_t block_bytes_;
};

}  // namespace mutirao
