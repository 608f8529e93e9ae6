// The paper's broadcast for messages of middle length.
//
// Cost, p ranks, n bytes: for a power of two, 2 log2 p steps and at most 2 n bytes through a port. Otherwise the
// last pair of groups is uneven: ranks of the full group whose partner does not exist get the other's blocks from
// ranks beside them, which makes it up to 3 ceil(log2 p) steps and 3.2 n bytes (counted for p <= 130). What the
// scatter left with a rank is not sent to it again. Empty blocks are not sent.
#include <algorithm>
#include <utility>

#include "core/algorithms/broadcast/scatter.h"

namespace mutirao::broadcast {

namespace {

class Doubling {
  public:
    explicit Doubling(const Request& request)
        : request_(request),
          rank_(virtual_rank(request.rank, request.root, request.size)),
          blocks_(request.length_bytes, request.size) {
        arrivals_ = scatter(schedule_, request, blocks_);
    }

    Schedule run() && {
        for (int group = 1; group < request_.size; group *= 2) double_groups(group);
        return std::move(schedule_);
    }

  private:
    /// Joins each two neighbouring groups of `group` ranks; the last one may be smaller.
    void double_groups(int group) {
        const int first = rank_ / (2 * group) * (2 * group);
        const int middle = first + group;
        const int end = std::min(middle + group, request_.size);
        if (middle >= end) return;

        const bool low = rank_ < middle;
        const Region low_blocks = blocks_.range(first, middle);
        const Region high_blocks = blocks_.range(middle, end);
        const int partner = low ? rank_ + group : rank_ - group;
        if (partner < end) {
            // The first rank of all holds the higher group's blocks since the scatter.
            if (partner != first) send(partner, low ? low_blocks : high_blocks);
            if (rank_ != first) receive(partner, low ? high_blocks : low_blocks);
        }
        if (low) spread(first, group, end - middle, high_blocks);
    }

    /// Of the `group` ranks from `first`, the first `holders` have these blocks; doubles their
    /// number until all do.
    void spread(int first, int group, int holders, Region blocks) {
        const int index = rank_ - first;
        for (; holders < group; holders *= 2) {
            if (index < holders && index + holders < group) send(rank_ + holders, blocks);
            if (index >= holders && index < 2 * holders) receive(rank_ - holders, blocks);
        }
    }

    void send(int peer, Region blocks) {
        if (blocks.length_bytes > 0) schedule_.send(real(peer), blocks, arrivals_);
    }
    void receive(int peer, Region blocks) {
        if (blocks.length_bytes > 0) arrivals_.push_back(schedule_.receive(real(peer), blocks));
    }
    int real(int rank) const { return real_rank(rank, request_.root, request_.size); }

    const Request& request_;
    int rank_;
    Blocks blocks_;
    Schedule schedule_;
    std::vector<StepId> arrivals_;
};

}  // namespace

static Schedule scatter_recursive_doubling_allgather(const Request& request) {
    return Doubling(request).run();
}

Algorithm scatter_recursive_doubling_allgather() {
    return {.collective = Collective::broadcast,
            .name = "scatter_recursive_doubling_allgather",
            .summary = "binomial scatter, then groups that exchange blocks and double",
            .source = "Thakur, Rabenseifner and Gropp 2005, doi:10.1177/1094342005051521",
            .build = scatter_recursive_doubling_allgather, .level = Level::hosts};
}

}  // namespace mutirao::broadcast
