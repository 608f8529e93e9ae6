#include "mpi/job/peers.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include "core/text/bytes.h"
#include "mpi/base/runtime.h"
#include "mpi/base/world.h"
#include "mpi/watch/host_agent.h"

namespace mutirao::mpi {
namespace {

int rank_in(MPI_Comm comm) {
    int rank = 0;
    PMPI_Comm_rank(comm, &rank);
    return rank;
}

int size_of(MPI_Comm comm) {
    int size = 0;
    PMPI_Comm_size(comm, &size);
    return size;
}

std::uint64_t identity_of(const std::vector<Introduction>& all) {
    return std::max<std::uint64_t>(fnv1a(std::as_bytes(std::span(all))), 1);
}

constexpr std::size_t words_each = sizeof(Introduction) / sizeof(std::uint64_t);
static_assert(sizeof(Introduction) == words_each * sizeof(std::uint64_t) &&
              std::is_trivially_copyable_v<Introduction>);

// As the vote before, whose connections are there. An allgather connects all pairs, which takes Open MPI 11 s among six
// sites (docs/results.md).
Pending tell_all(MPI_Comm comm, const Introduction& mine, std::vector<std::uint64_t>& words,
                 const std::shared_ptr<void>& memory) {
    words.resize(static_cast<std::size_t>(size_of(comm)) * words_each);
    std::memcpy(&words[static_cast<std::size_t>(rank_in(comm)) * words_each], &mine, sizeof mine);
    MPI_Request request = MPI_REQUEST_NULL;
    PMPI_Iallreduce(MPI_IN_PLACE, words.data(), static_cast<int>(words.size()), MPI_UINT64_T, MPI_BOR, comm, &request);
    return {comm, request, memory};
}

std::vector<Introduction> introductions_in(const std::vector<std::uint64_t>& words) {
    std::vector<Introduction> all(words.size() / words_each);
    std::memcpy(static_cast<void*>(all.data()), words.data(), words.size() * sizeof(std::uint64_t));
    return all;
}

}  // namespace

Introducing::Introducing(MPI_Comm comm)
    : comm_(comm), pending_([&] {
          const Settings& settings = runtime().settings;
          Introduction mine = introduce(settings, runtime().settings_hash, rank_in(MPI_COMM_WORLD));
          if (wants_agents(settings)) {
              memory_->endpoint = agent::Endpoint::open();
              const std::optional<agent::Key> key = agent::random_key();
              if (memory_->endpoint && key) {
                  mine.has_agent = 1;
                  mine.contact = memory_->endpoint->contact();
                  mine.key = *key;
              }
              if (const auto daemon = find_daemon(settings)) {
                  mine.daemon_job = daemon->job;
                  mine.daemon_host = daemon->host;
              }
          }
          return tell_all(comm, mine, memory_->words, memory_);
      }()) {}

std::shared_ptr<Peers> Introducing::take() {
    MPI_Group group = MPI_GROUP_NULL;
    PMPI_Comm_group(comm_, &group);
    return std::make_shared<Peers>(group, introductions_in(memory_->words), rank_in(comm_),
                                   std::move(memory_->endpoint));
}

Peers::Peers(MPI_Group group, const std::vector<Introduction>& all, int my_rank,
             std::optional<agent::Endpoint> endpoint)
    : group_(group), id_(identity_of(all)), world_(world_of(all, my_rank)) {
    if (is_verbose(1)) {
        say(1, extent_of(world_));
    }
    if (world_.native_reason.empty()) {
        start_source(all, std::move(endpoint));
        if (is_verbose(3)) {
            say(3, "on host " + std::to_string(world_.my_host()) + ", " +
                       (source_ ? source_->about() : "where nobody watches the network"));
        }
    } else if (!world_.at_odds) {
        say(1, "the MPI library takes all calls: " + world_.native_reason);
    } else if (my_rank == 0) {
        std::fprintf(stderr, "mutirao: %s; the MPI library takes all calls\n", world_.native_reason.c_str());
    }
    if (source_) {
        const int here = world_.source_host[static_cast<std::size_t>(world_.my_host())];
        lookout_ = std::make_shared<Lookout>(source_, here, runtime().settings, world_.sockets);
    }
}

Peers::~Peers() { PMPI_Group_free(&group_); }

// Of the whole job some time is given to begin with; elsewhere calls have to earn it.
std::shared_ptr<Ledger> Peers::ledger_of(MPI_Comm comm) const {
    constexpr double opening_us = 100'000;
    const std::vector<int> ranks = members_of(comm, group_)->twin_rank_of;
    const std::lock_guard lock(ledgers_mutex_);
    std::erase_if(ledgers_, [](const auto& each) { return each.second.expired(); });
    std::weak_ptr<Ledger>& known = ledgers_[ranks];
    std::shared_ptr<Ledger> ledger = known.lock();
    if (!ledger) {
        const bool whole = static_cast<int>(ranks.size()) == size_of(MPI_COMM_WORLD);
        known = ledger = std::make_shared<Ledger>(whole ? opening_us : 0);
    }
    return ledger;
}

void Peers::stop_measuring() {
    lookout_.reset();
    source_.reset();
}

void Peers::start_source(const std::vector<Introduction>& all, std::optional<agent::Endpoint> endpoint) {
    const Settings& settings = runtime().settings;
    if (world_.host_count() == 1) {
        if (settings.acts_on_one_host(world_.is_crowded(0))) {
            source_ = std::make_shared<OneHost>();
        }
        return;
    }
    if (!wants_agents(settings)) {
        return;
    }
    if (world_.has_daemons) {
        source_ = std::make_shared<HostAgent>(agent::daemon_segment_name());
        return;
    }
    const bool everywhere =
        std::all_of(world_.leader_of_host.begin(), world_.leader_of_host.end(),
                    [&all](int leader) { return all[static_cast<std::size_t>(leader)].has_agent != 0; });
    if (!everywhere) {
        return;
    }
    source_ = world_.leads(world_.my_rank)
                  ? std::make_shared<HostAgent>(std::move(*endpoint), make_job(all, world_, settings, id_))
                  : std::make_shared<HostAgent>(agent::segment_name(id_, world_.my_host()));
}

}  // namespace mutirao::mpi
