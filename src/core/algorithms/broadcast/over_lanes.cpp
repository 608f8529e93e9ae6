#include "core/algorithms/broadcast/over_lanes.h"

#include "core/algorithms/lanes.h"
#include "core/algorithms/over_tree.h"

namespace mutirao::broadcast {

namespace {

class OverLanes {
  public:
    OverLanes(const Request& request, const Placement& groups)
        : request_(request),
          groups_(groups),
          lanes_(groups, request.root),
          own_group_(groups.host_of(request.rank)),
          root_group_(groups.host_of(request.root)) {}

    TreePlace place_in(int lane, const PlaceBetween& place_between) const {
        const int count = groups_.host_count();
        const TreePlace between = with_real_ranks(
            place_between(virtual_rank(own_group_, root_group_, count), lane), root_group_, count);
        const int speaker = lanes_.speaker(own_group_, lane);
        const bool at_root = request_.rank == request_.root;
        TreePlace place;
        if (request_.rank == speaker) {
            if (between.parent >= 0) {
                place.parent = lanes_.speaker(between.parent, lane);
            } else if (!at_root) {
                place.parent = request_.root;
            }
            for (const int group : between.children) {
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
};

}  // namespace

Schedule over_lanes(const Request& request, const Placement& groups,
                    const PlaceBetween& place_between) {
    const OverLanes lanes(request, groups);
    std::vector<TreePlace> places;
    for (int lane = 0; lane < lanes.lane_count(); ++lane) {
        places.push_back(lanes.place_in(lane, place_between));
    }
    return pass_down_shares(places, request);
}

}  // namespace mutirao::broadcast
