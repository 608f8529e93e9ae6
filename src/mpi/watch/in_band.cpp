#include "mpi/watch/in_band.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "agent/agent.h"
#include "core/text/bytes.h"
#include "mpi/base/waiting.h"

namespace mutirao::mpi {
namespace {

using Kind = LeaderRounds::Kind;

constexpr double infinite = std::numeric_limits<double>::infinity();
// MPI libraries may need several looks until they show a message that has come.
constexpr int looks_in_vain = 4;

}  // namespace

bool wants_in_band(const Settings& settings) {
    return settings.adaptation.mode != Adaptation::Mode::synchronous &&
           settings.agent == AgentPlace::in_band;
}

InBandSource::InBandSource(MPI_Comm twin, int tag, const World& world, const Settings& settings)
    : tree_period_us_(settings.agent_interval_ms * 1000.0), looked_us_(-infinite) {
    if (!world.leads(world.my_rank)) {
        return;
    }
    rounds_.emplace(twin, tag, Leaders{world.my_host(), world.leader_of_host});
    const ChangeRule rule{.threshold_percent = settings.change_threshold_percent};
    for (int host = 0; host < world.host_count(); ++host) {
        links_.push_back({BracketDetector(rule, infinite), agent::rarer_outside_tree * tree_period_us_, 0});
    }
    use_tree();
}

void InBandSource::use_tree() {
    const NetworkView& view = rounds_->rounds().view();
    tree_of_ = view.changes;
    for (Probed& each : links_) {
        each.period_us = agent::rarer_outside_tree * tree_period_us_;
    }
    for (const auto& [low, high] : view.tree) {
        if (low == rounds_->me()) {
            link(high).period_us = tree_period_us_;
        }
    }
}

std::optional<NetworkView> InBandSource::newer_than(std::uint64_t seen) {
    const std::lock_guard lock(mutex_);
    if (!rounds_ || rounds_->rounds().view().changes == seen) {
        return std::nullopt;
    }
    return rounds_->rounds().view();
}

void InBandSource::progress() {
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock) {
        return;
    }
    const double began_us = now_us();
    for (int in_vain = 0; in_vain < looks_in_vain; ++in_vain) {
        while (const auto letter = rounds_->receive()) {
            take(*letter, now_us());
            in_vain = 0;
        }
    }
    looked_us_ = began_us;
    if (tree_of_ != rounds_->rounds().view().changes) {
        use_tree();
    }
    if (began_us >= next_ping_us_) {
        ping_who_is_due(began_us);
    }
}

void InBandSource::ping_who_is_due(double at_us) {
    next_ping_us_ = infinite;
    for (int host = rounds_->me() + 1; host < rounds_->host_count(); ++host) {
        Probed& each = link(host);
        if (each.waiting) {
            continue;
        }
        if (at_us >= each.next_ping_us) {
            each.waiting = true;
            each.sent_us = now_us();
            rounds_->send(host, Kind::ping);
        } else {
            next_ping_us_ = std::min(next_ping_us_, each.next_ping_us);
        }
    }
}

void InBandSource::take(const LeaderRounds::Letter& letter, double arrived_us) {
    if (letter.kind == Kind::ping) {
        ByteWriter unnoticed;
        unnoticed.real(arrived_us - looked_us_);
        rounds_->send(letter.from, Kind::pong, std::move(unnoticed).take());
    } else {
        double unnoticed_us = 0;
        ByteReader(letter.body).real(unnoticed_us);
        take_pong(letter.from, arrived_us, unnoticed_us);
    }
}

void InBandSource::take_pong(int host, double arrived_us, double unnoticed_us) {
    Probed& probed = link(host);
    probed.waiting = false;
    // The first ping connected the two, and lay there until that host had its twin, too.
    if (!std::exchange(probed.connected, true)) {
        probed.next_ping_us = next_ping_us_ = arrived_us;
        return;
    }
    const bool first = !std::isfinite(probed.detector.announced_us());
    const auto latency_us = probed.detector.answered(arrived_us - probed.sent_us,
                                                     unnoticed_us + arrived_us - looked_us_);
    const bool again = first && !probed.detector.was_measured();
    probed.next_ping_us =
        again ? arrived_us : std::max(arrived_us, probed.sent_us + probed.period_us);
    next_ping_us_ = std::min(next_ping_us_, probed.next_ping_us);
    if (latency_us && *latency_us != rounds_->believed_us(host)) {
        rounds_->announce(host, *latency_us);
    }
}

}  // namespace mutirao::mpi
