#include "simulate/decided.h"

#include <limits>
#include <utility>

namespace mutirao::simulate {
namespace {

constexpr double error_of_predictions = 0.25;
constexpr std::size_t most_arms = 5;

}  // namespace

DecidedChooser::DecidedChooser(const ProgramScenario& scenario, double opening_us)
    : scenario_(scenario),
      decider_(std::make_shared<Ledger>(opening_us)),
      ranks_(static_cast<std::size_t>(scenario.program.ranks)) {}

void DecidedChooser::foresee(const CallShape& shape, bool another_network) {
    Outlook outlook;
    for (const SyntheticArm& each : scenario_.foreseen(shape, *network_).arms) {
        if (outlook.arms.size() < most_arms)
            outlook.arms.push_back({each.arm, each.predicted.cold_us, each.predicted.warm_us});
    }
    outlook.error = error_of_predictions;
    outlook.news_us = another_network ? std::numeric_limits<double>::infinity() : 0;
    decider_.on_outlook(class_of(shape), std::move(outlook));
}

void DecidedChooser::hear_network(const std::shared_ptr<const RankNetwork>& network) {
    const bool another = network_ != nullptr;
    network_ = network;
    for (const auto& [shapes, shape] : known_) foresee(shape, another);
}

void DecidedChooser::decide(const Call& call, double now_us) {
    const ShapeClass shapes = class_of(call.shape);
    if (known_.try_emplace(shapes, call.shape).second) {
        decider_.take_on(shapes, scenario_.program.ranks, !row_of(call.shape.collective).reduces);
        if (network_) foresee(call.shape, false);
    }
    const auto arrived = [&](const Reported& each) { return each.arrives_us <= now_us; };
    for (const Reported& each : reports_)
        if (arrived(each)) decider_.on_report(each.report);
    std::erase_if(reports_, arrived);
    std::vector<Decider::CallsMade> made;
    for (const auto& [each, calls] : made_) made.push_back({each, calls});
    for (const Decided& each : decider_.on_time(now_us, made)) {
        if (!each.announced) continue;
        const std::string probe = each.ruling.probe ? " and " + to_string(each.ruling.probe->candidate) : "";
        told_.push_back("call " + std::to_string(call.number) + ": " + to_string(each.ruling.candidate) + probe +
                        ", " + each.reason);
        announced_.push_back({call.number + 1, each.ruling});
    }
    ++made_[shapes];
}

Arm DecidedChooser::enter(int rank, const Call& call, double now_us) {
    if (rank == 0) decide(call, now_us);
    Rank& me = ranks_[static_cast<std::size_t>(rank)];
    for (; me.obeyed < announced_.size() && announced_[me.obeyed].first_call <= call.number; ++me.obeyed) {
        const Ruling& ruling = announced_[me.obeyed].ruling;
        me.classes.insert_or_assign(ruling.shapes, Obeyed{ruling, Course(ruling)});
    }
    const ShapeClass shapes = class_of(call.shape);
    const Ruling native{shapes, native_candidate(call.shape.collective), {}};
    Obeyed& it = me.classes.try_emplace(shapes, Obeyed{native, Course(shapes)}).first->second;
    it.clocked = it.course.clocks();
    const bool probed = it.clocked && it.course.probes();
    return probed ? *it.ruling.probe : Arm{it.ruling.candidate, it.ruling.tree};
}

void DecidedChooser::leave(int rank, const Call& call, double now_us, double took_us) {
    Obeyed& it = ranks_[static_cast<std::size_t>(rank)].classes.at(class_of(call.shape));
    if (!it.clocked || !it.course.add(now_us - took_us, now_us)) return;
    const double way_us = rank == 0 ? 0 : scenario_.network().between_hosts().link(rank, 0).latency_us;
    reports_.push_back({now_us + way_us, it.course.take_report()});
}

}  // namespace mutirao::simulate
