#include "mpi/adaptation/epoch_post.h"

#include "core/text/invariant.h"
#include "mpi/tags.h"

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

void EpochPost::pass_on(const Epoch& epoch, std::vector<std::byte> bytes) {
    const auto shared = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
    for (const int rank : listeners(hosts_, epoch)) {
        Sending& sending = sending_.emplace_back(Sending{MPI_REQUEST_NULL, shared});
        PMPI_Isend(shared->data(), static_cast<int>(shared->size()), MPI_BYTE, rank, epoch_tag,
                   comm_, &sending.request);
    }
    reap();
}

std::vector<Epoch> EpochPost::receive() {
    std::vector<Epoch> heard;
    while (true) {
        int here = 0;
        MPI_Message letter = MPI_MESSAGE_NULL;
        MPI_Status status;
        PMPI_Improbe(MPI_ANY_SOURCE, epoch_tag, comm_, &here, &letter, &status);
        if (here == 0) {
            reap();
            return heard;
        }
        int length = 0;
        PMPI_Get_count(&status, MPI_BYTE, &length);
        std::vector<std::byte> bytes(static_cast<std::size_t>(length));
        PMPI_Mrecv(bytes.data(), length, MPI_BYTE, &letter, MPI_STATUS_IGNORE);
        auto epoch = decode_epoch(bytes, hosts_.count());
        if (!epoch) {
            broken_invariant("words that are no epoch, from rank", status.MPI_SOURCE, length);
        }
        pass_on(*epoch, std::move(bytes));
        heard.push_back(std::move(*epoch));
    }
}

void EpochPost::reap() {
    std::erase_if(sending_, [](Sending& sending) {
        int done = 0;
        PMPI_Test(&sending.request, &done, MPI_STATUS_IGNORE);
        return done != 0;
    });
}

void EpochPost::finish() {
    for (Sending& sending : sending_) {
        PMPI_Wait(&sending.request, MPI_STATUS_IGNORE);
    }
    sending_.clear();
}

}  // namespace mutirao::mpi
