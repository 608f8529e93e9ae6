// The k-th rank of one tree and the k-th of the other exchange their halves. Unlike in Open MPI, the exchange is
// segmented too and starts as soon as a segment is there.
//
// Cost, p ranks, n bytes: depth ceil(log2(p + 1)), then one exchange; about 2 (p - 1) messages per segment of a
// half; a rank sends at most 1.5 n bytes instead of the 2 n of one binary tree. With an even number of ranks one
// rank has no partner, and the root sends it the other half.
#include "core/algorithms/trees.h"

namespace mutirao::broadcast {

namespace {

/// Virtual ranks 1 .. left_count are the left tree, the others the right one.
class Split {
  public:
    explicit Split(const Request& request)
        : request_(request),
          left_count_(request.size / 2),
          right_count_(request.size - 1 - left_count_) {
        const Blocks halves(request.length_bytes, 2);
        left_ = segments_of(halves.block(0), request.parameters.segment_bytes);
        right_ = segments_of(halves.block(1), request.parameters.segment_bytes);
    }

    Schedule at_root() const {
        Schedule schedule;
        for (std::size_t i = 0; i < left_.size(); ++i) {
            if (left_count_ > 0) schedule.send(peer(1), left_[i]);
            if (right_count_ > 0 && i < right_.size()) {
                schedule.send(peer(left_count_ + 1), right_[i]);
            }
        }
        if (left_count_ > right_count_) {
            for (const Region& segment : right_) schedule.send(peer(left_count_), segment);
        }
        return schedule;
    }

    Schedule below_root(int rank) const {
        const bool in_left = rank <= left_count_;
        const int head = in_left ? 1 : left_count_ + 1;
        const int index = rank - head;
        TreePlace place = binary_place(index, in_left ? left_count_ : right_count_);
        place.parent = place.parent < 0 ? request_.root : peer(head + place.parent);
        for (int& child : place.children) child = peer(head + child);

        Schedule schedule;
        const std::vector<StepId> arrivals = pass_down(schedule, place, in_left ? left_ : right_);
        if (in_left && index >= right_count_) {
            for (const Region& segment : right_) schedule.receive(request_.root, segment);
        } else {
            exchange(schedule, peer(in_left ? rank + left_count_ : rank - left_count_),
                     in_left ? left_ : right_, arrivals, in_left ? right_ : left_);
        }
        return schedule;
    }

  private:
    int peer(int rank) const { return real_rank(rank, request_.root, request_.size); }

    static void exchange(Schedule& schedule, int partner, const std::vector<Region>& mine,
                         const std::vector<StepId>& arrivals, const std::vector<Region>& theirs) {
        for (std::size_t i = 0; i < mine.size(); ++i) {
            schedule.send(partner, mine[i], Schedule::After(arrivals).subspan(i, 1));
        }
        for (const Region& segment : theirs) schedule.receive(partner, segment);
    }

    const Request& request_;
    int left_count_;
    int right_count_;
    std::vector<Region> left_;
    std::vector<Region> right_;
};

}  // namespace

static Schedule split_binary(const Request& request) {
    const Split split(request);
    const int rank = virtual_rank(request.rank, request.root, request.size);
    return rank == 0 ? split.at_root() : split.below_root(rank);
}

Algorithm split_binary() {
    return {.collective = Collective::broadcast,
            .name = "split_binary",
            .summary = "a half down each of two binary trees, then exchanged",
            .source = "Open MPI; Pjesivac-Grbovic et al. 2007, doi:10.1007/s10586-007-0012-0",
            .build = split_binary, .segmented = true, .level = Level::hosts};
}

}  // namespace mutirao::broadcast
