#include "mpi/communicator/hosts.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <string>

#include "mpi/tags.h"

namespace mutirao::mpi {
namespace {

// Ranks share a host if they run under the same boot of one kernel and the same host name (so that
// containers with names of their own are hosts of their own). Asking MPI instead
// (MPI_Comm_split_type) costs several collectives over the slow network.
std::string host_identity() {
    std::string identity(256, '\0');
    gethostname(identity.data(), identity.size() - 1);
    if (std::FILE* const file = std::fopen("/proc/sys/kernel/random/boot_id", "r")) {
        char boot[64] = {};
        identity.append(boot, std::fread(boot, 1, sizeof boot - 1, file));
        std::fclose(file);
    }
    return identity;
}

void number_hosts(const std::vector<Introduction>& introductions, Hosts& hosts) {
    std::map<std::uint64_t, int> host_of_identity;
    std::vector<int> ranks_on_host;
    for (std::size_t rank = 0; rank < introductions.size(); ++rank) {
        const auto [entry, fresh] =
            host_of_identity.try_emplace(introductions[rank].host_identity, hosts.count());
        if (fresh) {
            hosts.leader_of_host.push_back(static_cast<int>(rank));
            ranks_on_host.push_back(0);
        }
        hosts.host_of_rank.push_back(entry->second);
        hosts.local_rank_of_rank.push_back(
            ranks_on_host[static_cast<std::size_t>(entry->second)]++);
    }
}

}  // namespace

bool all_alike(const std::vector<Introduction>& introductions,
               std::uint64_t Introduction::*field) {
    return std::all_of(introductions.begin(), introductions.end(), [&](const Introduction& each) {
        return each.*field == introductions.front().*field;
    });
}

int introduce_ranks(MPI_Comm comm, int ranks_per_host, Introduction mine, Hosts& hosts,
                    std::vector<Introduction>& introductions) {
    int size = 0;
    PMPI_Comm_rank(comm, &hosts.my_rank);
    PMPI_Comm_size(comm, &size);
    const std::string identity =
        ranks_per_host > 0 ? std::to_string(hosts.my_rank / ranks_per_host) : host_identity();
    mine.host_identity = fnv1a(std::as_bytes(std::span(identity)));
    introductions.resize(static_cast<std::size_t>(size));
    const int error = PMPI_Allgather(&mine, sizeof mine, MPI_BYTE, introductions.data(),
                                     sizeof mine, MPI_BYTE, comm);
    if (error == MPI_SUCCESS) {
        number_hosts(introductions, hosts);
    }
    return error;
}

// Collective among the ranks of each host only, so that it does not wait for the slow network.
int make_host_communicator(MPI_Comm comm, Hosts& hosts) {
    std::vector<int> ranks;
    for (std::size_t rank = 0; rank < hosts.host_of_rank.size(); ++rank) {
        if (hosts.host_of_rank[rank] == hosts.my_host()) {
            ranks.push_back(static_cast<int>(rank));
        }
    }
    if (ranks.size() == 1) {
        return MPI_SUCCESS;
    }
    MPI_Group all = MPI_GROUP_NULL;
    MPI_Group here = MPI_GROUP_NULL;
    PMPI_Comm_group(comm, &all);
    PMPI_Group_incl(all, static_cast<int>(ranks.size()), ranks.data(), &here);
    const int error = PMPI_Comm_create_group(comm, here, host_tag, &hosts.host_comm);
    PMPI_Group_free(&here);
    PMPI_Group_free(&all);
    if (error == MPI_SUCCESS) {
        PMPI_Comm_set_errhandler(hosts.host_comm, MPI_ERRORS_RETURN);
    }
    return error;
}

}  // namespace mutirao::mpi
