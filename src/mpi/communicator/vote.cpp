#include "mpi/communicator/vote.h"

#include <span>

#include "core/text/bytes.h"
#include "mpi/base/runtime.h"
#include "mpi/base/world.h"

namespace mutirao::mpi {
namespace {

std::uint64_t settings_and_version() {
    static const std::uint64_t known = [] {
        const std::string text = std::to_string(runtime().settings_hash) + MUTIRAO_VERSION;
        return fnv1a(std::as_bytes(std::span(text)));
    }();
    return known;
}

}  // namespace

Vote::Memory::~Memory() {
    if (twin && !settled) {
        twin->slots().settle(who, mine.offered, 0);
    }
}

Vote::Vote(MPI_Comm comm, const Opinion& mine)
    : memory_(std::make_shared<Memory>()), pending_(begin(comm, mine)) {}

Pending Vote::begin(MPI_Comm comm, const Opinion& mine) {
    Ballot& ballot = memory_->mine;
    ballot.said = mine.said | (runtime().settings.enabled ? enabled : disabled);
    ballot.settings = settings_and_version();
    ballot.peers = mine.peers ? mine.peers->id() : 0;
    ballot.twin = mine.twin ? mine.twin->id() : 0;
    ballot.not_settings = ~ballot.settings;
    ballot.not_peers = ~ballot.peers;
    ballot.not_twin = ~ballot.twin;
    ballot.offered = 0;
    ballot.owner = rank_in(comm) == 0 ? mine.number : ~std::uint64_t{0};
    memory_->peers = mine.peers;
    memory_->twin = mine.twin;
    if (mine.twin) {
        const std::vector<int> ranks = ranks_in(Group(comm), mine.twin->group());
        memory_->who = fnv1a(std::as_bytes(std::span(ranks)));
        ballot.offered = mine.twin->slots().offer(memory_->who);
    }
    constexpr int words = sizeof(Ballot) / sizeof(std::uint64_t);
    static_assert(sizeof(Ballot) == words * sizeof(std::uint64_t));
    MPI_Request request = MPI_REQUEST_NULL;
    PMPI_Iallreduce(&memory_->mine, &memory_->all, words, MPI_UINT64_T, MPI_BAND, comm, &request);
    return {comm, request, memory_};
}

bool Vote::is_at_odds() const {
    return (!all_say(enabled) && !all_say(disabled)) || !runs_alike();
}

std::string Vote::obstacle() const {
    if (all_say(disabled)) {
        return "switched off";
    }
    if (!all_say(enabled)) {
        return "switched off on some ranks, and not on others";
    }
    if (!runs_alike()) {
        return "the ranks run with different versions or settings of mutirao";
    }
    return all_say(willing) ? "" : "something stands against mutirao on another rank";
}

std::optional<Slot> Vote::settle() const {
    memory_->settled = true;
    const int number = memory_->twin->slots().settle(memory_->who, memory_->mine.offered, all().offered);
    return number < 0 ? std::nullopt : std::optional(Slot(number, all().owner));
}

}  // namespace mutirao::mpi
