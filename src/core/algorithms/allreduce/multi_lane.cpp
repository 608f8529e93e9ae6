// Inside each host ranks reduce a share of the message each, every share is reduced over the hosts by itself, by
// circulant or, for short messages, by recursive multiplying (fewer rounds, of whole shares), and inside the hosts
// the shares are put together again. The paper takes hosts of equally many ranks; here ranks of smaller hosts
// speak for several lanes.
//
// Cost, H hosts of m ranks, n bytes: 2 ceil(log2 H) + 2 messages in a row; 2 n (H - 1) / H bytes leave and enter
// each host, over m ranks, and about as many go between the ranks inside. By recursive multiplying with radix k,
// where H is a power of k: log_k H + 2 messages in a row, and (k - 1) n log_k H bytes. Scratch for twice the
// message.
#include "core/algorithms/over_placement.h"
#include "core/algorithms/reduction.h"

namespace mutirao::allreduce {

Schedule circulant(const Request& request);
Schedule recursive_multiplying(const Request& request);

namespace {

class MultiLane {
  public:
    /// `between_hosts`: the algorithm for a lane.
    MultiLane(const Request& request, Schedule (*between_hosts)(const Request&))
        : request_(request),
          between_hosts_(between_hosts),
          placement_(given_placement(request)),
          lanes_(placement_),
          shares_(request.length_bytes, lanes_.count(), request.unit_bytes),
          host_(placement_.host_of(request.rank)) {}

    Schedule run() && {
        reduce_inside();
        for (const OwnShare& own : own_) reduce_between_hosts(own);
        spread_inside();
        return std::move(schedule_);
    }

  private:
    struct OwnShare {
        int lane;
        Region reduced_inside;
    };

    int speaker(int lane) const { return lanes_.speaker(host_, lane); }
    void append(Dataflow&& flow) {
        schedule_.append(std::move(flow).take(), [](int rank) { return rank; });
    }

    void reduce_inside() {
        std::vector<int> others;
        for (const int rank : placement_.ranks_of(host_)) {
            if (rank != request_.rank) others.push_back(rank);
        }
        Dataflow flow;
        const Partial whole = whole_message(flow, request_, false);
        for (int lane = 0; lane < lanes_.count(); ++lane) {
            Partial share = whole;
            share.narrow(shares_.block(lane));
            if (speaker(lane) != request_.rank) {
                share.send(speaker(lane));
                continue;
            }
            share.combine({}, others);
            own_.push_back({lane, share.value()});
        }
        append(std::move(flow));
    }

    void reduce_between_hosts(const OwnShare& own) {
        const Region result = shares_.block(own.lane);
        const Schedule between = between_hosts_({.rank = host_,
                                                 .size = placement_.host_count(),
                                                 .length_bytes = result.length_bytes,
                                                 .unit_bytes = request_.unit_bytes,
                                                 .parameters = request_.parameters});
        schedule_.append(
            between, [&](int host) { return lanes_.speaker(host, own.lane); },
            {.input = own.reduced_inside, .output = result});
    }

    void spread_inside() {
        Dataflow flow;
        for (int lane = 0; lane < lanes_.count(); ++lane) {
            const Region share = shares_.block(lane);
            if (speaker(lane) != request_.rank) {
                flow.receive(speaker(lane), share);
                continue;
            }
            for (const int rank : placement_.ranks_of(host_)) {
                if (rank != request_.rank) flow.send(rank, share);
            }
        }
        append(std::move(flow));
    }

    const Request& request_;
    Schedule (*between_hosts_)(const Request&);
    const Placement& placement_;
    Lanes lanes_;
    Blocks shares_;
    int host_;
    Schedule schedule_;
    std::vector<OwnShare> own_;
};

}  // namespace

static Schedule multi_lane(const Request& request) { return MultiLane(request, circulant).run(); }

static Schedule multi_lane_multiplying(const Request& request) {
    return MultiLane(request, recursive_multiplying).run();
}

Algorithm multi_lane() {
    return {.collective = Collective::allreduce,
            .name = "multi_lane",
            .summary = "a share by each rank of a host between the hosts, put together inside them",
            .source = "Traeff and Hunold 2019, arXiv:1910.13373",
            .build = multi_lane};
}

Algorithm multi_lane_multiplying() {
    return {.collective = Collective::allreduce,
            .name = "multi_lane_multiplying",
            .summary = "the same by recursive multiplying between the hosts, for short messages",
            .source = "Traeff and Hunold 2019, arXiv:1910.13373",
            .build = multi_lane_multiplying, .radices = {2, 4, 8}};
}

}  // namespace mutirao::allreduce
