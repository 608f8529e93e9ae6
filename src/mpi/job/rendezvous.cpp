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
#include "mpi/base/waiting.h"

namespace mutirao::mpi {
namespace {

static_assert(sizeof(agent::Said) == sizeof(Introduction));
constexpr std::int64_t most_wait_ns = 5 * agent::ns_per_s;

std::optional<Introduction> published;

std::optional<agent::Invitation> invitation() {
    const char* const text = std::getenv("MUTIRAO_RENDEZVOUS");
    return text == nullptr ? std::nullopt : agent::Invitation::from(text);
}

bool is_one_host() {
    const char* const here = std::getenv("MPI_LOCALNRANKS");
    return here != nullptr && std::atoi(here) == size_of(MPI_COMM_WORLD);
}

// All know the key, so it is not said.
void meet_all(const agent::Invitation& where, std::uint32_t rank, std::uint32_t ranks, const Told& when_told) {
    Introduction mine = *published;
    mine.key = {};
    const auto said = agent::meet(where, rank, ranks, std::bit_cast<agent::Said>(mine), agent::now_ns() + most_wait_ns);
    if (said) {
        std::vector<Introduction> all;
        for (const agent::Said& each : *said) {
            all.push_back(std::bit_cast<Introduction>(each));
            all.back().key = published->key;
        }
        when_told(all);
    }
}

}  // namespace

std::optional<agent::Key> key_of_launcher() {
    const auto invited = invitation();
    constexpr std::string_view use = "agents";
    return invited ? std::optional(derived_key(invited->key, std::as_bytes(std::span(use)))) : std::nullopt;
}

bool may_publish() {
    return invitation() && size_of(MPI_COMM_WORLD) <= static_cast<int>(agent::Rendezvous::most_ranks) && !is_one_host();
}

void publish(const Introduction& mine) { published = mine; }

void fetch_modex_ahead(Told when_all_told) {
    static std::atomic<bool> done{false};
    if (done.exchange(true) || !published) {
        return;
    }
    try {
        const agent::AllSignalsBlocked blocked;
        std::thread([where = *invitation(), rank = static_cast<std::uint32_t>(rank_in(MPI_COMM_WORLD)),
                     ranks = static_cast<std::uint32_t>(size_of(MPI_COMM_WORLD)), told = std::move(when_all_told)] {
            try {
                meet_all(where, rank, ranks, told);
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
