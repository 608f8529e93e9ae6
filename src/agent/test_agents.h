// Several agents in this process, on the loopback interface.
#pragma once

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "agent/agent.h"
#include "agent/counters.h"

namespace mutirao::agent::test {

/// Looks again and again: how long something takes is not what these tests are about.
inline bool within_a_minute(const std::function<bool()>& condition) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    while (!condition()) {
        if (std::chrono::steady_clock::now() > end) return false;
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return true;
}

/// What an agent says of itself holds these words.
inline bool tells(const Thread& agent, const std::string& words) {
    const auto status = ViewReader::attach(agent.segment())->status();
    return status && status->find(words) != status->npos;
}

/// How often an agent says that it has counted this; nothing before it has said anything.
inline std::optional<std::uint64_t> counted(const Thread& agent, Count count) {
    const auto status = ViewReader::attach(agent.segment())->status();
    if (!status) return std::nullopt;
    const std::string name = '"' + std::string(count_names[static_cast<std::size_t>(count)]) + "\":";
    return std::stoull(status->substr(status->find(name) + name.size()));
}

inline Options fast_options() {
    Options options;
    options.tree_period_ms = 50;
    options.other_period_ms = 100;
    options.dead_after_ms = 1500;
    return options;
}

/// Agents of one job that know nothing yet. `prepare` may change each one's job before it starts.
class Agents {
  public:
    explicit Agents(int count, const std::function<void(Job&)>& prepare = [](Job&) {})
        : threads_(index(count)) {
        key = *random_key();
        id = *random_number();
        std::vector<Endpoint> endpoints;
        for (int host = 0; host < count; ++host) {
            endpoints.push_back(*Endpoint::open());
            contacts.push_back(endpoints.back().contact());
        }
        for (int host = 0; host < count; ++host) {
            Job its = job(host);
            prepare(its);
            start(std::move(endpoints[index(host)]), std::move(its));
        }
    }

    Job job(int host) const { return {host, contacts, key, id, fast_options()}; }
    void start(Endpoint endpoint, Job job) {
        const std::size_t host = index(job.self);
        threads_[host] = std::make_unique<Thread>(std::move(endpoint), std::move(job));
    }
    /// Again on the same port.
    void restart(int host) {
        start(*Endpoint::open(contacts[index(host)].tcp_port), job(host));
    }
    void end(int host) { threads_[index(host)].reset(); }

    Thread& operator[](int host) { return *threads_[index(host)]; }
    ViewReader view(int host) const { return *ViewReader::attach(threads_[index(host)]->segment()); }
    int count() const { return static_cast<int>(threads_.size()); }

    /// In time all that run hold the same version, whose tree joins exactly `hosts`.
    bool agree_on(const std::vector<int>& hosts) const {
        return within_a_minute([&] {
            const NetworkView first = *view(hosts.front()).read();
            return std::ranges::all_of(hosts, [&](int host) {
                const NetworkView its = *view(host).read();
                return its.version_hash == first.version_hash && its.tree == first.tree &&
                       its.tree.size() + 1 == hosts.size();
            });
        });
    }

    Key key;
    std::uint64_t id = 0;
    std::vector<Contact> contacts;

  private:
    static std::size_t index(int host) { return static_cast<std::size_t>(host); }

    std::vector<std::unique_ptr<Thread>> threads_;
};

}  // namespace mutirao::agent::test
