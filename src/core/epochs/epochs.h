// When a ruling takes effect: at the same call on every rank, without stopping.
//
// The first `free_calls` calls on a communicator need no announcement. From then on no rank enters an
// epoch's first call before it has that epoch's announcement, and announcements are made by one rank,
// the decider, and name their calls: what a rank runs in call n is a function of n and of the
// decider's announcements, so no two ranks can differ, whatever their clocks or the order of
// messages.
//
// Nobody shall wait for an announcement, and none shall be older than it must. So the decider
// announces each epoch `horizon` calls ahead of the call that it is in itself, and the horizon
// follows the ranks: each says, when asked and whenever it is too close, how many calls it was ahead
// of the decider's when the announcement came (its lead: how far it runs ahead by itself, and how
// many calls go by while a message travels). Where every call ends everywhere before the next begins
// that is none: the decider enters a call when the one before is over, and tells it together with what
// lets the others begin, so that what it announces may hold for the call that it enters. An epoch is as
// many calls as go by in Pace::least_epoch_us.
//
// Pure values without clock or messages: src/mpi/decide carries the announcements.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "core/network/network.h"
#include "core/selection/ruling.h"

namespace mutirao {

// What the decider of a communicator announces to all its ranks, small enough for one message.
//
// The calls on a communicator are divided into epochs. An announcement says of one epoch where it
// ends and which rulings are new in it; or it says at once, inside a call that waits for it, how
// that very call is to be run (start=wait, adaptation=every:K).

/// How an announcement reaches the ranks. It travels in the announcement, since whoever hands it on
/// may know less of the network than the decider.
struct Route {
    enum class Kind : std::uint8_t {
        straight,  ///< the decider tells every rank itself
        binomial,  ///< a binomial tree over the ranks, counted from the decider
        hosts      ///< from host to host by `parent_of_host`, then to the ranks beside the leader
    };
    Kind kind = Kind::straight;
    std::vector<int> parent_of_host;  ///< -1: the decider's host; empty for the other kinds

    bool operator==(const Route&) const = default;
};

struct Announcement {
    enum class Kind : std::uint8_t {
        epoch,    ///< calls first_call .. next_first_call - 1 are settled
        at_once  ///< for call first_call, which waits for it, and those after it
    };
    Kind kind = Kind::epoch;
    std::uint32_t number = 0;  ///< of the epoch, from 1
    std::uint64_t first_call = 0;
    std::uint64_t next_first_call = 0;  ///< of the epoch after it
    std::uint64_t sent_in_call = 0;     ///< the decider's, when it announced this
    std::uint64_t horizon_calls = 0;    ///< so far ahead of its own call the decider announces
    bool asks_for_lead = false;         ///< every rank shall say how far it is ahead
    std::vector<Ruling> rulings;        ///< in place of earlier ones for the same calls
    Route route;

    bool operator==(const Announcement&) const = default;
};

/// What a rank tells the decider about the announcement of an epoch.
struct LeadReport {
    std::uint32_t number = 0;
    std::uint64_t lead_calls = 0;  ///< calls between the decider's when it spoke and the next here
    bool waited = false;           ///< the announcement came too late

    bool operator==(const LeadReport&) const = default;
};

/// As bytes, for messages. decode: nothing unless `bytes` is what encode() makes of an announcement
/// to a communicator with so many ranks on so many hosts.
std::vector<std::byte> encode(const Announcement& announcement);
std::optional<Announcement> decode_announcement(std::span<const std::byte> bytes, int rank_count,
                                                int host_count);
/// What ranks tell the decider.
using Report = std::variant<LeadReport, TimeReport>;
std::vector<std::byte> encode(const Report& report);
std::optional<Report> decode_report(std::span<const std::byte> bytes, int rank_count);

/// While nobody knows who is where.
Route route_without_network(int rank_count);

/// The quickest way from the host `here` to every other, but straight to it where that takes at most a
/// tenth of a second longer: whoever hands an announcement on must be inside a call to do so. Straight
/// to all where some cannot be reached at all.
Route quickest_route(const Network& network, int here);

/// How long epochs are. One cannot be cut short, so where calls of very different lengths may follow each
/// other it must not be many calls; and where announcements are cheap it need not be.
struct Pace {
    double least_epoch_us = 50'000;
    std::uint64_t most_calls = 100'000;
};

/// Where nothing is on probe there is little to tell, and telling it costs as much as dozens of short calls.
inline constexpr Pace pace_on_one_host{10'000, 1024}, quiet_pace_on_one_host{100'000, 1024};

class EpochDecider {
  public:
    /// Until the ranks have said how far they are ahead, the horizon is four calls, or as many as are free.
    /// `us_per_call`: so far; 0: not known.
    EpochDecider(std::uint64_t first_call, std::uint64_t free_calls, double us_per_call = 0)
        : announced_until_(first_call + free_calls),
          horizon_calls_(free_calls > 0 && free_calls < 4 ? free_calls : 4), paced_call_(first_call),
          us_per_call_(us_per_call) {}

    void keep(Pace pace) { pace_ = pace; }

    /// True at the calls at which enter() has something to do. Calls are numbered from 0.
    bool due(std::uint64_t call) const { return call + ahead_calls() >= announced_until_; }
    /// At a call that is due, as often as it is: an epoch to announce, but for what it holds and its
    /// route. `now_us`: any clock of the decider's.
    Announcement enter(std::uint64_t call, double now_us);
    void hear(const LeadReport& report);

    std::uint64_t horizon_calls() const { return horizon_calls_; }
    /// So far ahead it announces: where calls are quick at least an epoch, since there a rank that is
    /// late for once would else hold up many.
    std::uint64_t ahead_calls() const {
        return horizon_calls_ > 0 && epoch_calls_ > horizon_calls_ ? epoch_calls_ : horizon_calls_;
    }

  private:
    std::uint64_t epoch_calls(std::uint64_t call, double now_us);
    void adapt_horizon();

    Pace pace_;
    std::uint32_t number_ = 0;
    std::uint64_t announced_until_;
    std::uint64_t horizon_calls_;
    std::uint64_t epoch_calls_ = 1;  ///< of the newest epoch
    // Since when the pace is measured.
    std::uint64_t paced_call_;
    std::optional<double> paced_us_;
    double us_per_call_;
    // What the ranks said since they were asked last.
    std::uint32_t asked_in_ = 0;        ///< the epoch
    std::uint64_t largest_lead_ = 0;
    int without_lead_ = 0;              ///< times in a row that nobody was ahead
    bool heard_ = false;
    std::uint32_t raised_in_ = 0;       ///< the newest epoch announced with a shorter horizon
    std::uint32_t keep_horizon_until_ = 0;  ///< an epoch's number: somebody waited before
    std::uint32_t keep_epochs_ = 8;
};

class EpochFollower {
  public:
    EpochFollower(std::uint64_t first_call, std::uint64_t free_calls)
        : end_(first_call + free_calls) {}

    /// Announcements of epochs, in any order.
    void hear(Announcement announcement);
    /// The fast path of every call: true as long as the present epoch lasts.
    bool within(std::uint64_t call) const { return call < end_; }
    /// At an epoch's first call: what is new in it, if it is known yet. The present epoch moves on.
    std::optional<Announcement> advance();

    /// The next epoch's announcement has come.
    bool knows_next() const { return announced_.contains(number_ + 1); }

    /// Whether the decider should hear of this lead: it asked, or a little more and somebody waits.
    static bool worth_reporting(const Announcement& heard, std::uint64_t lead_calls);

    std::uint64_t end() const { return end_; }
    std::uint64_t calls_per_epoch() const { return calls_; }

  private:
    std::map<std::uint32_t, Announcement> announced_;  ///< of epochs to come
    std::uint32_t number_ = 0;
    std::uint64_t calls_ = 1;
    std::uint64_t end_;
};

}  // namespace mutirao
