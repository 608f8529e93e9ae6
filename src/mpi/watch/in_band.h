// The network watched by MPI messages between the leaders of hosts, while the program is inside calls
// and without making it wait: for where agents cannot run, as in a simulator or behind a firewall.
// The lower host of each link measures it. What a host finds spreads, and the tree is adapted, by the
// same rounds as between agents (core/spanning_tree/rounds.h). How well a link is known depends on
// how much of their time its ends spend inside calls (BracketDetector); a link that
// carries nothing any more cannot be told from a program that is busy.
#pragma once

#include <mpi.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "agent/news_batches.h"
#include "core/forecast/change_detector.h"
#include "core/settings/settings.h"
#include "core/spanning_tree/rounds.h"
#include "core/text/bytes.h"
#include "mpi/base/post.h"
#include "mpi/base/world.h"
#include "mpi/watch/lookout.h"

namespace mutirao::mpi {

// The rounds in which hosts adapt their spanning tree (core/spanning_tree/rounds.h), over MPI messages between the
// ranks that lead hosts. MPI keeps the order between two ranks, and its channels work from the start.

class LeaderRounds {
  public:
    enum class Kind : std::uint8_t { ping, pong, rounds, mark };
    struct Letter {
        int from = -1;  ///< host
        Kind kind = Kind::ping;
        std::vector<std::byte> body;
    };

    /// For leaders only, the first ranks of their hosts. Nothing is known yet. twin_rank_of: by rank of `placement`;
    /// empty: the same.
    LeaderRounds(MPI_Comm twin, int tag, std::uint64_t owner, const Placement& placement, int my_rank,
                 std::span<const int> twin_rank_of = {});

    int me() const { return me_; }
    int host_count() const { return static_cast<int>(leader_of_host_.size()); }
    const Rounds& rounds() const { return rounds_; }
    /// Of the link to a higher host, one way; nothing: it was never announced.
    std::optional<double> believed_us(int host) const;
    /// Of what is announced meanwhile all hosts make one round, if all hold until they have it.
    void hold() { rounds_.hold(); }
    void release() { carry(rounds_.release()); }
    void announce(int host, double latency_us) { carry(rounds_.announce(host, latency_us)); }

    void send(int host, Kind kind, std::span<const std::byte> body = {});
    /// The oldest that has come, but for those of the rounds, which go on. Nothing has come: then what there is to tell
    /// is told. Does not block.
    std::optional<Letter> receive();

  private:
    void carry(const Rounds::Output& output);

    void tell_news(int host);
    void post(int host, Kind kind, std::span<const std::byte> body);

    const int me_;
    const std::vector<int> leader_of_host_;  ///< ranks of the twin
    Post post_;
    Rounds rounds_;
    agent::NewsBatches news_;  ///< until there is nothing more to be heard, or anything else is sent to that host
};

/// True if the settings ask for it.
bool wants_in_band(const Settings& settings);

class InBandSource final : public NetworkSource, public Background {
  public:
    /// On the ranks that lead a host. Nothing is known yet.
    InBandSource(MPI_Comm twin, int tag, const World& world, const Settings& settings);

    std::optional<NetworkView> newer_than(std::uint64_t seen) override;
    Background* background() override { return this; }
    void progress() override;

  private:
    /// A link of which this host is the lower end.
    struct Probed {
        BracketDetector detector;
        double period_us;
        double next_ping_us;
        double sent_us = 0;
        bool waiting = false;  ///< for a pong
        bool connected = false;
    };

    Probed& link(int host) { return links_[static_cast<std::size_t>(host)]; }
    void use_tree();
    void ping_who_is_due(double at_us);
    void take(const LeaderRounds::Letter& letter, double arrived_us);
    void take_pong(int host, double arrived_us, double unnoticed_us);

    const double tree_period_us_;
    std::mutex mutex_;
    LeaderRounds rounds_;
    std::vector<Probed> links_;  ///< by host; of those up to this one unused
    std::uint64_t tree_of_ = 0;  ///< view().changes whose tree the periods fit
    double next_ping_us_ = 0;    ///< the earliest
    double looked_us_;           ///< when the last complete look began: what came before was seen
};

// The network followed as in paper 000 (Thome and Drummond): inside every K-th call the links are measured and the
// tree is adapted, while the program waits. Kept for comparison: agents and in_band.h do the same beside the program.
//
// The lower host of each link measures it. What hosts tell all others (that they have come, that they have measured
// their links, that they have the tree which is minimal for what all have measured) spreads as the news of links do, and
// after these, so that no link is needed that carries nothing.

class SynchronousAdaptation {
  public:
    SynchronousAdaptation(MPI_Comm twin, int tag, std::uint64_t owner, const Members& members, const Settings& settings);

    /// Collective over the ranks that lead a host: the network as it is now. Nothing on the other ranks. Waits for
    /// late ones however long, as the call does in any case, and for links up to probe_timeout_ms.
    std::optional<Topology> check();

  private:
    /// In the order in which a host passes through them.
    enum Mark : std::uint8_t { come, measured, at_rest };

    struct Told {
        int host = 0;  ///< that it is told of
        Mark mark = come;
        std::uint32_t check = 0;
    };
    template <class Codec>
    friend void fields(Codec& codec, Coded<Codec, Told>& told) {
        codec.number(told.host, 4);
        codec.choice(told.mark, at_rest);
        codec.number(told.check, 4);
    }

    struct Measuring {
        int left = 0;  ///< round trips
        double sent_us = 0;
        double least_us = 0;
        double until_us = 0;  ///< then it carries nothing; infinite until the other host is known to have come
    };
    /// By number of the check: the newest of each mark.
    using Said = std::array<std::uint32_t, at_rest + 1>;

    Measuring& link(int host) { return links_[static_cast<std::size_t>(host)]; }
    Said& said(int host) { return said_[static_cast<std::size_t>(host)]; }
    void measure_links();
    void ping(int host);
    void take(const LeaderRounds::Letter& letter);
    void take_pong(int from, std::uint32_t check);
    void say(Mark mark);
    void spread(const Told& told, int from);
    bool all_said(Mark mark) const;
    bool has_minimal_tree() const;
    template <typename Condition>
    void wait_until(const Condition& condition);

    const std::optional<double> threshold_percent_;
    const double timeout_us_;
    std::optional<LeaderRounds> rounds_;  ///< leaders only
    std::uint32_t check_ = 0;             ///< the number of the newest
    std::vector<Measuring> links_;        ///< by host
    std::vector<Said> said_;              ///< by host
};

}  // namespace mutirao::mpi
