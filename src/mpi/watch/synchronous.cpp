#include "mpi/watch/synchronous.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/text/bytes.h"
#include "mpi/base/waiting.h"
#include "mpi/watch/lookout.h"

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
constexpr double never_us = std::numeric_limits<double>::infinity();

bool changed(const std::optional<double>& before_us, double after_us, const std::optional<double>& threshold_percent) {
    if (!before_us || !std::isfinite(*before_us) || !std::isfinite(after_us)) {
        return before_us != after_us;
    }
    const double by_us = std::abs(after_us - *before_us);
    const double percent = threshold_percent.value_or(noticeable_percent);
    return by_us > *before_us * percent / 100 && (percent == 0 || by_us > noticeable_us);
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
    : threshold_percent_(settings.change_threshold_percent), timeout_us_(1000.0 * settings.probe_timeout_ms) {
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
    rounds_->hold();
    say(come);
    measure_links();
    say(measured);
    wait_until([this] { return all_said(measured); });
    rounds_->release();
    wait_until([this] { return has_minimal_tree(); });
    say(at_rest);
    wait_until([this] { return all_said(at_rest); });
    if (check_ == 1) {
        search_messages_ = std::accumulate(said_.begin(), said_.end(), 0L, [](long sum, const Said& each) {
            return sum + static_cast<long>(each.steps);
        });
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
    const int first = rounds_->me() + 1, end = rounds_->host_count();
    for (int host = first; host < end; ++host) {
        const bool has_come = said(host).newest[come] >= check_;
        link(host) = {check_ == 1 ? first_round_trips : round_trips, 0, never_us,
                      has_come ? now_us() + timeout_us_ : never_us};
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
    spread({rounds_->me(), mark, check_, rounds_->steps_sent()}, rounds_->me());
}

/// The first time that it is heard. A host tells all others of itself; these pass it on at doubling distances, for those
/// whose link to that host carries nothing: a message reaches them though as many links fail as there are distances.
void SynchronousAdaptation::spread(const Told& told, int from) {
    Said& about = said(told.host);
    std::uint32_t& newest = about.newest[told.mark];
    if (told.check <= newest) {
        return;
    }
    newest = told.check;
    about.steps = told.mark == at_rest ? told.steps : about.steps;
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
    return std::all_of(said_.begin(), said_.end(), [&](const Said& each) { return each.newest[mark] >= check_; });
}

bool SynchronousAdaptation::has_minimal_tree() const {
    const Rounds& rounds = rounds_->rounds();
    return !rounds.running() && rounds.version().latency_us == rounds.view().latency_us;
}

}  // namespace mutirao::mpi
