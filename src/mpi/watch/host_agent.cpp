#include "mpi/watch/host_agent.h"

#include <utility>

#include "agent/sensors/host_sensors.h"
#include "mpi/base/waiting.h"

namespace mutirao::mpi {

bool wants_agents(const Settings& settings) {
    return settings.adaptation.mode != Adaptation::Mode::synchronous &&
           settings.agent != AgentPlace::none && settings.agent != AgentPlace::in_band;
}

HostAgent::HostAgent(agent::Endpoint endpoint, agent::Job job)
    : contact_(job.contacts[static_cast<std::size_t>(job.self)]),
      thread_(std::make_unique<agent::Thread>(std::move(endpoint), std::move(job))),
      segment_(thread_->segment()) {}

HostAgent::~HostAgent() {
    if (thread_) {
        thread_->say_farewell();
    }
}

std::string HostAgent::about() const {
    if (!thread_) {
        return "where another process is the agent (" + segment_ + ")";
    }
    const std::string why_not = thread_->why_not();
    return why_not.empty() ? "a thread of this rank is the agent, TCP port " + std::to_string(contact_.tcp_port) +
                                 ", UDP port " + std::to_string(contact_.udp_port)
                           : "without an agent: " + why_not;
}

// A standing agent may be started anew while jobs run. The new one's view is taken once it is whole.
void HostAgent::look_for_agent() {
    constexpr double between_looks_us = 1e6;
    if (view_ && (thread_ || now_us() < looked_us_ + between_looks_us || !view_->gone())) {
        return;
    }
    looked_us_ = now_us();
    std::optional<agent::ViewReader> found = agent::ViewReader::attach(segment_);
    if (view_ && found) {
        const bool takes_over = !found->gone() && found->job() == view_->job() && found->self() == view_->self() &&
                                found->host_count() == view_->host_count();
        const std::optional<NetworkView> knows = takes_over ? found->read() : std::nullopt;
        if (!knows || knows->unknown_links > 0) {
            return;
        }
    }
    if (found) {
        view_ = std::move(found);
    }
}

std::optional<NetworkView> HostAgent::newer_than(std::uint64_t seen) {
    const std::lock_guard lock(mutex_);
    look_for_agent();
    const std::uint64_t changes = view_ ? view_->changes() : seen;
    if (changes == seen) {
        return std::nullopt;
    }
    std::optional<NetworkView> view = view_->read();
    if (view) {
        view->changes = changes;
    }
    return view;
}

agent::Job make_job(const std::vector<Introduction>& introductions, const World& world,
                    const Settings& settings, std::uint64_t id) {
    agent::Job job;
    job.self = world.my_host();
    job.key = introductions.front().key;
    job.id = id;
    for (int host = 0; host < world.host_count(); ++host) {
        job.contacts.push_back(introductions[static_cast<std::size_t>(world.leader_of(host))].contact);
    }
    job.options.tree_period_ms = settings.agent_interval_ms;
    job.options.other_period_ms = agent::rarer_outside_tree * settings.agent_interval_ms;
    job.options.dead_after_ms = settings.probe_timeout_ms;
    job.options.rule.threshold_percent = settings.change_threshold_percent;
    job.options.series_file = settings.series;
    return job;
}

std::optional<Daemon> find_daemon(const Settings& settings) {
    if (!wants_agents(settings) || settings.agent == AgentPlace::thread) {
        return std::nullopt;
    }
    const auto view = agent::ViewReader::attach(agent::daemon_segment_name());
    if (!view || view->gone() || view->job() == 0) {
        return std::nullopt;
    }
    return Daemon{view->job(), view->self()};
}

std::optional<NetworkView> OneHost::newer_than(std::uint64_t seen) {
    const std::lock_guard lock(mutex_);
    if (!view_) {
        view_.emplace();
        view_->changes = 1;
        view_->host_count = 1;
        view_->latency_us = view_->last_known_us = {0.0};
        view_->host_speeds = {agent::measure_host_speed()};
    }
    return seen == view_->changes ? std::nullopt : view_;
}

}  // namespace mutirao::mpi
