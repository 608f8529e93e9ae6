#include "router/link_table.h"

#include <algorithm>

namespace mutirao::lab {

namespace {

// As on a router of the wide area: a tenth of a second of traffic, and never less than what one
// segmented send of a host can bring at once.
constexpr Nanoseconds queue_ns = 100'000'000;
constexpr double queue_at_least_bytes = 256 * 1024;

double nanoseconds_on_wire(double bytes, double bandwidth_mbit) {
    return bytes * 8000.0 / bandwidth_mbit;
}

}  // namespace

LinkTable::LinkTable(int host_count, std::uint64_t seed)
    : host_count_(host_count - 1),
      links_(static_cast<std::size_t>(host_count_) * static_cast<std::size_t>(host_count_)),
      random_(seed) {}

std::optional<Nanoseconds> LinkTable::admit(int from, int to, std::size_t bytes,
                                            Nanoseconds sent) {
    if (controls(from) || controls(to)) return sent;
    Link& on = link(from, to);
    ++on.counters.packets;
    on.counters.bytes += bytes;
    if (held_) return sent;
    if (on.settings.loss > 0 && uniform_(random_) < on.settings.loss) {
        ++on.counters.dropped;
        return std::nullopt;
    }
    const auto left_host = queue_on(on, bytes, sent);
    if (!left_host) {
        ++on.counters.dropped;
        return std::nullopt;
    }
    double delay_us = on.settings.latency_us;
    if (on.settings.jitter_us > 0) delay_us += on.settings.jitter_us * uniform_(random_);
    on.last_due = std::max(on.last_due, *left_host + static_cast<Nanoseconds>(delay_us * 1000));
    return on.last_due;
}

std::optional<Nanoseconds> LinkTable::queue_on(Link& on, std::size_t bytes, Nanoseconds sent) {
    const double bandwidth_mbit = on.settings.bandwidth_mbit;
    if (bandwidth_mbit <= 0) return sent;
    const Nanoseconds start = std::max(sent, on.free_at);
    const auto longest = std::max(
        queue_ns, static_cast<Nanoseconds>(nanoseconds_on_wire(queue_at_least_bytes,
                                                               bandwidth_mbit)));
    if (start - sent > longest) return std::nullopt;
    on.free_at = start + static_cast<Nanoseconds>(
                             nanoseconds_on_wire(static_cast<double>(bytes), bandwidth_mbit));
    return on.free_at;
}

void LinkTable::set(int from, int to, const LinkSettings& settings) {
    Link& changed = link(from, to);
    if (changed.settings.bandwidth_mbit != settings.bandwidth_mbit) {
        changed.free_at = std::numeric_limits<Nanoseconds>::min();
    }
    changed.settings = settings;
    changed.last_due = std::numeric_limits<Nanoseconds>::min();
}

void LinkTable::count_drop(int from, int to) {
    if (!controls(from) && !controls(to)) ++link(from, to).counters.dropped;
}

}  // namespace mutirao::lab
