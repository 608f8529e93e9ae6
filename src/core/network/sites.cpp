// Single-linkage clustering, found along a minimum spanning tree (Gower and Ross 1969, doi:10.2307/2346439), cut where
// latencies jump the most.
#include "core/network/sites.h"

#include <fnmatch.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

#include "core/network/tree.h"

namespace mutirao {
namespace {

/// Below this, differences in latency are the clock's, not the network's.
constexpr double least_distance_us = 1.0;

/// Latencies that cross a limit by less change nothing.
constexpr double doubt = 1.25;

/// Where groups may end: what lies between them is longer by so much than what lies inside, which is no longer than
/// that.
struct Limits {
    double least_gap;
    double longest_inside_us;
};
/// Hosts further apart than two milliseconds are not on one local network, however far the others are.
constexpr Limits of_sites{4.0, 2000.0};
constexpr Limits of_regions{2.0, std::numeric_limits<double>::infinity()};

/// The merges of single linkage, shortest first. Hosts that no usable link connects are never merged.
std::vector<Weight> merges_of(const Network& network) {
    std::vector<Weight> links = links_of(network);
    for (Weight& link : links) link.value = std::max(link.value, least_distance_us);
    return lightest_forest(network.host_count(), std::move(links));
}

int group_of(const std::vector<int>& groups, int host) { return groups[static_cast<std::size_t>(host)]; }

bool lies_between(const std::vector<int>& groups, const Weight& link) {
    return group_of(groups, link.low) != group_of(groups, link.high);
}

std::size_t count_of(const std::vector<int>& groups) { return std::set(groups.begin(), groups.end()).size(); }

/// Renamed: from 0 in the order of first appearance.
std::vector<int> numbered(const std::vector<int>& groups) {
    std::vector<int> names, result;
    for (const int name : groups) {
        const auto known = std::ranges::find(names, name);
        result.push_back(static_cast<int>(known - names.begin()));
        if (known == names.end()) names.push_back(name);
    }
    return result;
}

/// Puts parts together, the shortest merges first, as long as nothing speaks for a gap.
class Clustering {
  public:
    /// `parts`: what is never divided.
    Clustering(std::vector<int> parts, std::vector<Weight> merges, Limits limits)
        : parts_(std::move(parts)), merges_(std::move(merges)), limits_(limits) {
        std::erase_if(merges_, [&](const Weight& each) { return !lies_between(parts_, each); });
    }

    std::vector<int> groups(const std::vector<int>& before) const {
        if (before.size() == parts_.size()) {
            if (const auto known = merges_inside(before); known && may_stay(*known)) return before;
        }
        return joined(widest_gap());
    }

  private:
    /// Beyond the first so many merges; 1 where no other follows.
    double gap_beyond(std::size_t inside) const {
        const bool between = inside > 0 && inside < merges_.size();
        return between ? merges_[inside].value / merges_[inside - 1].value : 1;
    }
    bool separates(std::size_t inside, double margin) const {
        return gap_beyond(inside) * margin >= limits_.least_gap &&
               merges_[inside - 1].value <= limits_.longest_inside_us * margin;
    }
    /// How many of the merges are inside groups.
    std::size_t widest_gap() const {
        std::size_t widest = merges_.size();
        for (std::size_t inside = 1; inside < merges_.size(); ++inside) {
            if (separates(inside, 1) && gap_beyond(inside) > gap_beyond(widest)) widest = inside;
        }
        return widest;
    }
    /// The same of groups that are known; nothing if the shortest merges do not make them.
    std::optional<std::size_t> merges_inside(const std::vector<int>& groups) const {
        const auto crosses = [&](const Weight& each) { return lies_between(groups, each); };
        const auto first_between = std::ranges::find_if(merges_, crosses);
        const auto inside = static_cast<std::size_t>(first_between - merges_.begin());
        const bool whole = count_of(parts_) - inside == count_of(groups) &&
                           std::all_of(first_between, merges_.end(), crosses);
        return whole ? std::optional(inside) : std::nullopt;
    }
    bool may_stay(std::size_t inside) const {
        return separates(inside, doubt) && gap_beyond(widest_gap()) <= doubt * gap_beyond(inside);
    }

    std::vector<int> joined(std::size_t inside) const {
        std::vector<int> part_in = parts_;  // renamed until what is together has one name
        for (std::size_t i = 0; i < inside; ++i)
            std::ranges::replace(part_in, group_of(part_in, merges_[i].low), group_of(part_in, merges_[i].high));
        return numbered(part_in);
    }

    const std::vector<int> parts_;
    std::vector<Weight> merges_;
    const Limits limits_;
};

}  // namespace

std::vector<int> discover_sites(const Network& network, const std::vector<int>& before) {
    if (network.host_count() == 0) return {};
    std::vector<int> hosts(static_cast<std::size_t>(network.host_count()));
    std::iota(hosts.begin(), hosts.end(), 0);
    return Clustering(std::move(hosts), merges_of(network), of_sites).groups(before);
}

std::vector<std::vector<std::string>> lists_of_hosts(std::string_view sites) {
    std::vector<std::vector<std::string>> lists{{""}};
    for (const char each : sites) {
        switch (each) {
            case ';': lists.push_back({""}); break;
            case ',': lists.back().emplace_back(); break;
            default: lists.back().back().push_back(each);
        }
    }
    return lists;
}

std::vector<int> named_sites(const std::vector<std::string>& hosts, std::string_view sites) {
    const auto lists = lists_of_hosts(sites);
    std::vector<int> groups;
    int next_alone = static_cast<int>(lists.size());
    for (const std::string& host : hosts) {
        const auto fits = [&](const std::string& each) { return fnmatch(each.c_str(), host.c_str(), 0) == 0; };
        const auto names_it = [&](const auto& patterns) { return std::ranges::any_of(patterns, fits); };
        const auto list = std::ranges::find_if(lists, names_it);
        groups.push_back(list != lists.end() ? static_cast<int>(list - lists.begin()) : next_alone++);
    }
    return numbered(groups);
}

std::vector<int> discover_regions(const Network& network, const std::vector<int>& site_of,
                                  const std::vector<int>& before) {
    if (site_of.empty()) return {};
    std::vector<int> regions = Clustering(site_of, merges_of(network), of_regions).groups(before);
    return count_of(regions) == 1 ? site_of : regions;
}

namespace {

// Clearly more than the load that the program itself makes.
constexpr double far_slower = 2, least_share_of_farthest = 0.1;
/// Agents look at each link every two and a half seconds, and wait for a reply that is overdue.
constexpr double finds_out_within_us = 5e6;

}  // namespace

void SharedLines::suspect(Network& now, const Network& before, const std::vector<int>& site_of, double now_us) {
    const auto latency_us = [&now](const std::pair<int, int>& pair) {
        return now.link(pair.first, pair.second).latency_us;
    };
    const bool over = now_us > until_us_;
    std::erase_if(doubts_, [&](const auto& each) { return over || latency_us(each.first) != each.second.measured_us; });

    double farthest_us = 0;
    for (const double us : before.latency_us()) farthest_us = std::isfinite(us) ? std::max(farthest_us, us) : farthest_us;
    const auto sites_of = [&site_of](int a, int b) {
        return std::pair(std::minmax(site_of[static_cast<std::size_t>(a)], site_of[static_cast<std::size_t>(b)]));
    };
    const auto of_each_pair = [&](const auto& look) {
        for (int high = 0; high < now.host_count(); ++high) {
            for (int low = 0; low < high; ++low) {
                if (const std::pair<int, int> sites = sites_of(low, high); sites.first != sites.second)
                    look(std::pair(low, high), sites);
            }
        }
    };
    std::map<std::pair<int, int>, double> slow_us;  // by sites
    of_each_pair([&](const std::pair<int, int>& pair, const std::pair<int, int>& sites) {
        const double us = latency_us(pair), was_us = before.link(pair.first, pair.second).latency_us;
        if (!std::isfinite(us) || us < far_slower * was_us || us < was_us + least_share_of_farthest * farthest_us)
            return;
        double& least_us = slow_us.try_emplace(sites, us).first->second;
        least_us = std::min(least_us, us);
    });
    if (!slow_us.empty()) {
        until_us_ = now_us + finds_out_within_us;
        of_each_pair([&](const std::pair<int, int>& pair, const std::pair<int, int>& sites) {
            const auto slow = slow_us.find(sites);
            if (slow != slow_us.end() && far_slower * latency_us(pair) <= slow->second)
                doubts_[pair] = {latency_us(pair), slow->second};
        });
    }
    for (const auto& [pair, doubt] : doubts_) {
        for (const auto& [from, to] : {pair, std::pair(pair.second, pair.first)}) {
            Link link = now.link(from, to);
            link.latency_us = doubt.believed_us;
            now.set_link(from, to, link);
        }
    }
}

}  // namespace mutirao
