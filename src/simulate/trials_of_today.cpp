#include "simulate/trials_of_today.h"

#include <algorithm>
#include <utility>

namespace mutirao::simulate {
namespace {

std::size_t at(int rank) { return static_cast<std::size_t>(rank); }

}  // namespace

TrialsOfToday::TrialsOfToday(const RankNetwork& ways, Settings settings, Predict predict)
    : ways_(ways),
      settings_(std::move(settings)),
      predict_(std::move(predict)),
      ranks_(at(ways.rank_count())),
      announcements_(ways.rank_count()),
      reports_(ways.rank_count()) {}

double TrialsOfToday::way_us(int from, int to) const {
    const Placement& placement = ways_.placement();
    const RankNetwork& now = network_ ? *network_ : ways_;
    return now.between_hosts().link(placement.host_of(from), placement.host_of(to)).latency_us;
}

// --- the decider -------------------------------------------------------------------------------------

void TrialsOfToday::hear_network(std::shared_ptr<const RankNetwork> network, double) {
    network_ = std::move(network);
    wanted_.clear();
    for (const auto& [shapes, each] : cases_) wanted_.push_back(shapes);
    decide();
}

void TrialsOfToday::decide() {
    if (!network_) return;
    for (; !wanted_.empty(); wanted_.pop_front()) {
        if (auto ruling = decide(cases_.at(wanted_.front()))) fresh_.push_back(std::move(*ruling));
    }
}

std::optional<Ruling> TrialsOfToday::decide(Case& each) const {
    Decision made = predict_ ? predict_(each.shape, *network_)
                             : mutirao::decide(each.shape, network_, settings_, each.decision);
    const bool fresh = !each.decision;
    const bool was_native = fresh || each.decision->chosen.native();
    const bool alike = fresh ? made.chosen.native() : mutirao::runs_alike(*each.decision, made);
    const bool tries_anew = each.contest && each.contest->questioned_by(made);
    each.decision = std::move(made);
    if (alike && !fresh && !tries_anew) return std::nullopt;
    if (settings_.holds_trials()) {
        const bool watched = settings_.reproducibility == Reproducibility::fast ||
                             !row_of(each.shape.collective).reduces;
        each.contest = contest_for(each.shape, *each.decision, *network_, ways_.rank_count(), watched);
        if (each.contest) return each.contest->ruling();
    }
    if (alike || (was_native && each.decision->chosen.native())) return std::nullopt;
    return Ruling{class_of(each.shape), each.decision->chosen, each.decision->tree};
}

void TrialsOfToday::hear(const TrialReport& report) {
    const auto found = cases_.find(report.shapes);
    if (found == cases_.end() || !found->second.contest) return;
    if (found->second.contest->hear(report)) fresh_.push_back(found->second.contest->ruling());
}

void TrialsOfToday::announce(const Call& call, double now_us) {
    for (const Report& report : reports_.receive(0, now_us)) {
        if (const auto* const lead = std::get_if<LeadReport>(&report))
            epochs_.hear(*lead);
        else
            hear(std::get<TrialReport>(report));
    }
    while (epochs_.due(call.number)) {
        Announcement made = epochs_.enter(call.number, now_us);
        made.rulings = std::exchange(fresh_, {});
        for (const Ruling& ruling : made.rulings) {
            std::string line = "call " + std::to_string(call.number) + " for " + std::to_string(made.first_call) +
                               ": " + std::string(to_string(ruling.shapes.collective)) + " " +
                               to_string(ruling.candidate);
            for (const Arm& other : ruling.others) line += " | " + to_string(other.candidate);
            log_.push_back(line + ", rest " + std::to_string(ruling.rest_calls));
        }
        for (int rank = 1; rank < ways_.rank_count(); ++rank)
            announcements_.send(rank, now_us + way_us(0, rank), made);
        ranks_.front().follower.hear(std::move(made));
    }
}

// --- every rank --------------------------------------------------------------------------------------

void TrialsOfToday::listen(int rank, const Call& call, double now_us) {
    Rank& mine = ranks_[at(rank)];
    for (Announcement& heard : announcements_.receive(rank, now_us)) {
        const LeadReport report{heard.number, call.number - std::min(call.number, heard.sent_in_call), false};
        if (mine.waited_us > 0 && heard.first_call <= call.number)
            mine.late = report;
        else if (EpochFollower::worth_reporting(heard, report.lead_calls))
            reports_.send(0, now_us + way_us(rank, 0), report);
        mine.follower.hear(std::move(heard));
    }
}

/// When the rank knows how to run the call.
double TrialsOfToday::follow(int rank, const Call& call, double now_us) {
    Rank& mine = ranks_[at(rank)];
    if (rank == 0)
        announce(call, now_us);
    else
        listen(rank, call, now_us);
    while (!mine.follower.within(call.number)) {
        if (const auto epoch = mine.follower.advance()) {
            take(rank, *epoch);
            continue;
        }
        const double heard_us = announcements_.next_us(rank);
        mine.waited_us += heard_us - now_us;
        now_us = heard_us;
        listen(rank, call, now_us);
    }
    return now_us;
}

void TrialsOfToday::take(int rank, const Announcement& announcement) {
    for (const Ruling& ruling : announcement.rulings) {
        Obeyed& obeyed = ranks_[at(rank)].rulings[ruling.shapes] = {ruling, {}, {}};
        if (ruling.trial == 0) continue;
        obeyed.order = {ruling.arm_count(), ruling.repetitions, ruling.rest_calls};
        obeyed.rest_left = ruling.rest_calls;
        obeyed.window = {ruling.shapes, ruling.trial, 0, std::vector<double>(at(ruling.arm_count()))};
    }
}

Chooser::Way TrialsOfToday::enter(int rank, const Call& call, double now_us) {
    Way way{{native_candidate(call.shape.collective), std::nullopt}, follow(rank, call, now_us)};
    const ShapeClass shapes = class_of(call.shape);
    const auto found = ranks_[at(rank)].rulings.find(shapes);
    if (found != ranks_[at(rank)].rulings.end()) {
        Obeyed& obeyed = found->second;
        obeyed.running = -1;
        if (obeyed.ruling.trial != 0 && obeyed.rest_left == 0) {
            obeyed.running = obeyed.order.arm_of(obeyed.calls++);
            if (obeyed.calls % at(obeyed.order.window_calls()) == 0) obeyed.rest_left = obeyed.order.rest_calls;
        } else if (obeyed.ruling.trial != 0) {
            --obeyed.rest_left;
        }
        const Ruling runs = obeyed.ruling.arm(std::max(obeyed.running, 0));
        way.arm = {runs.candidate, runs.tree};
    } else if (rank == 0 && !cases_.contains(shapes)) {
        cases_.emplace(shapes, Case{call.shape});
        wanted_.push_back(shapes);
        decide();
    }
    if (ranks_[at(rank)].late) say_lead(rank, call, way.arm, way.begin_us);
    ranks_[at(rank)].waited_us = 0;
    return way;
}

// A wait did harm if the call could have gone on.
void TrialsOfToday::say_lead(int rank, const Call& call, const Arm& arm, double now_us) {
    constexpr double harmless_us = 1000;
    Rank& mine = ranks_[at(rank)];
    LeadReport report = *std::exchange(mine.late, std::nullopt);
    const auto schedule = build_schedule(Ruling{class_of(call.shape), arm.candidate, arm.tree}, call.shape,
                                         ways_.placement(), rank);
    const bool receives_first =
        schedule && !schedule->steps().empty() && schedule->steps().front().kind == StepKind::receive;
    report.waited = mine.waited_us > harmless_us && !receives_first;
    if (report.waited || report.lead_calls > 0) reports_.send(0, now_us + way_us(rank, 0), report);
}

void TrialsOfToday::leave(int rank, const Call& call, double now_us, double took_us) {
    auto& rulings = ranks_[at(rank)].rulings;
    const auto found = rulings.find(class_of(call.shape));
    if (found == rulings.end() || found->second.running < 0) return;
    Obeyed& obeyed = found->second;
    TrialReport& window = obeyed.window;
    if (obeyed.order.counts(obeyed.calls - 1))
        window.times_us[at(obeyed.running)] += took_us / obeyed.order.counted_calls();
    if (obeyed.calls % at(obeyed.order.window_calls()) != 0) return;
    if (rank == 0)
        hear(window);
    else
        reports_.send(0, now_us + way_us(rank, 0), window);
    window.times_us.assign(window.times_us.size(), 0);
    ++window.window;
}

}  // namespace mutirao::simulate
