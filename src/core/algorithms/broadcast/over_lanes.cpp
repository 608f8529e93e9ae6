#include "core/algorithms/broadcast/over_lanes.h"

#include "core/algorithms/lanes.h"
#include "core/algorithms/over_tree.h"

namespace mutirao::broadcast {

namespace {

class OverLanes {
  public:
    OverLanes(const Request& request, const Placement& groups, int radix)
        : request_(request),
          groups_(groups),
          lanes_(groups, request.root),
          own_group_(groups.host_of(request.rank)),
          root_group_(groups.host_of(request.root)),
          between_(with_real_ranks(
              k_nomial_place(virtual_rank(own_group_, root_group_, groups.host_count()),
                             groups.host_count(), radix),
              root_group_, groups.host_count())) {}

    TreePlace place_in(int lane) const {
        const int speaker = lanes_.speaker(own_group_, lane);
        const bool at_root = request_.rank == request_.root;
        TreePlace place;
        if (request_.rank == speaker) {
            if (!at_root) place.parent = above(lane);
            for (const int group : between_.children) {
                place.children.push_back(lanes_.speaker(group, lane));
            }
            add_own_group(place);
        } else if (at_root) {
            place.children.push_back(speaker);
        } else {
            place.parent = speaker;
        }
        return place;
    }

    int lane_count() const { return lanes_.count(); }

  private:
    /// Where a speaker gets its share from.
    int above(int lane) const {
        return own_group_ == root_group_ ? request_.root
                                         : lanes_.speaker(between_.parent, lane);
    }

    /// Each begins with the next, so that a rank does not get all shares at the same time.
    void add_own_group(TreePlace& place) const {
        const auto ranks = groups_.ranks_of(own_group_);
        const int size = static_cast<int>(ranks.size());
        for (int distance = 1; distance < size; ++distance) {
            const int next = real_rank(distance, groups_.position_of(request_.rank), size);
            const int rank = ranks[static_cast<std::size_t>(next)];
            if (rank != request_.root) place.children.push_back(rank);
        }
    }

    const Request& request_;
    const Placement& groups_;
    Lanes lanes_;
    int own_group_;
    int root_group_;
    TreePlace between_;  ///< the own group's
};

}  // namespace

Schedule over_lanes(const Request& request, const Placement& groups, int radix) {
    const OverLanes lanes(request, groups, radix);
    std::vector<TreePlace> places;
    for (int lane = 0; lane < lanes.lane_count(); ++lane) places.push_back(lanes.place_in(lane));
    return pass_down_shares(places, request);
}

}  // namespace mutirao::broadcast
