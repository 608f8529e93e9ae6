#include "mpi/adaptation/epoch_post.h"

#include <memory>
#include <utility>

#include "core/text/invariant.h"

namespace mutirao::mpi {
namespace {

// Whom this rank tells: as a leader, the leaders of the hosts below and the ranks beside it.
std::vector<int> listeners(const Hosts& hosts, const Epoch& epoch) {
    std::vector<int> ranks;
    if (!hosts.leading()) {
        return ranks;
    }
    const int here = hosts.my_host();
    for (int host = 0; host < hosts.count(); ++host) {
        if (epoch.parent_of_host[static_cast<std::size_t>(host)] == here) {
            ranks.push_back(hosts.leader_of_host[static_cast<std::size_t>(host)]);
        }
    }
    for (std::size_t rank = 0; rank < hosts.host_of_rank.size(); ++rank) {
        if (hosts.host_of_rank[rank] == here && static_cast<int>(rank) != hosts.my_rank) {
            ranks.push_back(static_cast<int>(rank));
        }
    }
    return ranks;
}

}  // namespace

void EpochPost::pass_on(const Epoch& epoch, Post::Bytes bytes) {
    const auto shared = std::make_shared<const Post::Bytes>(std::move(bytes));
    for (const int rank : listeners(hosts_, epoch)) {
        post_.send(rank, shared);
    }
}

std::vector<Epoch> EpochPost::receive() {
    std::vector<Epoch> heard;
    while (auto letter = post_.receive()) {
        auto epoch = decode_epoch(letter->bytes, hosts_.count());
        if (!epoch) {
            broken_invariant("words that are no epoch, from rank", letter->from,
                             static_cast<long long>(letter->bytes.size()));
        }
        pass_on(*epoch, std::move(letter->bytes));
        heard.push_back(std::move(*epoch));
    }
    return heard;
}

}  // namespace mutirao::mpi
