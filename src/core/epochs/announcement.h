// What the decider of a communicator announces to all its ranks, small enough for one message.
//
// The calls on a communicator are divided into epochs. An announcement says of one epoch where it
// ends and which rulings are new in it; or it says at once, inside a call that waits for it, how
// that very call is to be run (start=wait, adaptation=every:K); or that it is the last.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "core/network/network.h"
#include "core/selection/ruling.h"

namespace mutirao {

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
        at_once,  ///< for call first_call, which waits for it, and those after it
        last      ///< nothing follows: the communicator is being freed
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
/// Nobody awaits the last reports of a communicator that is freed, and the next `owner` of its tags finds them:
/// decode_report() knows its own.
std::vector<std::byte> encode(const Report& report, std::uint64_t owner);
std::optional<Report> decode_report(std::span<const std::byte> bytes, int rank_count, std::uint64_t owner);

/// While nobody knows who is where.
Route route_without_network(int rank_count);

/// The quickest way from the host `here` to every other, but straight to it where that takes at most a
/// tenth of a second longer: whoever hands an announcement on must be inside a call to do so. Straight
/// to all where some cannot be reached at all.
Route quickest_route(const Network& network, int here);

}  // namespace mutirao
