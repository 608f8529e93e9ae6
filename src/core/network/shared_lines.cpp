#include "core/network/shared_lines.h"

#include <algorithm>
#include <cmath>

namespace mutirao {
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
