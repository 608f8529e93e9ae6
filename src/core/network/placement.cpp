#include "core/network/placement.h"

#include <algorithm>
#include <numeric>

#include "core/text/invariant.h"

namespace mutirao {

Placement::Placement(std::vector<int> host_of_rank)
    : host_of_rank_(std::move(host_of_rank)),
      ranks_(host_of_rank_.size()),
      position_(host_of_rank_.size()) {
    if (host_of_rank_.empty()) return;
    const auto [least, most] = std::minmax_element(host_of_rank_.begin(), host_of_rank_.end());
    if (*least < 0) broken_invariant("a rank's host is negative (host, ranks)", *least,
                                     rank_count());
    first_.assign(static_cast<std::size_t>(*most) + 2, 0);
    for (const int host : host_of_rank_) ++first_[static_cast<std::size_t>(host) + 1];
    for (std::size_t host = 0; host + 1 < first_.size(); ++host) {
        if (first_[host + 1] == 0)
            broken_invariant("a host has no rank (host, hosts)", static_cast<long long>(host),
                             host_count());
        most_ranks_on_a_host_ = std::max(most_ranks_on_a_host_, first_[host + 1]);
    }
    std::partial_sum(first_.begin(), first_.end(), first_.begin());
    std::vector<int> next(first_.begin(), first_.end() - 1);
    for (int rank = 0; rank < rank_count(); ++rank) {
        const auto host = static_cast<std::size_t>(host_of(rank));
        position_[static_cast<std::size_t>(rank)] = next[host] - first_[host];
        ranks_[static_cast<std::size_t>(next[host]++)] = rank;
        ranks_are_hosts_ = ranks_are_hosts_ && host_of(rank) == rank;
    }
}

Placement Placement::in_blocks(int host_count, int ranks_per_host) {
    std::vector<int> host_of_rank;
    host_of_rank.reserve(static_cast<std::size_t>(host_count) *
                         static_cast<std::size_t>(ranks_per_host));
    for (int host = 0; host < host_count; ++host)
        host_of_rank.insert(host_of_rank.end(), static_cast<std::size_t>(ranks_per_host), host);
    return Placement(std::move(host_of_rank));
}

}  // namespace mutirao
