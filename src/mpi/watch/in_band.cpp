#include "mpi/watch/in_band.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "agent/agent.h"
#include "agent/system.h"
#include "core/spanning_tree/rounds_message.h"
#include "core/text/invariant.h"
#include "mpi/base/waiting.h"

namespace mutirao::mpi {

namespace {

std::vector<int> leaders_of(const Placement& placement, std::span<const int> twin_rank_of) {
    std::vector<int> leaders;
    for (int host = 0; host < placement.host_count(); ++host) {
        const int rank = placement.ranks_of(host).front();
        leaders.push_back(twin_rank_of.empty() ? rank : twin_rank_of[static_cast<std::size_t>(rank)]);
    }
    return leaders;
}

}  // namespace

LeaderRounds::LeaderRounds(MPI_Comm twin, int tag, std::uint64_t owner, const Placement& placement, int my_rank,
                           std::span<const int> twin_rank_of)
    : me_(placement.host_of(my_rank)), leader_of_host_(leaders_of(placement, twin_rank_of)), post_(twin, tag, owner),
      rounds_(me(), host_count(), 1), news_(host_count()) {
    for (int host = 0; host < host_count(); ++host) {
        if (host != me()) {
            carry(rounds_.joined(host));
        }
    }
}

std::optional<double> LeaderRounds::believed_us(int host) const {
    if (rounds_.unknown(host)) {
        return std::nullopt;
    }
    return rounds_.view().latency_us[rounds_.view().index(me(), host)];
}

void LeaderRounds::carry(const Rounds::Output& output) {
    for (const rounds::Outgoing& each : output) {
        if (each.message.kind == rounds::Kind::news) {
            news_.add(each.to, each.message, 0);
        } else {
            send(each.to, Kind::rounds, rounds::encode(each.message));
        }
    }
}

void LeaderRounds::tell_news(int host) {
    for (const rounds::Message& each : news_.take(host)) {
        post(host, Kind::rounds, rounds::encode(each));
    }
}

// News go ahead: who hears of a round must know what its root knew.
void LeaderRounds::send(int host, Kind kind, std::span<const std::byte> body) {
    tell_news(host);
    post(host, kind, body);
}

void LeaderRounds::post(int host, Kind kind, std::span<const std::byte> body) {
    ByteWriter letter;
    letter.put(static_cast<std::uint8_t>(kind), 1);
    letter.put_bytes(body);
    post_.send(leader_of_host_[static_cast<std::size_t>(host)], post_.letter_of(std::move(letter).take()));
}

std::optional<LeaderRounds::Letter> LeaderRounds::receive() {
    while (auto received = post_.receive()) {
        const auto found = std::ranges::find(leader_of_host_, received->from);
        const int from = static_cast<int>(found - leader_of_host_.begin());
        ByteReader reader(received->content());
        const auto kind = static_cast<Kind>(reader.take(1));
        if (kind != Kind::rounds) {
            const auto body = reader.rest();
            return Letter{from, kind, {body.begin(), body.end()}};
        }
        const auto message = rounds::decode(reader.rest());
        if (!message) {
            broken_invariant("a message that says nothing, from host", from,
                             static_cast<long long>(received->content().size()));
        }
        carry(rounds_.on(from, *message));
    }
    if (news_.next_ns() != agent::never_ns) {
        for (int host = 0; host < host_count(); ++host) {
            tell_news(host);
        }
        news_.rest();
    }
    return std::nullopt;
}

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
    : tree_period_us_(settings.agent_interval_ms * 1000.0), rounds_(twin, tag, 0, *world.placement, world.my_rank),
      looked_us_(-infinite) {
    const ChangeRule rule{.threshold_percent = settings.change_threshold_percent};
    for (int host = 0; host < world.host_count(); ++host) {
        links_.push_back({BracketDetector(rule, infinite), agent::rarer_outside_tree * tree_period_us_, 0});
    }
    use_tree();
}

void InBandSource::use_tree() {
    const NetworkView& view = rounds_.rounds().view();
    tree_of_ = view.changes;
    for (Probed& each : links_) {
        each.period_us = agent::rarer_outside_tree * tree_period_us_;
    }
    for (const auto& [low, high] : view.tree) {
        if (low == rounds_.me()) {
            link(high).period_us = tree_period_us_;
        }
    }
}

std::optional<NetworkView> InBandSource::newer_than(std::uint64_t seen) {
    const std::lock_guard lock(mutex_);
    if (rounds_.rounds().view().changes == seen) {
        return std::nullopt;
    }
    return rounds_.rounds().view();
}

void InBandSource::progress() {
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock) {
        return;
    }
    const double began_us = now_us();
    for (int in_vain = 0; in_vain < looks_in_vain; ++in_vain) {
        while (const auto letter = rounds_.receive()) {
            take(*letter, now_us());
            in_vain = 0;
        }
    }
    looked_us_ = began_us;
    if (tree_of_ != rounds_.rounds().view().changes) {
        use_tree();
    }
    if (began_us >= next_ping_us_) {
        ping_who_is_due(began_us);
    }
}

void InBandSource::ping_who_is_due(double at_us) {
    next_ping_us_ = infinite;
    for (int host = rounds_.me() + 1; host < rounds_.host_count(); ++host) {
        Probed& each = link(host);
        if (each.waiting) {
            continue;
        }
        if (at_us >= each.next_ping_us) {
            each.waiting = true;
            each.sent_us = now_us();
            rounds_.send(host, Kind::ping);
        } else {
            next_ping_us_ = std::min(next_ping_us_, each.next_ping_us);
        }
    }
}

void InBandSource::take(const LeaderRounds::Letter& letter, double arrived_us) {
    if (letter.kind == Kind::ping) {
        ByteWriter unnoticed;
        unnoticed.real(arrived_us - looked_us_);
        rounds_.send(letter.from, Kind::pong, std::move(unnoticed).take());
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
    // Calls that follow each other at a constant pace meet probes that are far apart always in the same moment.
    const bool estimated = !probed.detector.was_measured();
    const double period_us = estimated ? tree_period_us_ : probed.period_us;
    probed.next_ping_us = first && estimated ? arrived_us : std::max(arrived_us, probed.sent_us + period_us);
    next_ping_us_ = std::min(next_ping_us_, probed.next_ping_us);
    if (latency_us && *latency_us != rounds_.believed_us(host)) {
        rounds_.announce(host, *latency_us);
    }
}

namespace {

// What a single look at a link can tell from its noise. Only a threshold of 0, which asks for every
// difference, gets more.
constexpr double noticeable_percent = 10;
constexpr double noticeable_us = 500;
// The first round trip also waits for the other host to enter the call, and at first for the connection. Over a short
// link the noise of the hosts is most of what one shows, and more of them cost nothing while longer links are measured.
constexpr int first_round_trips = 3, round_trips = 2, times_more_if_short = 4;
constexpr double short_round_trip_us = 20'000;

bool changed(const std::optional<double>& before_us, double after_us, const std::optional<double>& threshold_percent) {
    if (!before_us || !std::isfinite(*before_us) || !std::isfinite(after_us)) {
        return before_us != after_us;
    }
    const double by_us = std::abs(after_us - *before_us);
    const double percent = threshold_percent.value_or(noticeable_percent);
    return by_us > *before_us * percent / 100 && (percent == 0 || by_us > noticeable_us);
}

}  // namespace

SynchronousAdaptation::SynchronousAdaptation(MPI_Comm twin, int tag, std::uint64_t owner, const Members& members,
                                             const Settings& settings)
    : threshold_percent_(settings.change_threshold_percent), timeout_us_(1000.0 * settings.probe_timeout_ms) {
    if (members.placement->position_of(members.my_rank) == 0) {
        rounds_.emplace(twin, tag, owner, *members.placement, members.my_rank, members.twin_rank_of);
        links_.resize(static_cast<std::size_t>(rounds_->host_count()));
        said_.resize(links_.size());
    }
}

std::optional<Topology> SynchronousAdaptation::check() {
    if (!rounds_) {
        return std::nullopt;
    }
    ++check_;
    rounds_->hold();
    say(come);
    measure_links();
    say(measured);
    wait_until([this] { return all_said(measured); });
    rounds_->release();
    wait_until([this] { return has_minimal_tree(); });
    say(at_rest);
    wait_until([this] { return all_said(at_rest); });
    return topology_of(rounds_->rounds().view(), rounds_->me());
}

template <typename Condition>
void SynchronousAdaptation::wait_until(const Condition& condition) {
    for (Patience patience; !condition();) {
        if (const auto letter = rounds_->receive()) {
            take(*letter);
        } else {
            patience.rest();
        }
    }
}

void SynchronousAdaptation::measure_links() {
    const int first = rounds_->me() + 1, end = rounds_->host_count();
    for (int host = first; host < end; ++host) {
        const bool has_come = said(host)[come] >= check_;
        link(host) = {check_ == 1 ? first_round_trips : round_trips, 0, infinite,
                      has_come ? now_us() + timeout_us_ : infinite};
        ping(host);
    }
    wait_until([this] {
        const double at_us = now_us();
        return std::all_of(links_.begin(), links_.end(),
                           [at_us](const Measuring& each) { return each.left == 0 || each.until_us < at_us; });
    });
    for (int host = first; host < end; ++host) {
        link(host).left = 0;
        const double latency_us = link(host).least_us / 2;
        if (changed(rounds_->believed_us(host), latency_us, threshold_percent_)) {
            rounds_->announce(host, latency_us);
        }
    }
}

void SynchronousAdaptation::ping(int host) {
    ByteWriter body;
    body.number(check_, 4);
    link(host).sent_us = now_us();
    rounds_->send(host, Kind::ping, std::move(body).take());
}

void SynchronousAdaptation::take(const LeaderRounds::Letter& letter) {
    ByteReader reader(letter.body);
    if (letter.kind == Kind::ping) {
        rounds_->send(letter.from, Kind::pong, letter.body);
    } else if (letter.kind == Kind::pong) {
        take_pong(letter.from, static_cast<std::uint32_t>(reader.take(4)));
    } else if (const auto told = from_bytes<Told>(letter.body);
               told && told->host >= 0 && told->host < rounds_->host_count()) {
        spread(*told, letter.from);
    }
}

void SynchronousAdaptation::take_pong(int from, std::uint32_t check) {
    Measuring& it = link(from);
    if (check != check_ || it.left == 0) {
        return;
    }
    const double took_us = now_us() - it.sent_us;
    if (took_us < short_round_trip_us && !std::isfinite(it.least_us)) {
        it.left *= times_more_if_short;
    }
    it.least_us = std::min(it.least_us, took_us);
    if (--it.left > 0) {
        ping(from);
    }
}

void SynchronousAdaptation::say(Mark mark) {
    spread({rounds_->me(), mark, check_}, rounds_->me());
}

/// The first time that it is heard. A host tells all others of itself; these pass it on at doubling distances, for those
/// whose link to that host carries nothing: a message reaches them though as many links fail as there are distances.
void SynchronousAdaptation::spread(const Told& told, int from) {
    std::uint32_t& newest = said(told.host)[told.mark];
    if (told.check <= newest) {
        return;
    }
    newest = told.check;
    if (told.mark == come && told.check == check_) {
        link(told.host).until_us = now_us() + timeout_us_;
    }
    const std::vector<std::byte> bytes = to_bytes(told);
    const bool mine = told.host == rounds_->me();
    for (int skip = 1; skip < rounds_->host_count(); skip = mine ? skip + 1 : 2 * skip) {
        const int host = (rounds_->me() + skip) % rounds_->host_count();
        if (host != from && host != told.host) {
            rounds_->send(host, Kind::mark, bytes);
        }
    }
}

/// Who has gone on to the next check said so of this one before.
bool SynchronousAdaptation::all_said(Mark mark) const {
    return std::all_of(said_.begin(), said_.end(), [&](const Said& each) { return each[mark] >= check_; });
}

bool SynchronousAdaptation::has_minimal_tree() const {
    const Rounds& rounds = rounds_->rounds();
    return !rounds.running() && rounds.version_fits();
}

}  // namespace mutirao::mpi
