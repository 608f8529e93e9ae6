#include "mpi/watch/synchronous.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/text/bytes.h"
#include "mpi/base/waiting.h"
#include "mpi/watch/topology.h"

namespace mutirao::mpi {
namespace {

using Kind = LeaderRounds::Kind;

// What a single look at a link can tell from its noise. Only a threshold of 0, which asks for every
// difference, gets more.
constexpr double noticeable_percent = 10;
constexpr double noticeable_us = 500;
// The first round trip also waits for the other host to enter the call, and at first for the connection. Over a short
// link the noise of the hosts is most of what one shows, and more of them cost nothing while longer links are measured.
constexpr int first_round_trips = 3, round_trips = 2, times_more_if_short = 4;
constexpr double short_round_trip_us = 20'000;

bool changed(double before_us, double after_us, const std::optional<double>& threshold_percent) {
    if (!std::isfinite(before_us)) {
        return true;
    }
    const double by_us = std::abs(after_us - before_us);
    const double percent = threshold_percent.value_or(noticeable_percent);
    return by_us > before_us * percent / 100 && (percent == 0 || by_us > noticeable_us);
}

Leaders leaders_of(const Members& members) {
    Leaders leaders;
    leaders.my_host = members.placement->host_of(members.my_rank);
    for (int host = 0; host < members.host_count(); ++host) {
        const int leader = members.placement->ranks_of(host).front();
        leaders.rank_of_host.push_back(members.twin_rank_of[static_cast<std::size_t>(leader)]);
    }
    return leaders;
}

}  // namespace

SynchronousAdaptation::SynchronousAdaptation(MPI_Comm twin, int tag, const Members& members, const Settings& settings)
    : threshold_percent_(settings.change_threshold_percent) {
    if (members.placement->position_of(members.my_rank) == 0) {
        rounds_.emplace(twin, tag, leaders_of(members));
        links_.resize(static_cast<std::size_t>(rounds_->host_count()));
        said_.resize(links_.size());
    }
}

std::optional<Topology> SynchronousAdaptation::check() {
    if (!rounds_) {
        return std::nullopt;
    }
    ++check_;
    measure_links();
    tell_all(Kind::measured);
    wait_until([this] { return all_said(&Said::measured) && has_minimal_tree(); });
    tell_all(Kind::at_rest);
    wait_until([this] { return all_said(&Said::at_rest); });
    if (check_ == 1) {
        search_messages_ = std::accumulate(said_.begin(), said_.end(), static_cast<long>(rounds_->steps_sent()),
                                           [](long sum, const Said& each) { return sum + static_cast<long>(each.steps); });
    }
    std::vector<int> hosts(links_.size());
    std::iota(hosts.begin(), hosts.end(), 0);
    return topology_of(rounds_->rounds().view(), hosts, rounds_->me());
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
    for (int host = rounds_->me() + 1; host < rounds_->host_count(); ++host) {
        link(host) = {check_ == 1 ? first_round_trips : round_trips, 0, std::numeric_limits<double>::infinity()};
        ping(host);
    }
    wait_until([this] {
        return std::all_of(links_.begin(), links_.end(), [](const Measuring& each) { return each.left == 0; });
    });
    for (int host = rounds_->me() + 1; host < rounds_->host_count(); ++host) {
        const double now_us = link(host).least_us / 2;
        if (changed(rounds_->believed_us(host), now_us, threshold_percent_)) {
            rounds_->announce(host, now_us);
        }
    }
}

void SynchronousAdaptation::ping(int host) {
    link(host).sent_us = now_us();
    rounds_->send(host, Kind::ping);
}

void SynchronousAdaptation::take(const LeaderRounds::Letter& letter) {
    Said& said = said_[static_cast<std::size_t>(letter.from)];
    ByteReader reader(letter.body);
    if (letter.kind == Kind::ping) {
        rounds_->send(letter.from, Kind::pong);
    } else if (letter.kind == Kind::pong) {
        Measuring& it = link(letter.from);
        const double took_us = now_us() - it.sent_us;
        if (took_us < short_round_trip_us && !std::isfinite(it.least_us)) {
            it.left *= times_more_if_short;
        }
        it.least_us = std::min(it.least_us, took_us);
        if (--it.left > 0) {
            ping(letter.from);
        }
    } else if (letter.kind == Kind::measured) {
        said.measured = static_cast<std::uint32_t>(reader.take(4));
    } else {
        said.at_rest = static_cast<std::uint32_t>(reader.take(4));
        said.steps = reader.take(8);
    }
}

void SynchronousAdaptation::tell_all(Kind kind) {
    ByteWriter body;
    body.put(check_, 4);
    body.put(rounds_->steps_sent(), 8);
    const std::vector<std::byte> bytes = std::move(body).take();
    for (int host = 0; host < rounds_->host_count(); ++host) {
        if (host != rounds_->me()) {
            rounds_->send(host, kind, bytes);
        }
    }
}

/// Who has gone on to the next check said so of this one before.
bool SynchronousAdaptation::all_said(std::uint32_t Said::*what) const {
    for (int host = 0; host < rounds_->host_count(); ++host) {
        if (host != rounds_->me() && said_[static_cast<std::size_t>(host)].*what < check_) {
            return false;
        }
    }
    return true;
}

bool SynchronousAdaptation::has_minimal_tree() const {
    const Rounds& rounds = rounds_->rounds();
    return !rounds.running() && rounds.version().latency_us == rounds.view().latency_us;
}

}  // namespace mutirao::mpi
