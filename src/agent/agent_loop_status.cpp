// What an agent shows of itself: the network in shared memory whenever it changes, its status once a
// second.
#include <sys/resource.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>

#include "agent/agent_loop.h"
#include "agent/clock.h"
#include "agent/sensors/text_file.h"

namespace mutirao::agent {
namespace {

std::string text_of(double latency_us) {
    if (!std::isfinite(latency_us)) return "nothing gets through";
    char text[32];
    std::snprintf(text, sizeof text, "%.2f ms", latency_us / 1000);
    return text;
}

/// Of the calling thread, which is the agent.
double processor_s() {
    return static_cast<double>(read_clock_ns(CLOCK_THREAD_CPUTIME_ID)) / ns_per_s;
}

/// From /proc/self/statm: "size resident shared ..." in pages.
std::uint64_t resident_bytes() {
    const TextFile file("/proc/self/statm");
    std::string_view text = file.text();
    text.remove_prefix(std::min(text.find(' '), text.size()));
    text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
    std::uint64_t pages = 0;
    std::from_chars(text.data(), text.data() + text.size(), pages);
    return pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

}  // namespace

void AgentLoop::publish() {
    if (rounds_.view().changes + facts_.changes() == published_.changes) return;
    NetworkView view = whole_view();
    segment_.publish(view, rounds_.version());
    note_changes(view);
    links_.use_tree(view, now_ns());
    published_ = std::move(view);
}

void AgentLoop::note_changes(const NetworkView& view) {
    const auto hosts = static_cast<std::size_t>(host_count());
    for (std::size_t low = 0; low < hosts; ++low) {
        for (std::size_t high = low + 1; high < hosts; ++high) {
            const double before_us = published_.latency_us[low * hosts + high];
            const double after_us = view.latency_us[low * hosts + high];
            if (before_us == after_us) continue;
            journal_.event("link " + std::to_string(low) + "-" + std::to_string(high) + ": " +
                           text_of(before_us) + " -> " + text_of(after_us));
        }
    }
    if (view.version == published_.version && view.version_hash == published_.version_hash) return;
    ++counters_[Count::versions];
    const bool same_tree = view.tree == published_.tree;
    journal_.event("version " + std::to_string(view.version) +
                   (same_tree ? ", the same tree" : ", a new tree"));
}

void AgentLoop::publish_status() {
    Status status;
    status.time_s = static_cast<double>(wall_ns()) / ns_per_s;
    status.started_s = began_s_;
    status.processor_s = processor_s();
    status.resident_bytes = resident_bytes();
    status.series_stopped = journal_.series_stopped();
    for (int peer = 0; peer < host_count(); ++peer) status.links.push_back(status_of_link(peer));
    status.events = journal_.events();
    status.sensors = sensors_.status();
    status.counters = counters_;
    segment_.publish(status);
}

LinkStatus AgentLoop::status_of_link(int peer) const {
    LinkStatus link;
    if (peer == job_.self) return link;
    link.channel_up = mesh_.up(peer);
    link.announced_us = view_us(peer);
    link.bandwidth_bytes_per_us = status_of(bandwidth_.forecast(peer));
    link.connect_us = status_of(connect_banks_[static_cast<std::size_t>(peer)].forecast());
    link.recent_us = journal_.recent_us(peer);
    if (const LinkProber* prober = links_.prober(peer)) {
        link.over_tcp = prober->over_channel();
        link.latency_us = status_of(prober->detector().forecast());
    }
    return link;
}

}  // namespace mutirao::agent
