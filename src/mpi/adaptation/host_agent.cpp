#include "mpi/adaptation/host_agent.h"

#include "core/text/hash.h"

namespace mutirao::mpi {

bool wants_agents(const Settings& settings) {
    return settings.adaptation.mode == Adaptation::Mode::automatic &&
           settings.agent != AgentPlace::none && settings.agent != AgentPlace::in_band;
}

HostAgent::HostAgent(agent::Endpoint endpoint, agent::Job job)
    : thread_(std::make_unique<agent::Thread>(std::move(endpoint), std::move(job))),
      segment_(thread_->segment()) {}

std::optional<NetworkView> HostAgent::newer_than(std::uint64_t seen) {
    const std::lock_guard lock(mutex_);
    if (!view_) {
        view_ = agent::ViewReader::attach(segment_);
    }
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

agent::Job make_job(const std::vector<HostRow>& rows, const Topology& topology,
                    const Settings& settings, std::uint64_t id, int self) {
    agent::Job job;
    job.self = self;
    job.key = rows.front().head.key;
    job.id = id;
    for (const HostRow& row : rows) {
        job.contacts.push_back(row.head.contact);
    }
    job.latency_us = topology.network.latency_us();
    job.tree = topology.spanning_tree;
    job.options.tree_period_ms = settings.agent_interval_ms;
    job.options.other_period_ms = agent::rarer_outside_tree * settings.agent_interval_ms;
    job.options.dead_after_ms = settings.probe_timeout_ms;
    job.options.rule.threshold_percent = settings.change_threshold_percent;
    job.options.series_file = settings.series;
    return job;
}

std::optional<WarmAgent> find_warm_agent(const Settings& settings) {
    if (!wants_agents(settings) || settings.agent == AgentPlace::thread) {
        return std::nullopt;
    }
    const std::string segment = agent::daemon_segment_name();
    const std::optional<agent::ViewReader> view = agent::ViewReader::attach(segment);
    if (!view || view->gone()) {
        return std::nullopt;
    }
    const std::optional<Version> version = view->complete();
    const int hosts = view->host_count();
    if (!version || static_cast<int>(version->tree.size()) + 1 != hosts) {
        return std::nullopt;
    }
    const std::uint64_t named[] = {view->job(), version->number, version->hash};
    WarmAgent found;
    found.id = fnv1a(std::as_bytes(std::span(named)));
    found.host = view->self();
    found.segment = segment;
    found.latency_us = version->latency_us;
    found.tree = version->tree;
    return found;
}

}  // namespace mutirao::mpi
