#include "mpi/decide/roles.h"

#include <algorithm>

#include "mpi/base/runtime.h"

namespace mutirao::mpi {

std::string nothing_to_choose(const Members& members, const World& world) {
    if (members.host_count() > 1) return {};
    const Settings& settings = runtime().settings;
    if (!settings.acts_on_one_host(false)) return "one host";
    const bool crowded = world.is_crowded(members.world_host_of.front());
    return settings.acts_on_one_host(crowded) ? "" : "one host, with more ranks than processors";
}

int choose_decider(const Members& members, const World& world) {
    if (runtime().settings.agent != AgentPlace::in_band) {
        return 0;
    }
    const auto leads = [&](int twin_rank) { return world.leads(twin_rank); };
    const auto found =
        std::find_if(members.twin_rank_of.begin(), members.twin_rank_of.end(), leads);
    return found == members.twin_rank_of.end()
               ? 0
               : static_cast<int>(found - members.twin_rank_of.begin());
}

bool reports_times(int rank, int root, int decider, int ranks) {
    constexpr int most_reporters = 32;
    const int stride = (ranks + most_reporters - 1) / most_reporters;
    return rank == root || (rank - decider) % stride == 0;
}

int reporters_among(int ranks, int root, int decider) {
    int count = 0;
    for (int rank = 0; rank < ranks; ++rank) {
        count += reports_times(rank, root, decider, ranks) ? 1 : 0;
    }
    return count;
}

}  // namespace mutirao::mpi
