// How the probes that a host's tree links may cost are shared out between them, so that a host costs
// about 20 kbit/s with the usual periods however the tree looks. Those links come first whose round
// trip is longer than the period: with them it takes longest to see that a reply is overdue.
#pragma once

#include <algorithm>
#include <vector>

#include "core/spanning_tree/rounds.h"

namespace mutirao::agent {

class TreeShares {
  public:
    /// Of a host's tree links, so many can be probed at the full rate.
    static constexpr double links_at_full_rate = 2;

    /// `period_us`: between probes at the full rate. The view must outlive this.
    TreeShares(const NetworkView& view, double period_us)
        : view_(view), period_us_(period_us), hosts_(static_cast<std::size_t>(view.host_count)) {
        for (const auto& [low, high] : view.tree) {
            for (const int host : {low, high}) {
                Host& end = hosts_[static_cast<std::size_t>(host)];
                ++(is_long(low, high) ? end.long_links : end.short_links);
            }
        }
    }

    /// By how much the period of a tree link is longer than usual; infinite: no share is left.
    double stretch(int low, int high) const {
        return std::max({1.0, at(low, is_long(low, high)), at(high, is_long(low, high))});
    }

  private:
    struct Host {
        int long_links = 0;
        int short_links = 0;
    };

    bool is_long(int low, int high) const {
        const std::size_t at = static_cast<std::size_t>(low) * hosts_.size() +
                               static_cast<std::size_t>(high);
        return 2 * view_.latency_us[at] > period_us_;
    }
    double at(int host, bool long_link) const {
        const Host& end = hosts_[static_cast<std::size_t>(host)];
        if (long_link) return end.long_links / links_at_full_rate;
        return end.short_links / std::max(links_at_full_rate - end.long_links, 0.0);
    }

    const NetworkView& view_;
    double period_us_;
    std::vector<Host> hosts_;
};

}  // namespace mutirao::agent
