#include "mpi/base/post.h"

namespace mutirao::mpi {

Post::~Post() {
    for (Sending& sending : sending_) {
        PMPI_Request_free(&sending.request);
        // MPI may still read the few bytes, so they are left to it.
        auto kept = std::make_unique<std::shared_ptr<const Bytes>>(std::move(sending.bytes));
        static_cast<void>(kept.release());
    }
}

void Post::send(int rank, std::shared_ptr<const Bytes> bytes) {
    Sending& sending = sending_.emplace_back(Sending{MPI_REQUEST_NULL, std::move(bytes)});
    PMPI_Isend(sending.bytes->data(), static_cast<int>(sending.bytes->size()), MPI_BYTE, rank, tag_,
               comm_, &sending.request);
    reap();
}

std::optional<Post::Received> Post::receive(int looks) {
    int here = 0;
    MPI_Message message = MPI_MESSAGE_NULL;
    MPI_Status status;
    for (int look = 0; look < looks && here == 0; ++look) {
        PMPI_Improbe(MPI_ANY_SOURCE, tag_, comm_, &here, &message, &status);
    }
    if (here == 0) {
        reap();
        return std::nullopt;
    }
    int length = 0;
    PMPI_Get_count(&status, MPI_BYTE, &length);
    Received received{status.MPI_SOURCE, Bytes(static_cast<std::size_t>(length))};
    PMPI_Mrecv(received.bytes.data(), length, MPI_BYTE, &message, MPI_STATUS_IGNORE);
    return received;
}

void Post::reap() {
    if (sending_.empty()) {
        return;
    }
    std::vector<MPI_Request> requests;
    requests.reserve(sending_.size());
    for (const Sending& sending : sending_) {
        requests.push_back(sending.request);
    }
    std::vector<int> completed(requests.size());
    int count = 0;
    PMPI_Testsome(static_cast<int>(requests.size()), requests.data(), &count, completed.data(), MPI_STATUSES_IGNORE);
    std::size_t at = 0;
    std::erase_if(sending_, [&](const Sending&) { return requests[at++] == MPI_REQUEST_NULL; });
}

}  // namespace mutirao::mpi
