#include "core/selection/profile.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "core/network/sites.h"

namespace mutirao {
namespace {

constexpr std::size_t most_latencies = 64;
constexpr double latency_tolerance = 1.25;
/// By so much latencies of one machine room differ from one measurement to the next.
constexpr double clock_us = 20;
/// Of so many links one may have been measured while messages of a program were under way on it.
constexpr std::size_t links_per_delayed_one = 8;
constexpr double half_life_s = 7 * 24 * 3600.0;
constexpr double most_ranks_ratio = 2;
/// Lengths further apart than this say nothing of what is between them.
constexpr double most_length_ratio = 64;

bool latencies_alike(double here_us, double there_us, double little_us) {
    if (here_us == there_us) return true;  // also where nothing gets through
    const auto [low, high] = std::minmax(here_us, there_us);
    return high <= low * latency_tolerance || high - low <= little_us;
}

/// Where hosts are far apart, that of neighbours is little, and a busy processor makes it several times as long.
double little_us(const Fabric& fabric) {
    double longest_us = 0;
    for (const double each_us : fabric.latencies_us) longest_us = std::isfinite(each_us) ? each_us : longest_us;
    return std::max(clock_us, longest_us / 100);
}

std::string hosts_in_sites(const Fabric& fabric) {
    return std::to_string(fabric.hosts) + " hosts in " + std::to_string(fabric.sites) + " sites";
}

std::string or_own_choice(const std::string& transport) {
    return transport.empty() ? "the MPI library's own choice" : transport;
}

double weighted(double one, double its_weight, double other, double others_weight) {
    return (one * its_weight + other * others_weight) / (its_weight + others_weight);
}

double weighted_time(double one_us, double its_weight, double other_us, double others_weight) {
    constexpr double least_us = 1e-3;  // below any clock's resolution
    return std::exp(weighted(std::log(std::max(one_us, least_us)), its_weight,
                             std::log(std::max(other_us, least_us)), others_weight));
}

/// The straight line between two times, `share` of the way from the first to the second.
Interval on_the_line(const Interval& from, const Interval& to, double share) {
    const auto between = [share](double a, double b) { return weighted_time(a, 1 - share, b, share); };
    return {between(from.low, to.low), between(from.median, to.median), between(from.high, to.high)};
}

/// On one host every rank is like any other.
bool serves(const ProfileRow& row, const CallShape& shape, const Ranks& ranks) {
    const CollectiveRow& collective = row_of(shape.collective);
    if (row.collective() != shape.collective || row.ranks.hosts != ranks.hosts) return false;
    if (collective.reduces && row.commutes != shape.op.commutes) return false;
    const bool any = !collective.rooted || row.root == any_root || ranks.hosts == 1;
    if (!any && row.root != shape.root) return false;
    const bool between_hosts = row.candidate.algorithm->level == Level::hosts;
    return allows(*row.candidate.algorithm, shape.op.commutes,
                  between_hosts ? ranks.hosts : ranks.ranks);
}

double ratio_of_ranks(const Ranks& one, const Ranks& other) {
    const auto ratio = [](int a, int b) {
        return static_cast<double>(std::max(a, b)) / std::max(1, std::min(a, b));
    };
    return std::max(ratio(one.ranks, other.ranks), ratio(one.most_on_a_host, other.most_on_a_host));
}

/// Those of the nearest number of ranks that anything is known of.
std::vector<ProfileRow> of_nearest_ranks(std::vector<ProfileRow> rows, const Ranks& ranks) {
    double nearest = most_ranks_ratio;
    for (const ProfileRow& row : rows) nearest = std::min(nearest, ratio_of_ranks(row.ranks, ranks));
    std::erase_if(rows, [&](const ProfileRow& row) {
        return ratio_of_ranks(row.ranks, ranks) > nearest;
    });
    return rows;
}

double median_of_native(const std::vector<ProfileRow>& rows, Origin origin, std::size_t length_bytes) {
    for (const ProfileRow& row : rows) {
        if (row.candidate.native() && row.origin == origin && row.length_bytes == length_bytes)
            return row.time_us.median;
    }
    return 0;
}

/// Tuning times calls from a common start to their last end, learning as the program makes them: what
/// compares is how far from the MPI library's own a candidate is.
std::vector<ProfileRow> on_one_scale(const std::vector<ProfileRow>& rows) {
    std::vector<ProfileRow> result;
    for (ProfileRow row : rows) {
        const bool learned = row.origin == Origin::learned;
        const double mine = median_of_native(rows, row.origin, row.length_bytes);
        const double others =
            median_of_native(rows, learned ? Origin::tuned : Origin::learned, row.length_bytes);
        if (mine == 0 && others > 0) continue;
        if (learned && others > 0) {
            row.time_us.low *= others / mine;
            row.time_us.median *= others / mine;
            row.time_us.high *= others / mine;
        }
        result.push_back(row);
    }
    return result;
}

using ByLength = std::map<std::size_t, ProfileRow>;

bool of_one_class(std::size_t a_bytes, std::size_t b_bytes) {
    return class_of({.length_bytes = a_bytes}) == class_of({.length_bytes = b_bytes});
}

std::optional<Remembered> at_length(const ByLength& known, std::size_t length_bytes) {
    const auto above = known.lower_bound(length_bytes);
    if (above != known.end() && above->first == length_bytes) return Remembered{above->second, false};
    const auto below = above == known.begin() ? known.end() : std::prev(above);
    if (below != known.end() && above != known.end() && below->first > 0 &&
        static_cast<double>(above->first) <= most_length_ratio * static_cast<double>(below->first)) {
        const double from = std::log(static_cast<double>(below->first));
        const double to = std::log(static_cast<double>(above->first));
        const double share = (std::log(static_cast<double>(length_bytes)) - from) / (to - from);
        Remembered read{below->second, true};
        read.row.time_us = on_the_line(below->second.time_us, above->second.time_us, share);
        read.row.windows = std::min(below->second.windows, above->second.windows);
        read.row.measured_s = std::min(below->second.measured_s, above->second.measured_s);
        return read;
    }
    // Calls up to the next power of two are of one class, ruled alike.
    for (const auto& each : {below, above}) {
        if (each != known.end() && of_one_class(each->first, length_bytes))
            return Remembered{each->second, true};
    }
    return std::nullopt;
}

}  // namespace

Fabric describe_fabric(const Network& network, std::string processor, std::string transport) {
    Fabric fabric{std::max(1, network.host_count()), 1, {}, {}, std::move(transport)};
    if (fabric.hosts == 1) {
        fabric.processor = std::move(processor);
        return fabric;
    }
    for (const int site : discover_sites(network)) fabric.sites = std::max(fabric.sites, site + 1);
    std::vector<double> all_us;
    for (int a = 0; a < fabric.hosts; ++a) {
        for (int b = a + 1; b < fabric.hosts; ++b)
            all_us.push_back((network.link(a, b).latency_us + network.link(b, a).latency_us) / 2);
    }
    std::sort(all_us.begin(), all_us.end());
    const std::size_t kept = std::min(all_us.size(), most_latencies);
    for (std::size_t i = 0; i < kept; ++i) {
        fabric.latencies_us.push_back(all_us[kept == 1 ? 0 : i * (all_us.size() - 1) / (kept - 1)]);
    }
    return fabric;
}

std::optional<std::string> difference(const Fabric& here, const Fabric& there) {
    if (here.hosts != there.hosts)
        return hosts_in_sites(here) + ", not " + hosts_in_sites(there);
    if (here.processor != there.processor)
        return "on " + here.processor + ", not on " + there.processor;
    if (here.transport != there.transport)
        return "over " + or_own_choice(here.transport) + ", not over " + or_own_choice(there.transport);
    if (here.latencies_us.size() != there.latencies_us.size()) return "links of another number";
    const double little = std::min(little_us(here), little_us(there));
    std::size_t others = 0;
    for (std::size_t i = 0; i < here.latencies_us.size(); ++i)
        others += latencies_alike(here.latencies_us[i], there.latencies_us[i], little) ? 0 : 1;
    if (others <= here.latencies_us.size() / links_per_delayed_one) return std::nullopt;
    return "links of other latencies: " + std::to_string(others) + " of " +
           std::to_string(here.latencies_us.size());
}

Ranks ranks_of(const Placement& placement) {
    return {placement.rank_count(), placement.host_count(), placement.most_ranks_on_a_host()};
}

ProfileRow learned_row(const CallShape& shape, const Ranks& ranks, const Candidate& candidate,
                       const Interval& time_us, std::size_t windows, double measured_s) {
    return {.ranks = ranks,
            .root = row_of(shape.collective).rooted ? shape.root : any_root,
            .commutes = !row_of(shape.collective).reduces || shape.op.commutes,
            .length_bytes = shape.length_bytes,
            .origin = Origin::learned,
            .candidate = candidate,
            .time_us = time_us,
            .windows = windows,
            .measured_s = measured_s};
}

ProfileRow merged(const ProfileRow& one, const ProfileRow& other) {
    const double newest_s = std::max(one.measured_s, other.measured_s);
    const auto weight_of = [newest_s](const ProfileRow& row) {
        return static_cast<double>(std::max<std::size_t>(row.windows, 1)) *
               std::exp2((row.measured_s - newest_s) / half_life_s);
    };
    const double mine = weight_of(one);
    const double others = weight_of(other);
    const auto mean = [&](double a, double b) { return weighted_time(a, mine, b, others); };
    ProfileRow result = one.measured_s >= other.measured_s ? one : other;
    result.time_us.median = mean(one.time_us.median, other.time_us.median);
    const bool apart = one.time_us.high < other.time_us.low || other.time_us.high < one.time_us.low;
    result.time_us.low = apart ? std::min(one.time_us.low, other.time_us.low)
                               : mean(one.time_us.low, other.time_us.low);
    result.time_us.high = apart ? std::max(one.time_us.high, other.time_us.high)
                                : mean(one.time_us.high, other.time_us.high);
    result.windows = static_cast<std::size_t>(std::llround(mine + others));
    result.measured_s = newest_s;
    return result;
}

ProgramRun native_run(double ran_us, const Account& account, std::optional<double> saved_share) {
    const double native_us = ran_us + std::max(account.net_us(), 0.0);
    if (saved_share) *saved_share *= ran_us / native_us;
    return {.length_s = native_us / 1e6, .saved_share = saved_share};
}

ProgramRun newest(const ProgramRun& before, ProgramRun now) {
    if (!now.saved_share) now.saved_share = before.saved_share;
    return now;
}

std::vector<Remembered> remembered(const std::vector<ProfileRow>& rows, const CallShape& shape,
                                   const Ranks& ranks) {
    std::vector<ProfileRow> serving;
    for (const ProfileRow& row : rows) {
        if (serves(row, shape, ranks)) serving.push_back(row);
    }
    if (std::any_of(serving.begin(), serving.end(),
                    [](const ProfileRow& row) { return row.buffers == Buffers::warm; })) {
        std::erase_if(serving, [](const ProfileRow& row) { return row.buffers == Buffers::cold; });
    }
    std::map<std::string, ByLength> by_candidate;
    for (const ProfileRow& row : on_one_scale(of_nearest_ranks(std::move(serving), ranks))) {
        ByLength& known = by_candidate[to_string(row.candidate)];
        const auto [entry, fresh] = known.try_emplace(row.length_bytes, row);
        if (!fresh) entry->second = merged(entry->second, row);
    }
    std::vector<Remembered> result;
    for (const auto& [name, known] : by_candidate) {
        std::optional<Remembered> each = at_length(known, shape.length_bytes);
        if (!each) continue;
        each->interpolated = each->interpolated || !(each->row.ranks == ranks);
        each->row.ranks = ranks;
        each->row.root = row_of(shape.collective).rooted ? shape.root : any_root;
        each->row.length_bytes = shape.length_bytes;
        result.push_back(std::move(*each));
    }
    std::stable_sort(result.begin(), result.end(), [](const Remembered& a, const Remembered& b) {
        return a.row.time_us.median < b.row.time_us.median;
    });
    return result;
}

const Remembered* preferred(const std::vector<Remembered>& known) {
    constexpr double margin = 0.03;
    const auto native = std::find_if(known.begin(), known.end(), [](const Remembered& each) {
        return each.row.candidate.native();
    });
    if (native == known.end()) return nullptr;
    const Interval& native_us = native->row.time_us;
    bool open = false;
    for (const Remembered& each : known) {
        const Interval& its_us = each.row.time_us;
        if (its_us.median * (1 + margin) >= native_us.median) continue;
        if (its_us.high < native_us.median && its_us.median < native_us.low) return &each;
        open = true;
    }
    return open ? nullptr : &*native;
}

namespace {

/// So many times what it costs the program must have run, and must be won back.
constexpr double least_costs_run = 10, least_costs_won = 2;
/// Where an earlier run won nothing by it. Things may have changed, and that loses no more than a fortieth.
constexpr double least_costs_run_in_vain = 40;
/// Of what it has run: it is made at the next point only, and what is to be won must be found out first.
constexpr double least_to_go = 1.5;
/// Who has run so much longer than before goes on for as long as nobody knows.
constexpr double much_longer = 1.25;

}  // namespace

bool pays(const Investment& investment) {
    const double length_us = investment.before ? investment.before->length_s * 1e6 : 0;
    const bool is_known = much_longer * length_us > investment.ran_us;
    const double to_go_us = is_known ? std::max(length_us - investment.ran_us, 0.0) : investment.ran_us;
    const double wanted_us = least_costs_won * investment.cost_us;
    const std::optional<double> saved = is_known ? investment.before->saved_share : std::nullopt;
    if (saved && *saved * to_go_us >= wanted_us) return true;
    if (is_known && to_go_us < least_to_go * investment.ran_us) return false;
    const double costs = saved ? least_costs_run_in_vain : least_costs_run;
    return investment.ran_us >= costs * investment.cost_us &&
           investment.gain_us * to_go_us >= wanted_us * investment.ran_us;
}

}  // namespace mutirao
