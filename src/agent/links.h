// The links between this host and all others: probes those of which it is the lower end, answers and
// watches the others, and says what all hosts should hold them to be.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "agent/agent.h"
#include "agent/journal.h"
#include "agent/link_prober.h"
#include "agent/mesh.h"
#include "core/spanning_tree/rounds.h"

namespace mutirao::agent {

/// The latency of a link over which nothing comes.
inline constexpr double no_link_us = std::numeric_limits<double>::infinity();

/// How the probes that a host's tree links may cost are shared out between them, so that a host costs
/// about 20 kbit/s with the usual periods however the tree looks. Those links come first whose round
/// trip is longer than the period: with them it takes longest to see that a reply is overdue.
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
        return 2 * view_.latency_us[view_.index(low, high)] > period_us_;
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

class Links {
  public:
    Links(int self, const Options& options, Mesh& mesh, Counters& counters, Journal& journal);

    void joined(int peer, const std::optional<Greeting>& greeting, std::int64_t now_ns);
    void lost(int peer);
    /// Links of the tree are probed more often than others.
    void use_tree(const NetworkView& view, std::int64_t now_ns);
    void on_datagram(const Datagram& datagram);
    void on_frame(const Frame& frame);
    /// This agent did not run for a while: silence meanwhile was its own.
    void excuse(std::int64_t now_ns);
    /// Its thread woke up so late.
    void overslept(std::int64_t late_ns) { stolen_.overslept(late_ns); }
    /// Now and then, so that what is found to be stolen later has a beginning.
    void look_for_theft(std::int64_t now_ns);

    void advance(std::int64_t now_ns);
    std::int64_t next_ns() const;

    struct Announcement {
        int peer = -1;
        double latency_us = 0;
    };
    /// What this host has found out of late that differs, perhaps, from what the others hold.
    std::vector<Announcement> take_announcements() { return std::exchange(announcements_, {}); }

    const LinkProber* prober(int peer) const {
        return peer > self_ ? &probers_[index(peer)] : nullptr;
    }

  private:
    /// The lower host's probes, as the higher one sees them.
    struct Watch {
        std::int64_t heard_ns = 0;  ///< 0: never
        bool silent = false;        ///< said so
    };

    static std::size_t index(int peer) { return static_cast<std::size_t>(peer); }
    int host_count() const { return static_cast<int>(probers_.size()); }

    void send_probe(int peer, Way way);
    /// `answer`: sends the bytes of an echo.
    template <class Answer>
    void on(const Frame& frame, Way way, std::int64_t arrived_ns, Answer answer);
    void answered(int peer, Way way, std::span<const std::byte> echo, std::int64_t arrived_ns);
    std::int64_t silence_ns() const { return dead_after_ns_ + 2 * other_period_ns_; }

    int self_;
    std::int64_t tree_period_ns_;
    std::int64_t other_period_ns_;
    std::int64_t dead_after_ns_;
    Mesh& mesh_;
    Counters& counters_;
    Journal& journal_;
    StolenTime stolen_;
    std::vector<LinkProber> probers_;  ///< by host; of those below this one never started
    std::vector<Watch> watches_;       ///< by host; of those below this one
    std::vector<Announcement> announcements_;
};

}  // namespace mutirao::agent
