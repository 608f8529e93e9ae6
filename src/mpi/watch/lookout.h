// What a decider sees of the network between the hosts of its communicator.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/network/sites.h"
#include "core/network/topology.h"
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

    /// What needs to run while this process is inside calls; null: nothing.
    virtual Background* background() { return nullptr; }
};

// From what an agent sees of the whole job to the network of one communicator's hosts.

/// hosts[h]: the view's number of the communicator's host h. Nothing if the host that looks, which
/// the view calls `here`, reaches nobody itself.
std::optional<Topology> topology_of(const NetworkView& view, const std::vector<int>& hosts, int here);
/// The same of all hosts.
std::optional<Topology> topology_of(const NetworkView& view, int here);

/// Between all hosts of different sites. Agents measure one pair of sites after another, once there is a tree.
bool knows_bandwidths(const Network& network, const std::vector<int>& site_of);

/// What copies and reductions cost on that host of the view, as far as its agent has measured.
MemoryCosts memory_costs_of(const NetworkView& view, int host);

/// How this rank's MPI library carries messages.
Transport transport_of(const Settings& settings, const SocketLimits& sockets);

/// What the MPI library and the settings make of a network of latencies, so that it can be
/// predicted on: transport, host costs, sites and regions. `before`: what was known of these hosts, if anything was.
void complete_network(Topology& topology, const Settings& settings, const SocketLimits& sockets,
                      std::vector<int> site_of, const Topology* before);

struct Sighting {
    /// Null if this process' host reaches nobody.
    std::shared_ptr<const Topology> topology;
    /// No link between the hosts may yet be measured for the first time.
    bool all_known = false;
    MemoryCosts memory;
};

class Lookout {
  public:
    /// hosts[h]: the source's number of host h, `here` that of this process' host; named_sites[h]: its site, or none.
    Lookout(std::shared_ptr<NetworkSource> source, std::vector<int> hosts, int here, std::vector<int> named_sites,
            const Settings& settings, const SocketLimits& sockets)
        : source_(std::move(source)), hosts_(std::move(hosts)), here_(here), named_sites_(std::move(named_sites)),
          settings_(settings), sockets_(sockets) {}

    /// The newest, if there is something new.
    std::optional<Sighting> look();

    /// Messages go between these of the hosts: such pairs are connected from now on.
    void note_messages(const EdgeList& pairs);

  private:
    std::vector<int> sites_of(const Network& network);

    const std::shared_ptr<NetworkSource> source_;
    const std::vector<int> hosts_;
    const int here_;
    const std::vector<int> named_sites_;
    const Settings settings_;
    const SocketLimits sockets_;
    std::uint64_t seen_ = 0;  ///< of the source's changes
    std::shared_ptr<const Topology> last_;
    std::optional<double> apart_since_us_;  ///< from when on latencies have told of more sites than before
    SharedLines lines_;
    EdgeList connected_;
};

}  // namespace mutirao::mpi
