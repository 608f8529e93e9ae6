// Which host each rank of a communicator is on. Memory and the work to make one grow with the ranks
// and never with pairs of ranks or hosts: every communicator of a large job has one.
#pragma once

#include <span>
#include <vector>

namespace mutirao {

class Placement {
  public:
    Placement() = default;
    /// Hosts are 0 .. the highest named, and each must have a rank.
    explicit Placement(std::vector<int> host_of_rank);
    /// The first ranks_per_host ranks on host 0, the next on host 1, and so on.
    static Placement in_blocks(int host_count, int ranks_per_host);

    int rank_count() const { return static_cast<int>(host_of_rank_.size()); }
    int host_count() const { return static_cast<int>(first_.size()) - 1; }
    int host_of(int rank) const { return host_of_rank_[static_cast<std::size_t>(rank)]; }
    std::span<const int> host_by_host() const { return ranks_; }
    /// Where a host's ranks begin among these; after the last host, their end.
    std::size_t begin_of(int host) const { return static_cast<std::size_t>(first_[static_cast<std::size_t>(host)]); }
    /// Ascending.
    std::span<const int> ranks_of(int host) const {
        return host_by_host().subspan(begin_of(host), begin_of(host + 1) - begin_of(host));
    }
    /// Where `rank` stands among the ranks of its host.
    int position_of(int rank) const { return position_[static_cast<std::size_t>(rank)]; }
    /// The rank that stands so far behind it there, counted round.
    int beside(int rank, int distance) const {
        const auto ranks = ranks_of(host_of(rank));
        return ranks[static_cast<std::size_t>(position_of(rank) + distance) % ranks.size()];
    }
    int most_ranks_on_a_host() const { return most_ranks_on_a_host_; }
    /// Rank r is alone on host r. Communicators may number their ranks otherwise.
    bool ranks_are_hosts() const { return ranks_are_hosts_; }

    /// The rank that speaks for a host in collectives from `root`: the root in its own host, the
    /// lowest rank elsewhere.
    int leader(int host, int root) const {
        return host_of(root) == host ? root : ranks_of(host).front();
    }

    bool operator==(const Placement&) const = default;

  private:
    std::vector<int> host_of_rank_;
    std::vector<int> ranks_;        ///< host by host
    std::vector<int> first_ = {0};  ///< where a host's ranks begin; one more at the end
    std::vector<int> position_;     ///< per rank
    int most_ranks_on_a_host_ = 0;
    bool ranks_are_hosts_ = true;
};

}  // namespace mutirao
