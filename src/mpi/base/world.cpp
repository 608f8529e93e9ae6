#include "mpi/base/world.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <numeric>
#include <span>
#include <type_traits>

#include "core/text/bytes.h"
#include "core/text/names.h"
#include "core/text/units.h"

namespace mutirao::mpi {
namespace {

static_assert(std::is_trivially_copyable_v<Introduction>);
static_assert(sizeof(Introduction) == 216 &&
              sizeof(Introduction) == 8 * sizeof(std::uint64_t) + sizeof(SocketLimits) + sizeof(agent::Contact) +
                                          sizeof(agent::Key) + sizeof(Introduction::host_name));

std::uint64_t hash_of(const std::string& text) { return fnv1a(std::as_bytes(std::span(text))); }

// Ranks share a host if they run under the same boot of one kernel and the same host name (so that
// containers with names of their own are hosts of their own). Asking MPI instead
// (MPI_Comm_split_type) costs several collectives over the slow network.
std::string host_identity() {
    std::string identity(256, '\0');
    gethostname(identity.data(), identity.size() - 1);
    std::string boot;
    std::ifstream("/proc/sys/kernel/random/boot_id") >> boot;
    return identity + boot;
}

bool all_alike(const std::vector<Introduction>& all, std::uint64_t Introduction::*field) {
    return std::all_of(all.begin(), all.end(), [&](const Introduction& each) {
        return each.*field == all.front().*field;
    });
}

std::string obstacle(const std::vector<Introduction>& all) {
    const auto off = std::ranges::find(all, std::uint64_t{0}, &Introduction::enabled);
    if (off != all.end()) {
        return all_alike(all, &Introduction::enabled)
                   ? "switched off"
                   : "switched off on rank " + std::to_string(off - all.begin());
    }
    if (!all_alike(all, &Introduction::version)) {
        return "the ranks run different versions of mutirao";
    }
    if (!all_alike(all, &Introduction::settings)) {
        return "the ranks run with different settings";
    }
    return "";
}

// One standing agent cannot stand for two hosts, and all must belong together.
std::vector<int> daemon_hosts(const std::vector<Introduction>& all, const World& world) {
    if (all.front().daemon_job == 0 || !all_alike(all, &Introduction::daemon_job)) {
        return {};
    }
    std::vector<int> numbers;
    for (int host = 0; host < world.host_count(); ++host) {
        numbers.push_back(static_cast<int>(all[static_cast<std::size_t>(world.leader_of(host))].daemon_host));
    }
    std::vector<int> sorted = numbers;
    std::sort(sorted.begin(), sorted.end());
    return std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end() ? numbers
                                                                            : std::vector<int>{};
}

}  // namespace

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

Introduction introduce(const Settings& settings, std::uint64_t settings_hash, int my_rank) {
    Introduction mine;
    mine.version = hash_of(MUTIRAO_VERSION);
    mine.settings = settings_hash;
    mine.host_identity = hash_of(settings.ranks_per_host > 0
                                     ? std::to_string(my_rank / settings.ranks_per_host)
                                     : host_identity());
    mine.enabled = settings.enabled ? 1 : 0;
    mine.sockets = limits_of_this_host();
    mine.processors = sysconf(_SC_NPROCESSORS_ONLN);
    gethostname(mine.host_name.data(), mine.host_name.size());
    return mine;
}

std::string extent_of(const World& world) {
    return counted(static_cast<std::size_t>(world.rank_count()), "rank") + " on " +
           counted(static_cast<std::size_t>(world.host_count()), "host") + " (" + listed(world.host_names) + ")";
}

World world_of(const std::vector<Introduction>& introductions, int my_rank) {
    World world;
    world.my_rank = my_rank;
    world.sockets = introductions.front().sockets;
    std::map<std::uint64_t, int> host_of_identity;
    std::vector<int> host_of_rank;
    for (std::size_t rank = 0; rank < introductions.size(); ++rank) {
        const auto [entry, fresh] = host_of_identity.try_emplace(introductions[rank].host_identity,
                                                                 static_cast<int>(host_of_identity.size()));
        if (fresh) {
            world.processors_of_host.push_back(introductions[rank].processors);
            const auto& name = introductions[rank].host_name;
            world.host_names.emplace_back(name.begin(), std::find(name.begin(), name.end(), '\0'));
        }
        host_of_rank.push_back(entry->second);
        world.sockets = world.sockets.least_of(introductions[rank].sockets);
    }
    world.placement = std::make_shared<const Placement>(std::move(host_of_rank));
    world.native_reason = obstacle(introductions);
    if (world.native_reason.empty() && world.host_count() > World::most_hosts) {
        world.native_reason = std::to_string(world.host_count()) + " hosts, of which more than " +
                              std::to_string(World::most_hosts) + " are not measured yet";
    }
    world.at_odds = !all_alike(introductions, &Introduction::enabled) ||
                    !all_alike(introductions, &Introduction::version) ||
                    !all_alike(introductions, &Introduction::settings);
    world.source_host = daemon_hosts(introductions, world);
    world.has_daemons = !world.source_host.empty();
    if (!world.has_daemons) {
        world.source_host.resize(static_cast<std::size_t>(world.host_count()));
        std::iota(world.source_host.begin(), world.source_host.end(), 0);
    }
    return world;
}

Members part_of(const World& whole, std::vector<int> ranks, int my_rank) {
    Members part;
    part.my_rank = my_rank;
    part.native_reason = whole.native_reason;
    part.sockets = whole.sockets;
    part.has_daemons = whole.has_daemons;
    constexpr int none = -1;
    std::vector<int> number_of(static_cast<std::size_t>(whole.host_count()), none);
    const auto number = [&](int rank) -> int& {
        return number_of[static_cast<std::size_t>(whole.placement->host_of(rank))];
    };
    for (const int rank : ranks) {
        number(rank) = 0;
    }
    for (std::size_t host = 0; host < number_of.size(); ++host) {
        if (number_of[host] != none) {
            number_of[host] = static_cast<int>(part.host_names.size());
            part.host_names.push_back(whole.host_names[host]);
            part.processors_of_host.push_back(whole.processors_of_host[host]);
            part.source_host.push_back(whole.source_host[host]);
        }
    }
    std::vector<int> host_of_rank(ranks.size());
    std::ranges::transform(ranks, host_of_rank.begin(), number);
    auto placement = std::make_shared<const Placement>(std::move(host_of_rank));
    // Of communicators of all ranks in their order there may be many.
    part.placement = *placement == *whole.placement ? whole.placement : std::move(placement);
    part.twin_rank_of = std::move(ranks);
    return part;
}

std::vector<int> ranks_in(MPI_Group group, MPI_Group among) {
    int size = 0;
    PMPI_Group_size(group, &size);
    std::vector<int> own(static_cast<std::size_t>(size)), translated(own.size(), MPI_UNDEFINED);
    std::iota(own.begin(), own.end(), 0);
    // Open MPI translates in quadratic time, and tells one group from another at once.
    int alike = MPI_UNEQUAL;
    PMPI_Group_compare(group, among, &alike);
    if (alike == MPI_IDENT) {
        return own;
    }
    PMPI_Group_translate_ranks(group, size, own.data(), among, translated.data());
    return translated;
}

bool holds(MPI_Group all, MPI_Group some) { return std::ranges::count(ranks_in(some, all), MPI_UNDEFINED) == 0; }

Members members_of(MPI_Comm comm, MPI_Group world_group, const World& world) {
    return part_of(world, ranks_in(Group(comm), world_group), rank_in(comm));
}

}  // namespace mutirao::mpi
