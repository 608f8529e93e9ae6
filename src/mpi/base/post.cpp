#include "mpi/base/post.h"

#include <cstring>
#include <utility>

namespace mutirao::mpi {

std::optional<Message> take_message(MPI_Comm comm, int tag) {
    int here = 0;
    MPI_Message message = MPI_MESSAGE_NULL;
    MPI_Status status;
    PMPI_Improbe(MPI_ANY_SOURCE, tag, comm, &here, &message, &status);
    if (here == 0) {
        return std::nullopt;
    }
    int length = 0;
    PMPI_Get_count(&status, MPI_BYTE, &length);
    Message taken{status.MPI_SOURCE, std::vector<std::byte>(static_cast<std::size_t>(length))};
    PMPI_Mrecv(taken.bytes.data(), length, MPI_BYTE, &message, MPI_STATUS_IGNORE);
    return taken;
}

Post::~Post() {
    reap();
    for (MPI_Request& each : sending_.requests) {
        PMPI_Request_free(&each);
    }
    if (!sending_.letters.empty()) {  // MPI may still read the few bytes, so they are left to it
        new std::vector<Letter>(std::move(sending_.letters));
    }
}

// The hosts of one job have one order of bytes.
Post::Letter Post::letter_of(Bytes content) const {
    content.resize(content.size() + owner_bytes);
    std::memcpy(content.data() + content.size() - owner_bytes, &owner_, owner_bytes);
    return std::make_shared<const Bytes>(std::move(content));
}

bool Post::is_mine(const Bytes& bytes) const {
    return bytes.size() >= owner_bytes &&
           std::memcmp(bytes.data() + bytes.size() - owner_bytes, &owner_, owner_bytes) == 0;
}

void Post::send(int rank, Letter letter) {
    PMPI_Isend(letter->data(), static_cast<int>(letter->size()), MPI_BYTE, rank, tag_, comm_,
               &sending_.requests.emplace_back(MPI_REQUEST_NULL));
    sending_.letters.push_back(std::move(letter));
    reap();
}

Post::Sends Post::take_sends() {
    reap();
    return std::exchange(sending_, {});
}

std::optional<Post::Received> Post::receive(int looks) {
    for (int look = 0; look < looks;) {
        auto message = take_message(comm_, tag_);
        if (message && is_mine(message->bytes)) {
            return Received{message->from, std::make_shared<const Bytes>(std::move(message->bytes))};
        }
        look = message ? 0 : look + 1;
    }
    reap();
    return std::nullopt;
}

void Post::reap() {
    auto& [requests, letters] = sending_;
    if (requests.empty()) {
        return;
    }
    std::vector<int> completed(requests.size());
    int count = 0;
    PMPI_Testsome(static_cast<int>(requests.size()), requests.data(), &count, completed.data(), MPI_STATUSES_IGNORE);
    std::size_t at = 0;
    std::erase_if(letters, [&](const Letter&) { return requests[at++] == MPI_REQUEST_NULL; });
    std::erase(requests, MPI_REQUEST_NULL);
}

}  // namespace mutirao::mpi
