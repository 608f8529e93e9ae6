// Barriers in rounds of signals at growing distances.
#include <algorithm>
#include <bit>
#include <cstddef>
#include <functional>
#include <utility>
#include <vector>

#include "core/algorithms/over_placement.h"
#include "core/algorithms/shape.h"

namespace mutirao {
namespace {

/// A signal may overtake one of an earlier round, so a round comes after all that was heard before it.
class SignalRounds {
  public:
    /// Among participants 0 .. size - 1, of which this rank is `position` and `rank_of` tells the others' ranks:
    /// to those ahead, counted round, at distances that grow by the factor `radix` a round. In the end each
    /// has heard of all.
    void disseminate(int size, int position, int radix, const std::function<int(int)>& rank_of) {
        const long long participants = size;
        for (long long weight = 1; weight < participants; weight *= radix) {
            begin_round();
            const long long end = std::min(participants, radix * weight);
            for (long long distance = weight; distance < end; distance += weight) {
                exchange(rank_of(static_cast<int>((position + distance) % participants)),
                         rank_of(static_cast<int>((position + participants - distance) % participants)));
            }
        }
    }
    void begin_round() { heard_before_ = heard_.size(); }
    /// In the present round.
    void tell(int rank) { schedule_.send(rank, signal, Schedule::After(heard_).first(heard_before_)); }
    void hear(int rank) { heard_.push_back(schedule_.receive(rank, signal)); }
    void exchange(int to, int from) {
        tell(to);
        hear(from);
    }

    Schedule take() && { return std::move(schedule_); }

  private:
    Schedule schedule_;
    std::vector<StepId> heard_;
    std::size_t heard_before_ = 0;  ///< in the rounds before the present one
};

// Distances grow by the factor k a round; with k - 1 messages a round it is the n-way dissemination of Hoefler,
// Mehlan, Mietke and Rehm 2006, "Fast Barrier Synchronization for InfiniBand".
//
// Cost, p ranks, radix k: ceil(log_k p) rounds, up to (k - 1) ceil(log_k p) messages a rank.
Schedule barrier_dissemination(const Request& request) {
    SignalRounds rounds;
    rounds.disseminate(request.size, request.rank, request.parameters.radix, [](int rank) { return rank; });
    return std::move(rounds).take();
}

// In a round each of a host's ranks signals to a host at a distance of its own, and then they tell each other,
// inside the host, whom they heard of. So one round over the network reaches as many hosts as a host has ranks,
// where in one of `dissemination` a rank sends all these signals itself. As allgather/locality_bruck, of blocks
// without bytes.
//
// Cost, H hosts of at least m ranks, radix k: ceil(log_((k-1)m+1) H) rounds over the network of k - 1 messages a
// rank, one round more inside, each of ceil(log_k m) messages one after the other.
Schedule barrier_locality_dissemination(const Request& request) {
    const Placement& placement = given_placement(request);
    const int hosts = placement.host_count();
    const int host = placement.host_of(request.rank);
    const int position = placement.position_of(request.rank);
    const auto here = placement.ranks_of(host);
    const int working = fewest_ranks_of_a_host(placement);
    const auto counterpart = [&](long long its_host) {
        return placement.ranks_of(static_cast<int>(its_host % hosts))[static_cast<std::size_t>(position)];
    };

    SignalRounds rounds;
    const auto tell_each_other = [&] {
        rounds.disseminate(static_cast<int>(here.size()), position, request.parameters.radix,
                           [&](int other) { return here[static_cast<std::size_t>(other)]; });
    };
    tell_each_other();
    const long long by_each = request.parameters.radix - 1;
    for (long long heard_of = 1; heard_of < hosts; heard_of *= working * by_each + 1) {
        rounds.begin_round();
        for (long long i = position * by_each; position < working && i < (position + 1) * by_each; ++i) {
            const long long distance = (i + 1) * heard_of;
            if (distance >= hosts) break;
            rounds.exchange(counterpart(host + hosts - distance), counterpart(host + distance));
        }
        tell_each_other();
    }
    return std::move(rounds).take();
}

// The paper's butterfly. Where p is no power of two, each rank too many reports to one of the others before and
// hears from it after.
//
// Cost, p ranks: log2 p rounds for a power of two, otherwise floor(log2 p) + 2; a message a rank and round. Both
// partners of a pair use the same link, where dissemination uses two.
Schedule barrier_recursive_exchange(const Request& request) {
    const int rank = request.rank;
    const int paired = static_cast<int>(std::bit_floor(static_cast<unsigned>(request.size)));
    const bool has_extra = rank + paired < request.size;
    SignalRounds rounds;
    if (rank >= paired) rounds.exchange(rank - paired, rank - paired);
    if (has_extra) rounds.hear(rank + paired);
    for (int distance = 1; rank < paired && distance < paired; distance *= 2) {
        rounds.begin_round();
        rounds.exchange(rank ^ distance, rank ^ distance);
    }
    rounds.begin_round();
    if (has_extra) rounds.tell(rank + paired);
    return std::move(rounds).take();
}

}  // namespace

std::vector<Algorithm> barrier_signal_rounds_rows() {
    using enum Collective;
    return {
        {.collective = barrier, .name = "dissemination", .summary = "signals ahead at growing distances",
         .source = "Hensgen, Finkel and Manber 1988, doi:10.1007/BF01379320",
         .build = barrier_dissemination, .radices = {2, 4, 8}},
        {.collective = barrier, .name = "locality_dissemination",
         .summary = "dissemination between hosts, whose ranks share the work",
         .source = "after Bienz, Gautam and Kharel 2022, arXiv:2206.03564",
         .build = barrier_locality_dissemination, .radices = {2, 5}},
        {.collective = barrier, .name = "recursive_exchange",
         .summary = "pairs signal to each other at doubling distances",
         .source = "Brooks 1986, doi:10.1007/BF01407877",
         .build = barrier_recursive_exchange},
    };
}

}  // namespace mutirao
