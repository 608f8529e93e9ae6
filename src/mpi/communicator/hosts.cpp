#include "mpi/communicator/hosts.h"

#include <map>

namespace mutirao::mpi {
namespace {

// Rank 0 of the host's communicator is its lowest rank: the key of the split was the rank.
int leader_rank(MPI_Comm comm, MPI_Comm host_comm) {
    MPI_Group group = MPI_GROUP_NULL;
    MPI_Group host_group = MPI_GROUP_NULL;
    PMPI_Comm_group(comm, &group);
    PMPI_Comm_group(host_comm, &host_group);
    const int first = 0;
    int leader = 0;
    PMPI_Group_translate_ranks(host_group, 1, &first, group, &leader);
    PMPI_Group_free(&host_group);
    PMPI_Group_free(&group);
    return leader;
}

int split_by_host(MPI_Comm comm, int ranks_per_host, int my_rank, MPI_Comm& host_comm) {
    return ranks_per_host > 0
               ? PMPI_Comm_split(comm, my_rank / ranks_per_host, my_rank, &host_comm)
               : PMPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, my_rank, MPI_INFO_NULL,
                                      &host_comm);
}

void number_hosts(const std::vector<Introduction>& introductions, Hosts& hosts) {
    std::map<std::int64_t, int> host_of_leader;
    std::vector<int> ranks_on_host;
    for (const Introduction& introduction : introductions) {
        const auto [entry, fresh] =
            host_of_leader.try_emplace(introduction.leader, hosts.count());
        if (fresh) {
            hosts.leader_of_host.push_back(static_cast<int>(introduction.leader));
            ranks_on_host.push_back(0);
        }
        hosts.host_of_rank.push_back(entry->second);
        hosts.local_rank_of_rank.push_back(
            ranks_on_host[static_cast<std::size_t>(entry->second)]++);
    }
}

}  // namespace

int find_hosts(MPI_Comm comm, int ranks_per_host, Introduction mine, Hosts& hosts,
               std::vector<Introduction>& introductions) {
    int size = 0;
    PMPI_Comm_rank(comm, &hosts.my_rank);
    PMPI_Comm_size(comm, &size);
    int error = split_by_host(comm, ranks_per_host, hosts.my_rank, hosts.host_comm);
    if (error != MPI_SUCCESS) {
        return error;
    }
    PMPI_Comm_set_errhandler(hosts.host_comm, MPI_ERRORS_RETURN);

    mine.leader = leader_rank(comm, hosts.host_comm);
    introductions.resize(static_cast<std::size_t>(size));
    error = PMPI_Allgather(&mine, sizeof mine, MPI_BYTE, introductions.data(), sizeof mine,
                           MPI_BYTE, comm);
    if (error == MPI_SUCCESS) {
        number_hosts(introductions, hosts);
    }
    return error;
}

}  // namespace mutirao::mpi
