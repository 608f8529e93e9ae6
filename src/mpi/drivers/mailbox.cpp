#include "mpi/drivers/mailbox.h"

#include <time.h>

#include <algorithm>
#include <cstring>
#include <memory>

namespace mutirao::mpi {
namespace {

// Before a letter's body: its phase (1) and its round (4).
constexpr std::size_t head_bytes = 1 + sizeof(Letter::round);

}  // namespace

Mailbox::Mailbox(MPI_Comm comm, const Hosts& hosts, int tag)
    : comm_(comm), hosts_(hosts), tag_(tag), given_up_(static_cast<std::size_t>(hosts.count()), false) {}

Mailbox::~Mailbox() {
    for (Sending& sending : sending_) {
        if (given_up_[static_cast<std::size_t>(sending.to)]) {
            PMPI_Request_free(&sending.request);
            // MPI may still read the few bytes, so they are left to it.
            auto kept = std::make_unique<std::vector<std::byte>>(std::move(sending.body));
            static_cast<void>(kept.release());
        } else {
            PMPI_Wait(&sending.request, MPI_STATUS_IGNORE);
        }
    }
}

void Mailbox::begin_round() {
    ++round_;
    for (auto& queue : waiting_) {
        std::erase_if(queue, [&](const Letter& each) { return each.round < round_; });
    }
}

void Mailbox::send(int to, Phase phase, std::span<const std::byte> body) {
    std::vector<std::byte> bytes(head_bytes + body.size());
    bytes[0] = static_cast<std::byte>(phase);
    std::memcpy(bytes.data() + 1, &round_, sizeof round_);
    std::copy(body.begin(), body.end(), bytes.begin() + head_bytes);
    Sending& sending = sending_.emplace_back(Sending{to, MPI_REQUEST_NULL, std::move(bytes)});
    PMPI_Isend(sending.body.data(), static_cast<int>(sending.body.size()), MPI_BYTE,
               hosts_.leader_of_host[static_cast<std::size_t>(to)], tag_, comm_,
               &sending.request);
    reap();
}

void Mailbox::give_up(int host) { given_up_[static_cast<std::size_t>(host)] = true; }

// In order, which leaves few to look at: sends complete much in the order in which they began.
void Mailbox::reap() {
    std::erase_if(sending_, [](Sending& sending) {
        int done = 0;
        PMPI_Test(&sending.request, &done, MPI_STATUS_IGNORE);
        return done != 0;
    });
}

bool Mailbox::fetch() {
    int here = 0;
    MPI_Status status;
    PMPI_Iprobe(MPI_ANY_SOURCE, tag_, comm_, &here, &status);
    if (here == 0) {
        return false;
    }
    int length = 0;
    PMPI_Get_count(&status, MPI_BYTE, &length);
    std::vector<std::byte> bytes(static_cast<std::size_t>(length));
    PMPI_Recv(bytes.data(), length, MPI_BYTE, status.MPI_SOURCE, tag_, comm_,
              MPI_STATUS_IGNORE);
    Letter letter;
    letter.from = hosts_.host_of_rank[static_cast<std::size_t>(status.MPI_SOURCE)];
    letter.phase = static_cast<Phase>(bytes.at(0));
    std::memcpy(&letter.round, &bytes.at(1), sizeof letter.round);
    letter.body.assign(bytes.begin() + head_bytes, bytes.end());
    if (letter.round >= round_) {
        waiting_[static_cast<std::size_t>(letter.phase) % phase_count].push_back(std::move(letter));
    }
    return true;
}

std::optional<Letter> Mailbox::poll(Phase phase) {
    auto& queue = waiting_[static_cast<std::size_t>(phase)];
    const bool fetched = fetch();
    const auto found = std::find_if(queue.begin(), queue.end(),
                                    [&](const Letter& each) { return each.round == round_; });
    if (fetched) {
        idle_polls_ = 0;
    } else if (found == queue.end()) {
        rest();
    }
    if (found == queue.end()) {
        return std::nullopt;
    }
    Letter letter = std::move(*found);
    queue.erase(found);
    return letter;
}

// Spinning measures small latencies best, but with more ranks than processors it keeps the very
// process waiting that should answer.
void Mailbox::rest() {
    constexpr int spins = 2000;
    if (++idle_polls_ < spins) {
        return;
    }
    reap();
    const timespec pause{0, 20'000};
    nanosleep(&pause, nullptr);
}

}  // namespace mutirao::mpi
