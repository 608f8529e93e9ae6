#include "mpi/communicator/universe.h"

#include <numeric>

#include "core/spanning_tree/kruskal.h"

namespace mutirao::mpi {

Topology restrict(const Topology& topology, const std::vector<int>& hosts) {
    const int count = static_cast<int>(hosts.size());
    std::vector<int> all(static_cast<std::size_t>(topology.network.host_count()));
    std::iota(all.begin(), all.end(), 0);
    if (hosts == all) {
        return topology;
    }
    Topology part;
    part.network = Network(count);
    part.network.transport = topology.network.transport;
    for (int i = 0; i < count; ++i) {
        const int from = hosts[static_cast<std::size_t>(i)];
        part.network.set_host(i, topology.network.host(from));
        part.site_of.push_back(topology.site_of[static_cast<std::size_t>(from)]);
        for (int j = 0; j < count; ++j) {
            part.network.set_link(i, j,
                                  topology.network.link(from, hosts[static_cast<std::size_t>(j)]));
        }
    }
    const EdgeList forest = minimum_spanning_tree(part.network);
    if (static_cast<int>(forest.size()) == count - 1) {
        part.spanning_tree = forest;
    }
    return part;
}

}  // namespace mutirao::mpi
