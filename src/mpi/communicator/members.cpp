#include "mpi/communicator/members.h"

#include <algorithm>
#include <numeric>
#include <unordered_map>

namespace mutirao::mpi {

std::optional<Members> members_of(MPI_Comm comm, MPI_Group world_group) {
    Members members;
    int size = 0;
    PMPI_Comm_rank(comm, &members.my_rank);
    PMPI_Comm_size(comm, &size);
    std::vector<int> ranks(static_cast<std::size_t>(size));
    std::iota(ranks.begin(), ranks.end(), 0);
    members.twin_rank_of.resize(ranks.size());
    MPI_Group group = MPI_GROUP_NULL;
    PMPI_Comm_group(comm, &group);
    const int error = PMPI_Group_translate_ranks(group, size, ranks.data(), world_group,
                                                 members.twin_rank_of.data());
    PMPI_Group_free(&group);
    const auto& found = members.twin_rank_of;
    if (error != MPI_SUCCESS || std::find(found.begin(), found.end(), MPI_UNDEFINED) != found.end()) {
        return std::nullopt;
    }
    return members;
}

void Members::place(const World& world) {
    std::unordered_map<int, int> number_of;
    std::vector<int> host_of_rank;
    for (const int twin_rank : twin_rank_of) {
        const int host = world.host_of_rank[static_cast<std::size_t>(twin_rank)];
        const auto [entry, fresh] =
            number_of.try_emplace(host, static_cast<int>(world_host_of.size()));
        if (fresh) {
            world_host_of.push_back(host);
        }
        host_of_rank.push_back(entry->second);
    }
    placement = std::make_shared<const Placement>(std::move(host_of_rank));
}

}  // namespace mutirao::mpi
