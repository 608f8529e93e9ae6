#include "mpi/rulings/in_band.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>

#include "agent/options.h"
#include "core/spanning_tree/wire.h"
#include "core/text/bytes.h"
#include "core/text/invariant.h"
#include "mpi/stopwatch.h"

namespace mutirao::mpi {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();
// MPI libraries may need several looks until they show a message that has come.
constexpr int looks_in_vain = 4;

}  // namespace

bool wants_in_band(const Settings& settings) {
    return settings.adaptation.mode != Adaptation::Mode::synchronous &&
           settings.agent == AgentPlace::in_band;
}

InBandSource::InBandSource(MPI_Comm twin, int tag, const World& world, const Settings& settings)
    : leading_(world.leads(world.my_rank)),
      world_(world),
      tree_period_us_(settings.agent_interval_ms * 1000.0),
      post_(twin, tag),
      rounds_(world.my_host(), world.host_count(),
              std::vector<double>(static_cast<std::size_t>(world.host_count()) *
                                      static_cast<std::size_t>(world.host_count()),
                                  infinite),
              {}, 1),
      looked_us_(-infinite) {
    const ChangeRule rule{.threshold_percent = settings.change_threshold_percent};
    for (int host = 0; host < world_.host_count(); ++host) {
        links_.push_back({BracketDetector(rule, infinite),
                          agent::rarer_outside_tree * tree_period_us_, 0});
    }
    if (leading_) {
        join();
    }
}

double InBandSource::believed_us(int host) const {
    const auto hosts = static_cast<std::size_t>(world_.host_count());
    return rounds_.view().latency_us[static_cast<std::size_t>(me()) * hosts +
                                     static_cast<std::size_t>(host)];
}

// MPI's messages are the channels, which work from the start.
void InBandSource::join() {
    for (int host = 0; host < world_.host_count(); ++host) {
        if (host != me()) {
            carry(rounds_.joined(host));
        }
    }
    use_tree();
}

void InBandSource::use_tree() {
    tree_of_ = rounds_.view().changes;
    for (Probed& each : links_) {
        each.period_us = agent::rarer_outside_tree * tree_period_us_;
    }
    for (const auto& [low, high] : rounds_.view().tree) {
        if (low == me()) {
            link(high).period_us = tree_period_us_;
        }
    }
}

std::optional<NetworkView> InBandSource::newer_than(std::uint64_t seen) {
    const std::lock_guard lock(mutex_);
    if (!leading_ || rounds_.view().changes == seen) {
        return std::nullopt;
    }
    return rounds_.view();
}

void InBandSource::progress() {
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock) {
        return;
    }
    const double began_us = now_us();
    for (int in_vain = 0; in_vain < looks_in_vain; ++in_vain) {
        while (const auto letter = post_.receive()) {
            take(*letter, now_us());
            in_vain = 0;
        }
    }
    looked_us_ = began_us;
    if (tree_of_ != rounds_.view().changes) {
        use_tree();
    }
    if (began_us >= next_ping_us_) {
        ping_who_is_due(began_us);
    }
}

void InBandSource::ping_who_is_due(double at_us) {
    next_ping_us_ = infinite;
    for (int host = me() + 1; host < world_.host_count(); ++host) {
        Probed& each = link(host);
        if (each.waiting) {
            continue;
        }
        if (at_us >= each.next_ping_us) {
            each.waiting = true;
            each.sent_us = now_us();
            send(host, Kind::ping, {});
        } else {
            next_ping_us_ = std::min(next_ping_us_, each.next_ping_us);
        }
    }
}

void InBandSource::take(const Post::Received& letter, double arrived_us) {
    const int from = world_.placement->host_of(letter.from);
    ByteReader reader(letter.bytes);
    const auto kind = static_cast<Kind>(reader.take(1));
    if (kind == Kind::ping) {
        ByteWriter unnoticed;
        unnoticed.real(arrived_us - looked_us_);
        send(from, Kind::pong, std::move(unnoticed).take());
        return;
    }
    if (kind == Kind::pong) {
        double unnoticed_us = 0;
        reader.real(unnoticed_us);
        take_pong(from, arrived_us, unnoticed_us);
        return;
    }
    const auto message = rounds::decode(reader.rest());
    if (!message) {
        broken_invariant("a message that says nothing, from host", from,
                         static_cast<long long>(letter.bytes.size()));
    }
    carry(rounds_.on(from, *message));
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
    if (latency_us && *latency_us != believed_us(host)) {
        carry(rounds_.announce(host, *latency_us));
    }
}

void InBandSource::carry(const Rounds::Output& output) {
    for (const rounds::Outgoing& each : output) {
        send(each.to, Kind::news, rounds::encode(each.message));
    }
}

void InBandSource::send(int host, Kind kind, std::span<const std::byte> body) {
    ByteWriter letter;
    letter.put(static_cast<std::uint8_t>(kind), 1);
    letter.put_bytes(body);
    post_.send(world_.leader_of_host[static_cast<std::size_t>(host)],
               std::make_shared<const Post::Bytes>(std::move(letter).take()));
}

}  // namespace mutirao::mpi
