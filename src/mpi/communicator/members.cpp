#include "mpi/communicator/members.h"

#include <algorithm>
#include <numeric>

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

std::vector<std::string> host_names(const Members& members, const World& world) {
    constexpr std::size_t most_names = 128;  // of each communicator, on every rank
    std::vector<std::string> names;
    for (const int host : members.world_host_of) {
        if (names.size() == most_names) {
            break;
        }
        names.push_back(world.host_names[static_cast<std::size_t>(host)]);
    }
    return names;
}

void Members::place(const World& world) {
    std::vector<int> number_of(static_cast<std::size_t>(world.host_count()), -1);
    const auto number = [&](int twin_rank) -> int& {
        return number_of[static_cast<std::size_t>(world.placement->host_of(twin_rank))];
    };
    for (const int twin_rank : twin_rank_of) {
        number(twin_rank) = 0;
    }
    for (int host = 0; host < world.host_count(); ++host) {
        int& mine = number_of[static_cast<std::size_t>(host)];
        if (mine >= 0) {
            mine = static_cast<int>(world_host_of.size());
            world_host_of.push_back(host);
        }
    }
    std::vector<int> host_of_rank(twin_rank_of.size());
    std::transform(twin_rank_of.begin(), twin_rank_of.end(), host_of_rank.begin(), number);
    auto made = std::make_shared<const Placement>(std::move(host_of_rank));
    // Of communicators of all ranks in their order there may be many.
    placement = *made == *world.placement ? world.placement : std::move(made);
}

}  // namespace mutirao::mpi
