#include "agent/link_prober.h"

#include <utility>

namespace mutirao::agent {
namespace {

constexpr std::size_t most_waiting = 64;
/// While nothing has been measured yet, nobody knows what is late.
constexpr std::int64_t late_if_unknown_ns = ns_per_s;
constexpr std::int64_t period_if_unknown_ns = ns_per_s / 2;
/// So many late probes in a row over UDP, and the channel is tried as well.
constexpr int late_before_channel = 3;
/// While the channel is used, one probe of so many goes over UDP, too.
constexpr int channel_probes_per_udp = 8;
/// No answer is overdue sooner, however short the link: a busy host takes as long.
constexpr std::int64_t least_overdue_ns = 250 * ns_per_ms;
/// Longer than any wait that is looked at.
constexpr std::int64_t latest_ns = 1000 * ns_per_s;

}  // namespace

LinkProber::LinkProber(const ChangeRule& rule, std::optional<double> announced_us,
                       std::int64_t dead_after_ns, double phase, const StolenTime* stolen)
    : rule_(rule),
      detector_(rule, announced_us),
      dead_after_ns_(dead_after_ns),
      phase_(phase),
      stolen_(stolen) {}

void LinkProber::estimated(double latency_us) {
    if (!detector_.announced()) detector_.estimated(latency_us);
}

void LinkProber::start(std::int64_t first_probe_ns, std::int64_t now_ns) {
    active_ = true;
    heard_ns_ = now_ns;
    next_probe_ns_ = first_probe_ns;
    in_phase_ = false;
    forget_waiting();
}

void LinkProber::stop() {
    active_ = false;
    next_probe_ns_ = never_ns;
    waiting_.clear();
    if (detector_.announced()) detector_.unreachable();
}

void LinkProber::set_period(std::int64_t period_ns, std::int64_t now_ns) {
    if (period_ns == period_ns_) return;
    period_ns_ = period_ns;
    in_phase_ = false;
    if (active_) next_probe_ns_ = std::min(next_probe_ns_, now_ns + pause_ns());
}

/// Until the next probe.
std::int64_t LinkProber::pause_ns() {
    if (!detector_.was_measured()) return std::min(period_ns_, period_if_unknown_ns);
    if (std::exchange(in_phase_, true)) return period_ns_;
    return static_cast<std::int64_t>(phase_ * static_cast<double>(period_ns_));
}

void LinkProber::excuse(std::int64_t now_ns) {
    heard_ns_ = now_ns;
    forget_waiting();
}

void LinkProber::forget_waiting() {
    waiting_.clear();
    hurried_ = false;
    overdue_at_ns_ = never_ns;
    suspected_us_.reset();
}

std::int64_t LinkProber::late_after_ns() const {
    if (!detector_.was_measured()) return late_if_unknown_ns;
    const double late_us = 2 * detector_.late_after_us();
    const bool in_time = late_us * ns_per_us < static_cast<double>(latest_ns);
    return in_time ? static_cast<std::int64_t>(late_us * ns_per_us) : latest_ns;
}

std::int64_t LinkProber::next_ns() const {
    if (!active_) return never_ns;
    std::int64_t next = std::min(next_probe_ns_, overdue_at_ns_);
    const std::int64_t late_ns = late_after_ns();
    for (const Waiting& each : waiting_)
        if (!each.late) next = std::min(next, each.sent_ns + late_ns + each.stolen_ns);
    if (!dead_ && !waiting_.empty())
        next = std::min(next, std::max(heard_ns_, waiting_.front().sent_ns) + dead_after_ns_);
    return next;
}

ProbesDue LinkProber::advance(std::int64_t now_ns) {
    if (!active_) return {};
    note_late(now_ns);
    note_dead(now_ns);
    if (now_ns < next_probe_ns_) return {};
    next_probe_ns_ = now_ns + pause_ns();
    ProbesDue due{true, over_channel_ || late_of(Way::udp) >= late_before_channel};
    if (over_channel_) due.udp = probes_in_channel_ >= channel_probes_per_udp;
    return due;
}

void LinkProber::sent(ProbeId probe, std::int64_t now_ns) {
    probes_in_channel_ = probe.way == Way::udp ? 0 : probes_in_channel_ + 1;
    waiting_.push_back({probe, now_ns});
    if (waiting_.size() > most_waiting) waiting_.pop_front();
}

int LinkProber::late_of(Way way) const {
    return static_cast<int>(std::count_if(
        waiting_.begin(), waiting_.end(),
        [&](const Waiting& each) { return each.late && each.probe.way == way; }));
}

void LinkProber::note_late(std::int64_t now_ns) {
    const std::int64_t late_ns = late_after_ns();
    for (Waiting& each : waiting_) {
        if (each.late || now_ns - each.sent_ns < late_ns) continue;
        if (stolen_ != nullptr) each.stolen_ns = stolen_->since(each.sent_ns);
        if (now_ns - each.sent_ns < late_ns + each.stolen_ns) continue;
        each.late = true;
        ++late_probes_;
    }
    const Way way = over_channel_ ? Way::channel : Way::udp;
    const int late = late_of(way);
    if (late > 0 && !hurried_) {
        hurried_ = true;
        next_probe_ns_ = now_ns;
    }
    overdue_at_ns_ = never_ns;
    if (late < 2) return;
    const auto oldest = std::find_if(waiting_.begin(), waiting_.end(), [&](const Waiting& each) {
        return each.probe.way == way;
    });
    const std::int64_t waited_ns = now_ns - oldest->sent_ns - oldest->stolen_ns;
    if (waited_ns < least_overdue_ns) {
        overdue_at_ns_ = oldest->sent_ns + oldest->stolen_ns + least_overdue_ns;
        return;
    }
    if (detector_.overdue(static_cast<double>(waited_ns) / 2 / ns_per_us)) suspected_us_.reset();
}

void LinkProber::note_dead(std::int64_t now_ns) {
    if (dead_ || waiting_.empty()) return;
    if (now_ns - std::max(heard_ns_, waiting_.front().sent_ns) < dead_after_ns_) return;
    dead_ = true;
    detector_.unreachable();
}

bool LinkProber::would_be_late(std::int64_t now_ns) const {
    const std::int64_t late_ns = late_after_ns();
    return std::ranges::any_of(waiting_, [&](const Waiting& each) {
        return !each.late && now_ns - each.sent_ns >= late_ns + each.stolen_ns;
    });
}

bool LinkProber::would_be_slow(ProbeId probe, std::int64_t arrived_ns) const {
    const auto found = std::ranges::find(waiting_, probe, &Waiting::probe);
    if (found == waiting_.end() || !detector_.announced()) return false;
    const auto round_trip_us = static_cast<double>(arrived_ns - found->sent_ns) / ns_per_us;
    return round_trip_us / 2 - *detector_.announced() > detector_.noise_of(*detector_.announced());
}

std::optional<double> LinkProber::answered(ProbeId probe, std::int64_t held_ns,
                                          std::int64_t arrived_ns) {
    const auto found = std::ranges::find(waiting_, probe, &Waiting::probe);
    if (found == waiting_.end()) return std::nullopt;
    const std::int64_t sent_ns = found->sent_ns;
    if (probe.way == Way::channel && !over_channel_) {
        const auto overtaken = std::count_if(waiting_.begin(), found, [](const Waiting& each) {
            return each.probe.way == Way::udp;
        });
        waiting_.erase(found);
        if (overtaken >= late_before_channel) turn_to_channel(arrived_ns);
        return std::nullopt;
    }
    if (probe.way == Way::udp) over_channel_ = false;
    std::erase_if(waiting_, [&](const Waiting& each) { return each.sent_ns <= sent_ns; });
    heard_ns_ = arrived_ns;
    dead_ = false;
    hurried_ = false;
    const std::int64_t round_trip_ns = std::max<std::int64_t>(arrived_ns - sent_ns - held_ns, 0);
    double round_trip_us = static_cast<double>(round_trip_ns) / ns_per_us;
    const std::int64_t stolen_ns = stolen_ == nullptr ? 0 : stolen_->since(sent_ns);
    if (stolen_ns > 0 && detector_.announced())
        round_trip_us =
            StolenTime::credible(round_trip_us, static_cast<double>(stolen_ns) / ns_per_us,
                                 2 * *detector_.announced());
    measured(round_trip_us / 2, sent_ns, arrived_ns);
    return round_trip_us;
}

/// A much too slow answer is believed when a probe that was sent after it came is as slow: those that
/// were under way with it have met the same.
void LinkProber::measured(double latency_us, std::int64_t sent_ns, std::int64_t arrived_ns) {
    if (suspicious(latency_us)) {
        if (!suspected_us_) {
            suspected_us_ = latency_us;
            suspected_at_ns_ = arrived_ns;
            next_probe_ns_ = arrived_ns;
        }
        if (sent_ns < suspected_at_ns_) return;
        detector_.measured(*suspected_us_);
    }
    suspected_us_.reset();
    detector_.measured(latency_us);
    if (detector_.better_unconfirmed()) next_probe_ns_ = std::min(next_probe_ns_, arrived_ns);
}

/// The paper's plain rule wants every measurement, so it gets them all.
bool LinkProber::suspicious(double latency_us) const {
    const auto announced_us = detector_.announced();
    return !rule_.threshold_percent && announced_us &&
           latency_us >= rule_.large_factor * *announced_us &&
           latency_us - *announced_us >= rule_.large_change_us;
}

/// This answer itself is not measured, nor are others under way: they may have waited for a link
/// that was dead. One more probe over UDP tells whether it was only that.
void LinkProber::turn_to_channel(std::int64_t now_ns) {
    over_channel_ = true;
    waiting_.clear();
    probes_in_channel_ = channel_probes_per_udp;
    next_probe_ns_ = now_ns;
}

}  // namespace mutirao::agent
