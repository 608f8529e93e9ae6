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
#include "core/settings/settings.h"
#include "mpi/base/world.h"
#include "mpi/watch/lookout.h"

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
    /// The job is over.
    ~HostAgent() override;

    std::optional<NetworkView> newer_than(std::uint64_t seen) override;
    std::string about() const override;

  private:
    void look_for_agent();

    agent::Contact contact_;  ///< of `thread_`
    std::unique_ptr<agent::Thread> thread_;
    std::string segment_;
    std::mutex mutex_;
    std::optional<agent::ViewReader> view_;  ///< nothing until the agent is there
    double looked_us_ = 0;                   ///< for one in its place
};

/// What the agent of this host, led by this rank, is to work on.
agent::Job make_job(const std::vector<Introduction>& introductions, const World& world,
                    const Settings& settings, std::uint64_t id);

/// A standing agent on this host that is at work.
struct Daemon {
    std::uint64_t job = 0;  ///< equal on the agents of one group
    int host = 0;           ///< this host's number
};
std::optional<Daemon> find_daemon(const Settings& settings);

/// A job on one host has no links to be measured: what is known of its network is how fast the host is.
class OneHost final : public NetworkSource {
  public:
    /// The first time takes some 2 ms: the host is measured then.
    std::optional<NetworkView> newer_than(std::uint64_t seen) override;
    std::string about() const override { return "where there is no network to watch"; }

  private:
    std::mutex mutex_;
    std::optional<NetworkView> view_;
};

}  // namespace mutirao::mpi
