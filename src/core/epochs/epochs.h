// When a communicator takes up a changed network: at the same call on every rank, without stopping.
//
// The calls on a communicator are divided into epochs. One rank, the decider, tells all others what
// holds from an epoch's first call on (what changed in the network since the epoch before) and
// where the next epoch begins. It tells epoch e+1 when it enters the first call of epoch e, and no
// rank enters the first call of an epoch before it knows what was told of it. So what a rank uses in
// call n is a function of n and of the decider's words alone, and these are the same for all: no two
// ranks can differ, whatever their clocks, their agents or the order of messages. The price: a rank
// may have to wait at an epoch's first call, for the decider's words or for the decider itself, so
// nobody runs more than two epochs ahead of it. The decider makes epochs as long, in calls, as its
// words need to travel at the pace at which it sees the calls come.
//
// Pure values without clock or messages: src/mpi/adaptation carries the words.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "core/epochs/network_change.h"

namespace mutirao {

/// What the decider says of one epoch.
struct Epoch {
    std::uint32_t number = 0;
    std::uint64_t first_call = 0;
    std::uint64_t next_first_call = 0;  ///< of the epoch after it
    NetworkChange change;               ///< since the epoch before
    /// How these words travel: parent of each host (-1: the decider's). In the words themselves,
    /// since a host that hands them on may know an older network only.
    std::vector<int> parent_of_host;

    bool operator==(const Epoch&) const = default;
};

/// The calls before the first that the decider speaks of belong to epoch 0, which needs no words.
constexpr std::uint64_t first_decided_call = 1;

class EpochDecider {
  public:
    /// True at the few calls at which enter() wants to know the time. Calls are numbered from 0.
    bool due(std::uint64_t call) const { return call >= wake_; }

    /// To be asked at every call that is due. At an epoch's first call: the words of the next one,
    /// but for change and parent_of_host, which the caller fills in. `now_us`: any clock of the
    /// decider's. `travel_us`: how long its words take to the farthest rank.
    std::optional<Epoch> enter(std::uint64_t call, double now_us, double travel_us);

  private:
    double us_per_call(double now_us) const;

    std::uint32_t number_ = 0;
    std::uint64_t wake_ = 0;
    std::uint64_t next_begin_ = 0;  ///< of the next epoch that the decider enters
    std::uint64_t told_until_ = first_decided_call;
    double calls_ = 1;  ///< of the newest epoch
    // Since when the pace is measured: the present epoch's second call, as ranks may wait in the
    // first.
    std::uint64_t paced_call_ = 0;
    double paced_us_ = 0;
};

class EpochFollower {
  public:
    /// Words from the decider, in any order.
    void hear(Epoch epoch);

    /// The fast path of every call: true as long as the present epoch lasts.
    bool within(std::uint64_t call) const { return call < next_begin_; }
    /// At an epoch's first call: what holds from here on, if it is known yet. The present epoch
    /// moves on.
    std::optional<Epoch> advance();

    /// Words are out, or will be as soon as the decider gets there, of epochs up to this one, once
    /// this rank has entered the present epoch.
    std::uint32_t last_told() const { return number_ + 1; }
    bool knows_all_told() const { return told_.contains(last_told()); }

    std::uint32_t number() const { return number_; }
    std::uint64_t calls_per_epoch() const { return next_begin_ - begin_; }

  private:
    std::map<std::uint32_t, Epoch> told_;  ///< of epochs to come: two at most, or the decider is wrong
    std::uint32_t number_ = 0;
    std::uint64_t begin_ = 0;
    std::uint64_t next_begin_ = first_decided_call;
};

/// As bytes, for messages. decode: nothing unless `bytes` is what encode() makes of an epoch of a
/// communicator with so many hosts.
std::vector<std::byte> encode(const Epoch& epoch);
std::optional<Epoch> decode_epoch(std::span<const std::byte> bytes, int host_count);

}  // namespace mutirao
