// The agent of this host: a thread of this process, one in another process of the host, or a daemon
// that was there before the job.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "agent/agent.h"
#include "core/selection/selection.h"
#include "core/settings/settings.h"
#include "mpi/adaptation/network_source.h"
#include "mpi/communicator/host_row.h"

namespace mutirao::mpi {

/// True if the settings ask for agents that measure beside the program.
bool wants_agents(const Settings& settings);

/// How every process of a host finds the agent; the leader's also keeps it running.
class HostAgent final : public NetworkSource {
  public:
    /// Starts the agent's thread in this process.
    HostAgent(agent::Endpoint endpoint, agent::Job job);
    /// An agent that another process of this host runs, or will run.
    explicit HostAgent(std::string segment) : segment_(std::move(segment)) {}

    std::optional<NetworkView> newer_than(std::uint64_t seen) override;

  private:
    std::unique_ptr<agent::Thread> thread_;
    std::string segment_;
    std::mutex mutex_;
    std::optional<agent::ViewReader> view_;  ///< nothing until the agent is there
};

/// What the agents are to work on, from all hosts' rows; equal on all hosts but for `self`.
agent::Job make_job(const std::vector<HostRow>& rows, const Topology& topology,
                    const Settings& settings, std::uint64_t id, int self);

/// A daemon on this host whose tree spans all hosts that it knows of.
struct WarmAgent {
    std::uint64_t id = 0;  ///< of the network as the daemon sees it: equal where daemons agree
    int host = 0;          ///< this host's number
    std::string segment;
    std::vector<double> latency_us;
    EdgeList tree;
};
std::optional<WarmAgent> find_warm_agent(const Settings& settings);

}  // namespace mutirao::mpi
