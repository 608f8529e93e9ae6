// A host holds the blocks of the hosts from its own on, counted round, and in a round each of its ranks gets as
// many again from hosts at a distance of its own; then they exchange what came, inside the host. The paper takes
// hosts of equally many ranks; here the smallest host says how many ranks of each take part. With radix k a rank
// gets from k - 1 hosts in a round, as in Bruck's algorithm; the paper's is 2.
//
// Blocks are kept host by host, which is where they belong if ranks are numbered so, and otherwise in scratch
// memory.
//
// Cost, H hosts of at least m ranks, p ranks, blocks of n bytes: ceil(log_((k-1)m+1) H) rounds of k - 1 messages,
// or twice as many, over the network and m times as many inside; (p - m) n bytes enter each host. Scratch for all
// blocks and a copy of each where ranks are not numbered host by host.
#include <algorithm>
#include <span>
#include <vector>

#include "core/algorithms/dataflow.h"
#include "core/algorithms/equal_blocks.h"
#include "core/algorithms/over_placement.h"

namespace mutirao::allgather {

namespace {

/// All blocks in the order of their ranks' hosts.
class HostByHost {
  public:
    HostByHost(const Placement& placement, const Request& request)
        : in_output_(blocks_of(request)), here_(std::span<const std::size_t>()) {
        for (int host = 0; host < placement.host_count(); ++host) {
            const auto ranks = placement.ranks_of(host);
            ranks_.insert(ranks_.end(), ranks.begin(), ranks.end());
            first_.push_back(static_cast<int>(ranks_.size()));
        }
        std::vector<std::size_t> lengths;
        for (const int rank : ranks_) lengths.push_back(in_output_.block(rank).length_bytes);
        here_ = Blocks(lengths);
        const bool as_numbered = std::is_sorted(ranks_.begin(), ranks_.end());
        buffer_ = as_numbered ? Buffer::output : Buffer::scratch;
    }

    Region in_output(int rank) const { return in_output_.block(rank); }
    Region of_rank_at(int host, int position) const {
        return here_.block(first(host) + position, buffer_);
    }
    /// Of `count` hosts from `host` on, counted round.
    std::vector<Region> of_hosts(int host, int count) const {
        std::vector<Region> regions;
        for (const BlockRun& run : runs_of(host, count, static_cast<int>(first_.size()) - 1)) {
            regions.push_back(here_.range(first(run.first), first(run.first + run.count), buffer_));
        }
        return regions;
    }
    /// To their places in the output, but for the block of `rank`.
    void put_in_place(Dataflow& flow, int rank) const {
        if (buffer_ == Buffer::output) return;
        const int count = static_cast<int>(ranks_.size());
        for (int begin = 0, end = 0; begin < count; begin = end) {
            const int to = at(begin);
            for (end = begin + 1; end < count && at(end) == to + end - begin; ++end) {
                if (at(end) == rank || at(end - 1) == rank) break;
            }
            if (to == rank) continue;
            flow.copy(here_.range(begin, end, buffer_), in_output_.range(to, to + end - begin));
        }
    }

  private:
    int first(int host) const { return first_[static_cast<std::size_t>(host)]; }
    int at(int index) const { return ranks_[static_cast<std::size_t>(index)]; }

    Blocks in_output_;
    Blocks here_;
    Buffer buffer_;
    std::vector<int> ranks_;
    std::vector<int> first_ = {0};
};

class LocalityBruck {
  public:
    explicit LocalityBruck(const Request& request)
        : request_(request),
          placement_(given_placement(request)),
          blocks_(placement_, request),
          host_(placement_.host_of(request.rank)),
          position_(placement_.position_of(request.rank)) {
        for (int host = 0; host < placement_.host_count(); ++host) {
            const int ranks = static_cast<int>(placement_.ranks_of(host).size());
            working_ = host == 0 ? ranks : std::min(working_, ranks);
        }
    }

    Schedule run() && {
        place_own();
        exchange_own();
        const long long hosts = placement_.host_count();
        const int by_each = request_.parameters.radix - 1;
        for (long long held = 1; held < hosts; held *= working_ * by_each + 1) {
            for (int i = 0; i < working_ * by_each; ++i) {
                const long long distance = (i + 1) * held;
                if (distance >= hosts) break;
                fetch(i / by_each, static_cast<int>(distance),
                      static_cast<int>(std::min(held, hosts - distance)));
            }
        }
        blocks_.put_in_place(flow_, request_.rank);
        return std::move(flow_).take();
    }

  private:
    template <typename Visit>
    void for_others_on_host(Visit visit) const {
        for (const int rank : placement_.ranks_of(host_)) {
            if (rank != request_.rank) visit(rank);
        }
    }

    void place_own() {
        const Region place = blocks_.in_output(request_.rank);
        const Region home = blocks_.of_rank_at(host_, position_);
        flow_.copy(own_input(request_), place);
        if (home != place) flow_.copy(own_input(request_), home);
    }

    void exchange_own() {
        for_others_on_host([&](int rank) { flow_.send(rank, own_input(request_)); });
        for_others_on_host([&](int rank) {
            flow_.receive(rank, blocks_.of_rank_at(host_, placement_.position_of(rank)));
        });
    }

    /// The blocks of `count` hosts from `distance` ahead on, by the rank at `position`, which sends as
    /// many to the host that is so far behind.
    void fetch(int position, int distance, int count) {
        const int hosts = placement_.host_count();
        const int ahead = (host_ + distance) % hosts;
        const int behind = (host_ + hosts - distance) % hosts;
        const auto peer_on = [&](int host) {
            return placement_.ranks_of(host)[static_cast<std::size_t>(position)];
        };
        const std::vector<Region> arriving = blocks_.of_hosts(ahead, count);
        if (position != position_) {
            for (const Region& region : arriving) flow_.receive(peer_on(host_), region);
            return;
        }
        for (const Region& region : blocks_.of_hosts(host_, count)) {
            flow_.send(peer_on(behind), region);
        }
        for (const Region& region : arriving) flow_.receive(peer_on(ahead), region);
        for (const Region& region : arriving) {
            for_others_on_host([&](int rank) { flow_.send(rank, region); });
        }
    }

    const Request& request_;
    const Placement& placement_;
    HostByHost blocks_;
    int host_;
    int position_;
    int working_ = 1;  ///< ranks of each host that get blocks from other hosts
    Dataflow flow_;
};

}  // namespace

Schedule locality_bruck(const Request& request) { return LocalityBruck(request).run(); }

Algorithm locality_bruck() {
    return {.collective = Collective::allgather,
            .name = "locality_bruck",
            .summary = "bruck between hosts, whose ranks share the work and exchange what comes",
            .source = "Bienz, Gautam and Kharel 2022, arXiv:2206.03564",
            .build = locality_bruck, .radices = {2, 5}, .blocks = InBlocks::uneven};
}

}  // namespace mutirao::allgather
