// What the deciders of this process see of the network: for the hosts of each communicator a topology,
// made once for all communicators of the same hosts.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/network/sites.h"
#include "core/network/topology.h"
#include "core/selection/selection.h"
#include "core/settings/settings.h"
#include "core/spanning_tree/rounds.h"
#include "mpi/base/environment.h"
#include "mpi/base/waiting.h"

namespace mutirao::mpi {

// Where a process learns what becomes of the network: from its host's agent (host_agent.h), or by
// messages inside the program's own calls (in_band.h).

class NetworkSource {
  public:
    virtual ~NetworkSource() = default;

    /// What this host knows, if that is more than it knew when NetworkView::changes was `seen`.
    /// Nothing, too, while there is nobody to ask.
    virtual std::optional<NetworkView> newer_than(std::uint64_t seen) = 0;

    /// Who watches the network for this process, said after "on host 1, ".
    virtual std::string about() const { return "where it is watched inside calls"; }

    /// A message came from another host no slower than the path to here allows. Does not block.
    virtual void saw(int /*host*/, double /*bytes_per_us*/) {}

    /// What needs to run while this process is inside calls; null: nothing.
    virtual Background* background() { return nullptr; }
};

// From what an agent sees of the whole job to the network of one communicator's hosts.

/// hosts[h]: the view's number of the communicator's host h. Nothing if the host that looks, which
/// the view calls `here`, reaches nobody itself.
std::optional<Topology> topology_of(const NetworkView& view, const std::vector<int>& hosts, int here);

/// Every link between those hosts has been measured.
bool all_known(const Topology& topology);

/// What copies and reductions cost on that host of the view, as far as its agent has measured.
MemoryCosts memory_costs_of(const NetworkView& view, int host);

/// How this rank's MPI library carries messages.
Transport transport_of(const Settings& settings, const SocketLimits& sockets);

/// What the MPI library and the settings make of a network of latencies, so that it can be
/// predicted on: transport, host costs, sites and regions. `before`: what was known of these hosts, if anything was.
void complete_network(Topology& topology, const Settings& settings, const SocketLimits& sockets,
                      std::vector<int> site_of, const Topology* before);

struct Sighting {
    std::uint64_t number = 0;  ///< larger than that of any before of the same hosts
    /// Null if this process' host reaches nobody.
    std::shared_ptr<const Topology> topology;
    /// No link between the hosts may yet be measured for the first time.
    bool all_known = false;
    MemoryCosts memory;
};

class Lookout {
  public:
    /// here: the source's number of this process' host.
    Lookout(std::shared_ptr<NetworkSource> source, int here, const Settings& settings,
            const SocketLimits& sockets)
        : source_(std::move(source)), here_(here), settings_(settings),
          sockets_(sockets) {}

    NetworkSource& source() const { return *source_; }

    /// The newest, if that is not the one with the number `seen`. hosts[h]: the source's number of host h; named_sites[h]:
    /// its site, always the same for the same hosts.
    std::optional<Sighting> newer_than(std::uint64_t seen, const std::vector<int>& hosts,
                                       const std::vector<int>& named_sites);

    /// Messages go between these of the hosts: such pairs are connected from now on.
    void note_messages(const std::vector<int>& hosts, const EdgeList& pairs);

  private:
    /// As long as somebody holds its topology.
    struct Latest {
        std::uint64_t number = 0;
        std::weak_ptr<const Topology> topology;
        bool all_known = false;
        MemoryCosts memory;
        std::optional<double> apart_since_us{};  ///< from when on latencies have told of more sites than before
        SharedLines lines{};
        EdgeList connected{};
    };

    /// As latencies tell, but hosts of one site are believed to be apart only after a while: load makes links longer, too.
    static std::vector<int> sites_of(const Network& network, const Topology* before, Latest& latest);
    Sighting look(const NetworkView& view, const std::vector<int>& hosts, const std::vector<int>& named_sites);

    const std::shared_ptr<NetworkSource> source_;
    const int here_;
    const Settings settings_;
    const SocketLimits sockets_;
    std::mutex mutex_;
    std::map<std::vector<int>, Latest> latest_;  ///< by hosts
};

}  // namespace mutirao::mpi
