// Prefix sums by hosts: the ranks of a host scan, the last of them, which then has its host's sum,
// scan between the hosts, and what comes before a host is handed round inside and added there
// (the paper on clusters of SMP nodes).
//
// Prefixes go by ranks, so a host is taken to be a run of consecutive ranks: where a host's ranks
// are not numbered one after another it counts as several.
//
// Cost, H hosts of m ranks, n bytes: 2 ceil(log2 m) + ceil(log2 H) messages in a row, of which ceil(log2 H) go
// between hosts; a host sends and receives as many of n bytes over the network, where recursive doubling among all
// ranks has m times as many. A rank combines up to ceil(log2 m) + 1 times n bytes, and the last of a host 2
// ceil(log2 H) times more; without its own operand once more. Where no ranks of a host are consecutive, it is recursive
// doubling.
#include "core/algorithms/dataflow.h"
#include "core/algorithms/over_placement.h"

namespace mutirao {

Schedule recursive_doubling_scan(const Request& request), recursive_doubling_exscan(const Request& request);

namespace broadcast {
Schedule binomial(const Request& request);
}

namespace {

enum class OwnOperand : unsigned char { included, left_out };

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
        schedule_.append(own_ == OwnOperand::included ? recursive_doubling_scan(inside)
                                                      : recursive_doubling_exscan(inside),
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
        schedule_.append(recursive_doubling_exscan(among(run_, runs_.host_count())),
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

Schedule two_level_scan(const Request& request) { return TwoLevelScan(request, OwnOperand::included).run(); }
Schedule two_level_exscan(const Request& request) { return TwoLevelScan(request, OwnOperand::left_out).run(); }

}  // namespace

static Algorithm two_level_row(Collective collective, Schedule (*build)(const Request&)) {
    return {.collective = collective,
            .name = "two_level",
            .summary = "sums inside each host and between the hosts' last ranks, then added inside",
            .source = "Sanders and Traeff 2006, doi:10.1007/11846802_15",
            .build = build, .keeps_order = true};
}

namespace scan { Algorithm two_level() { return two_level_row(Collective::scan, two_level_scan); } }
namespace exscan { Algorithm two_level() { return two_level_row(Collective::exscan, two_level_exscan); } }

}  // namespace mutirao
