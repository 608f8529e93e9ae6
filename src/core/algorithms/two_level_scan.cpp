#include "core/algorithms/two_level_scan.h"

#include <vector>

#include "core/algorithms/dataflow.h"
#include "core/algorithms/over_placement.h"
#include "core/algorithms/reduction.h"

namespace mutirao {

namespace scan {
Schedule recursive_doubling(const Request& request);
}
namespace exscan {
Schedule recursive_doubling(const Request& request);
}
namespace broadcast {
Schedule binomial(const Request& request);
}

namespace {

class TwoLevelScan {
  public:
    TwoLevelScan(const Request& request, OwnOperand own)
        : request_(request),
          own_(own),
          runs_(runs_on_hosts(given_placement(request))),
          run_(runs_.host_of(request.rank)),
          position_(runs_.position_of(request.rank)),
          result_{Buffer::output, 0, request.length_bytes} {}

    Schedule run() && {
        scan_inside();
        const bool has_prefix_inside = own_ == OwnOperand::included || position_ > 0;
        const bool speaks = position_ + 1 == size();
        const Region sum = speaks ? sum_of_run() : Region{};
        const Region before = has_prefix_inside ? room() : result_;
        if (speaks) exscan_between(sum, before);
        if (run_ == 0) return std::move(schedule_);
        spread(before);
        if (has_prefix_inside) do_locally(&Dataflow::reduce_before, before, result_);
        return std::move(schedule_);
    }

  private:
    int size() const { return static_cast<int>(runs_.ranks_of(run_).size()); }
    int in_run(int position) const {
        return runs_.ranks_of(run_)[static_cast<std::size_t>(position)];
    }
    int speaker(int run) const { return runs_.ranks_of(run).back(); }
    /// Scratch memory that nothing has used yet.
    Region room() const {
        return {Buffer::scratch, aligned(schedule_.scratch_bytes()), request_.length_bytes};
    }
    void do_locally(StepId (Dataflow::*step)(Region, Region), Region from, Region into) {
        Dataflow flow;
        (flow.*step)({Buffer::input, 0, from.length_bytes}, {Buffer::output, 0, into.length_bytes});
        schedule_.append(std::move(flow).take(), [](int rank) { return rank; },
                         {.input = from, .output = into});
    }
    /// Of the same operands, among others.
    Request among(int rank, int size) const {
        return {.rank = rank,
                .size = size,
                .length_bytes = request_.length_bytes,
                .unit_bytes = request_.unit_bytes,
                .commutes = request_.commutes};
    }

    void scan_inside() {
        const Request inside = among(position_, size());
        schedule_.append(own_ == OwnOperand::included ? scan::recursive_doubling(inside)
                                                      : exscan::recursive_doubling(inside),
                         runs_.ranks_of(run_));
    }

    /// Where the run's last rank has it. Nobody asks for that of the last run.
    Region sum_of_run() {
        const Region operand{Buffer::input, 0, request_.length_bytes};
        if (own_ == OwnOperand::included) return result_;
        if (position_ == 0) return operand;
        if (run_ + 1 == runs_.host_count()) return result_;
        const Region sum = room();
        do_locally(&Dataflow::copy, operand, sum);
        do_locally(&Dataflow::reduce_before, result_, sum);
        return sum;
    }

    void exscan_between(Region sum, Region before) {
        schedule_.append(exscan::recursive_doubling(among(run_, runs_.host_count())),
                         [&](int run) { return speaker(run); }, {.input = sum, .output = before});
    }

    void spread(Region before) {
        Request inside = among(position_, size());
        inside.root = size() - 1;
        schedule_.append(broadcast::binomial(inside),
                         [&](int position) { return in_run(position); }, {.output = before});
    }

    const Request& request_;
    OwnOperand own_;
    Placement runs_;
    int run_;
    int position_;
    Region result_;
    Schedule schedule_;
};

}  // namespace

Placement runs_on_hosts(const Placement& placement) {
    std::vector<int> run_of_rank;
    int run = 0;
    for (int rank = 0; rank < placement.rank_count(); ++rank) {
        if (rank > 0 && placement.host_of(rank) != placement.host_of(rank - 1)) ++run;
        run_of_rank.push_back(run);
    }
    return Placement(std::move(run_of_rank));
}

Schedule two_level_scan(const Request& request, OwnOperand own) {
    return TwoLevelScan(request, own).run();
}

}  // namespace mutirao
