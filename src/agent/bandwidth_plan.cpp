#include "agent/bandwidth_plan.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "agent/clock.h"
#include "core/network/network.h"

namespace mutirao::agent {
namespace {

constexpr std::int64_t turn_ns = ns_per_s / 4;
constexpr std::int64_t first_retry_ns = 2 * ns_per_s;
constexpr std::int64_t refused_ns = ns_per_s / 4;
constexpr int most_doublings = 8;
constexpr std::int64_t least_pause_ns = 60 * ns_per_s;
/// A latency that has changed so much makes the bandwidth doubtful.
constexpr double large_factor = 1.5;
constexpr double large_change_us = 2000;

bool changed_a_lot(double before_us, double after_us) {
    const auto [less, more] = std::minmax(before_us, after_us);
    return more > large_factor * less && more - less > large_change_us;
}

struct Turn {
    int low, high;
    std::size_t number;
};

/// Which of the rounds in which each of so many sites meets each other one once: the circle method.
std::size_t round_of(std::size_t a, std::size_t b, std::size_t sites) {
    const std::size_t rounds = sites % 2 == 0 ? sites - 1 : sites;
    if (b == rounds) return 2 * a % rounds;
    return (a + b) % rounds;
}

/// In an order on which all hosts agree. No host is in two pairs of one turn, but measurements may last longer.
std::vector<Turn> pairs_to_measure(const std::vector<int>& site_of, const std::vector<double>& latency_us) {
    std::map<int, std::vector<int>> by_site;
    for (int host = 0; host < static_cast<int>(site_of.size()); ++host)
        by_site[site_of[static_cast<std::size_t>(host)]].push_back(host);
    std::vector<std::vector<int>> hosts;
    for (auto& [site, its] : by_site) hosts.push_back(std::move(its));
    std::vector<Turn> turns;
    for (std::size_t a = 0; a < hosts.size(); ++a) {
        for (std::size_t b = a + 1; b < hosts.size(); ++b) {
            const auto [low, high] = std::minmax(hosts[a].front(), hosts[b].front());
            turns.push_back({low, high, round_of(a, b, hosts.size())});
        }
        if (hosts[a].size() > 1) turns.push_back({hosts[a][0], hosts[a][1], hosts.size()});
    }
    std::erase_if(turns, [&](const Turn& turn) {
        const auto at = static_cast<std::size_t>(turn.low) * site_of.size() + static_cast<std::size_t>(turn.high);
        return !std::isfinite(latency_us[at]);
    });
    return turns;
}

}  // namespace

std::vector<int> sites_of(const std::vector<double>& latency_us, int host_count) {
    return discover_sites(Network(host_count, latency_us));
}

void BandwidthPlan::follow(const Version& version, std::int64_t now_ns) {
    if (period_ns_ == 0 || version.tree.empty()) return;
    std::vector<Pair> pairs;
    for (const auto [low, high, turn] :
         pairs_to_measure(sites_of(version.latency_us, version.host_count), version.latency_us)) {
        if (low != self_) continue;
        const auto at = static_cast<std::size_t>(low * version.host_count + high);
        Pair pair{high, version.latency_us[at],
                  now_ns + static_cast<std::int64_t>(turn + 1) * turn_ns};
        const auto known = std::ranges::find(pairs_, high, &Pair::peer);
        if (known != pairs_.end()) {
            const bool doubtful = changed_a_lot(known->latency_us, pair.latency_us);
            const std::int64_t soon_ns = std::max(pair.next_ns, known->rests_until_ns);
            pair = {high, doubtful ? pair.latency_us : known->latency_us,
                    doubtful ? std::min(soon_ns, known->next_ns) : known->next_ns,
                    known->failures, known->rests_until_ns};
        }
        pairs.push_back(pair);
    }
    pairs_ = std::move(pairs);
}

std::optional<int> BandwidthPlan::due(std::int64_t now_ns) const {
    const auto next = std::ranges::min_element(pairs_, {}, &Pair::next_ns);
    if (next == pairs_.end() || now_ns < next->next_ns) return std::nullopt;
    return next->peer;
}

void BandwidthPlan::again(int peer, std::int64_t when_ns) {
    const auto pair = std::ranges::find(pairs_, peer, &Pair::peer);
    if (pair != pairs_.end()) pair->next_ns = when_ns;
}

void BandwidthPlan::asked(int peer, std::int64_t now_ns) {
    again(peer, now_ns + period_ns_);
    const auto pair = std::ranges::find(pairs_, peer, &Pair::peer);
    if (pair != pairs_.end()) pair->rests_until_ns = now_ns + least_pause_ns;
}

void BandwidthPlan::measured(int peer, std::int64_t now_ns) {
    again(peer, now_ns + period_ns_);
    const auto pair = std::ranges::find(pairs_, peer, &Pair::peer);
    if (pair != pairs_.end()) pair->failures = 0;
}

void BandwidthPlan::refused(int peer, std::int64_t now_ns) { again(peer, now_ns + refused_ns); }

void BandwidthPlan::failed(int peer, std::int64_t now_ns) {
    const auto pair = std::ranges::find(pairs_, peer, &Pair::peer);
    if (pair == pairs_.end()) return;
    const std::int64_t retry_ns = first_retry_ns << std::min(pair->failures++, most_doublings);
    pair->next_ns = now_ns + std::min(retry_ns, period_ns_);
}

std::int64_t BandwidthPlan::next_ns() const {
    const auto next = std::ranges::min_element(pairs_, {}, &Pair::next_ns);
    return next == pairs_.end() ? never_ns : next->next_ns;
}

}  // namespace mutirao::agent
