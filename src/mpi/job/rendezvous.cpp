#include "agent/rendezvous.h"

#include <mpi.h>

#include "mpi/job/modex.h"

#if !defined(OPEN_MPI)
#include <atomic>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <span>
#include <thread>
#include <utility>

#include "agent/system.h"

namespace mutirao::mpi {
namespace {

static_assert(sizeof(agent::Said) == sizeof(Introduction));
constexpr std::int64_t most_wait_ns = 5 * agent::ns_per_s;

std::optional<agent::Invitation> invitation;
const Introduce* say_who = nullptr;  // lives as long as the process, whose threads may end after it

bool is_one_host() {
    const char* const here = std::getenv("MPI_LOCALNRANKS");
    return here != nullptr && std::atoi(here) == size_of(MPI_COMM_WORLD);
}

// All whose agent could be reached have the same key, so it is not said.
void meet_all(std::uint32_t rank, std::uint32_t ranks, const Told& when_told) {
    const std::int64_t until_ns = agent::now_ns() + most_wait_ns;
    Introduction mine = (*say_who)();
    mine.key = {};
    const auto said = agent::meet(*invitation, {rank, ranks, mine.host_identity}, std::bit_cast<agent::Said>(mine), until_ns);
    if (said) {
        const agent::Key key = *key_of_launcher();
        std::vector<Introduction> all;
        for (const agent::Said& each : *said) {
            all.push_back(std::bit_cast<Introduction>(each));
            if (all.back().has_agent != 0) {
                all.back().key = key;
            }
        }
        when_told(all);
    }
}

}  // namespace

std::optional<agent::Key> key_of_launcher() {
    constexpr std::string_view use = "agents";
    return invitation ? std::optional(derived_key(invitation->key, std::as_bytes(std::span(use)))) : std::nullopt;
}

// The rendezvous is told with the first collective.
void publish(Introduce introduce) {
    const char* const text = std::getenv("MUTIRAO_RENDEZVOUS");
    if (text != nullptr && size_of(MPI_COMM_WORLD) <= static_cast<int>(agent::Rendezvous::most_ranks) && !is_one_host()) {
        invitation = agent::Invitation::from(text);
        say_who = new Introduce(std::move(introduce));
    }
}

void fetch_modex_ahead(Told when_all_told) {
    static std::atomic<bool> done{false};
    if (done.exchange(true) || !invitation) {
        return;
    }
    try {
        const agent::AllSignalsBlocked blocked;
        std::thread([rank = static_cast<std::uint32_t>(rank_in(MPI_COMM_WORLD)),
                     ranks = static_cast<std::uint32_t>(size_of(MPI_COMM_WORLD)), told = std::move(when_all_told)] {
            try {
                meet_all(rank, ranks, told);
            } catch (const std::exception&) {
                // Without memory or threads for it nobody has been told.
            }
        }).detach();
    } catch (const std::system_error&) {
        // No threads are to be had.
    }
}

// Ranks that call no collective never come, so nobody waits for them.
bool may_be_told() { return false; }

}  // namespace mutirao::mpi

#endif
