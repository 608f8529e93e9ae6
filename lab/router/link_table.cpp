#include "router/link_table.h"

#include <algorithm>

namespace mutirao::lab {

namespace {

// As on a router of the wide area: a tenth of a second of traffic, and never less than what one
// segmented send of a host can bring at once.
constexpr Nanoseconds queue_ns = 100'000'000;
constexpr double queue_at_least_bytes = 256 * 1024;

Nanoseconds time_on_wire(double bytes, double mbit) {
    return mbit <= 0 ? 0 : static_cast<Nanoseconds>(bytes * 8000.0 / mbit);
}

}  // namespace

LinkTable::LinkTable(int host_count)
    : host_count_(host_count - 1),
      links_(static_cast<std::size_t>(host_count_) * static_cast<std::size_t>(host_count_)),
      site_of_host_(static_cast<std::size_t>(host_count_)),
      uplinks_(1) {}

std::optional<Nanoseconds> LinkTable::admit(int from, int to, std::size_t bytes,
                                            Nanoseconds sent) {
    if (controls(from) || controls(to)) return sent + control_delay(from, to);
    Link& on = link(from, to);
    ++on.counters.packets;
    on.counters.bytes += bytes;
    if (on.settings.loss > 0 && uniform_(random_) < on.settings.loss) {
        ++on.counters.dropped;
        return std::nullopt;
    }
    const auto left_site = leave(on, uplink_of(from, to), bytes, sent);
    if (!left_site) {
        ++on.counters.dropped;
        return std::nullopt;
    }
    double delay_us = on.settings.latency_us;
    if (on.settings.jitter_us > 0) delay_us += on.settings.jitter_us * uniform_(random_);
    on.last_due = std::max(on.last_due, *left_site + static_cast<Nanoseconds>(delay_us * 1000));
    return on.last_due;
}

// What starts the programs stands beside the first host.
Nanoseconds LinkTable::control_delay(int from, int to) {
    const int start = controls(from) ? 0 : from, end = controls(to) ? 0 : to;
    if (start == end) return 0;
    return static_cast<Nanoseconds>(link(start, end).settings.latency_us * 1000);
}

// A packet may begin to leave a queue before its last bit is there, so several in a row delay it as
// the slowest does: a segmented send is one packet here, but many on a real wire.
std::optional<Nanoseconds> LinkTable::leave(Link& on, Uplink* uplink, std::size_t bytes,
                                            Nanoseconds sent) {
    Nanoseconds last = sent;
    auto first = std::optional<Nanoseconds>(sent);
    if (on.settings.bandwidth_mbit > 0) {
        first = on.queue.begin(on.settings.bandwidth_mbit, bytes, *first);
        last = on.queue.free_at;
    }
    if (first && uplink != nullptr) {
        first = uplink->leaving.begin(uplink->mbit, bytes, *first);
        last = std::max(last, uplink->leaving.free_at);
    }
    return first ? std::optional<Nanoseconds>(last) : std::nullopt;
}

std::optional<Nanoseconds> LinkTable::Queue::begin(double mbit, std::size_t bytes,
                                                   Nanoseconds first) {
    const Nanoseconds start = std::max(first, free_at);
    if (start - first > std::max(queue_ns, time_on_wire(queue_at_least_bytes, mbit))) {
        return std::nullopt;
    }
    free_at = start + time_on_wire(static_cast<double>(bytes), mbit);
    return start;
}

const LinkTable::Uplink* LinkTable::uplink_of(int host, int other) const {
    if (controls(host) || controls(other)) return nullptr;
    const int site = site_of_host_[static_cast<std::size_t>(host)];
    if (site == site_of_host_[static_cast<std::size_t>(other)]) return nullptr;
    const Uplink& uplink = uplinks_[static_cast<std::size_t>(site)];
    return uplink.mbit > 0 ? &uplink : nullptr;
}

bool LinkTable::limits_entry(int from, int to) const {
    return uplink_of(to, from) != nullptr;
}

std::optional<Nanoseconds> LinkTable::enter(int from, int to, std::size_t bytes,
                                            Nanoseconds arrived) {
    Uplink* uplink = uplink_of(to, from);
    if (uplink == nullptr) return arrived;
    const Uplink* before = uplink_of(from, to);
    const auto size = static_cast<double>(bytes);
    const Nanoseconds since_first_bit =
        std::max(time_on_wire(size, link(from, to).settings.bandwidth_mbit),
                 time_on_wire(size, before == nullptr ? 0 : before->mbit));
    if (!uplink->entering.begin(uplink->mbit, bytes, arrived - since_first_bit)) {
        ++link(from, to).counters.dropped;
        return std::nullopt;
    }
    return std::max(arrived, uplink->entering.free_at);
}

void LinkTable::set_sites(std::vector<int> site_of_host) {
    site_of_host_ = std::move(site_of_host);
    const int last = *std::max_element(site_of_host_.begin(), site_of_host_.end());
    uplinks_.assign(static_cast<std::size_t>(last) + 1, {});
}

void LinkTable::set_uplink(int site, double mbit) {
    Uplink& changed = uplinks_[static_cast<std::size_t>(site)];
    if (changed.mbit != mbit) changed = {mbit, {}, {}};
}

void LinkTable::set(int from, int to, const LinkSettings& settings) {
    Link& changed = link(from, to);
    if (changed.settings.bandwidth_mbit != settings.bandwidth_mbit) {
        changed.queue = {};
    }
    changed.settings = settings;
    changed.last_due = long_ago;
}

void LinkTable::count_drop(int from, int to) {
    if (!controls(from) && !controls(to)) ++link(from, to).counters.dropped;
}

}  // namespace mutirao::lab
