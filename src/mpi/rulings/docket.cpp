#include "mpi/rulings/docket.h"

#include <algorithm>
#include <ctime>
#include <utility>

#include "core/epochs/route.h"
#include "core/text/milliseconds.h"
#include "mpi/communicator/record_text.h"
#include "mpi/communicator/roles.h"
#include "mpi/job/job.h"
#include "mpi/rulings/topology.h"
#include "mpi/stopwatch.h"
#include "mpi/verbose.h"
#include "profile/this_host.h"

namespace mutirao::mpi {
namespace {

/// More classes than this are left to the MPI library; a ruling costs every rank a little memory.
constexpr std::size_t most_cases = 1024;

std::shared_ptr<const Topology> unknown_topology(int hosts) {
    auto topology = std::make_shared<Topology>();
    topology->network = Network(hosts);
    topology->site_of.assign(static_cast<std::size_t>(hosts), 0);
    return topology;
}

/// Something is forced, and nothing that is forced goes over a measured tree.
bool needs_no_network(const Settings& settings) {
    bool some = false;
    for (const std::optional<Candidate>& forced : settings.algorithms) {
        if (forced && forced->algorithm->needs_tree()) {
            return false;
        }
        some = some || forced;
    }
    return some;
}

/// Why another network brought another decision on what was chosen.
std::string what_changed(const Decision& before, const Decision& now) {
    const auto predicted = [&](const Decision& decision) -> std::optional<double> {
        for (const Evaluated& each : decision.considered) {
            if (each.candidate == before.chosen) return each.predicted_us;
        }
        return std::nullopt;
    };
    const auto before_us = predicted(before), now_us = predicted(now);
    if (!before_us || !now_us) return "the network changed; ";
    return "the network changed: " + to_string(before.chosen) + " predicted " + duration(*now_us) +
           ", before " + duration(*before_us) + "; ";
}

std::string since_start() {
    const Job* const job = Job::current();
    return job == nullptr ? " in MPI_Init" : " " + short_duration(now_us() - job->begun_us()) + " after MPI_Init";
}

}  // namespace

Docket::Docket(Subject subject)
    : subject_(std::move(subject)) {
    route_ = route_without_network(subject_.placement->rank_count());
    if (needs_no_network(subject_.settings)) {
        take_network(unknown_topology(subject_.placement->host_count()), {});
        route_ = route_without_network(subject_.placement->rank_count());
    }
}

void Docket::want(const CallShape& shape, std::uint64_t call) {
    const std::lock_guard lock(mutex_);
    call_ = call;
    if (cases_.size() >= most_cases) {
        return;
    }
    const ShapeClass shapes = subject_of(shape);
    const auto [entry, fresh] = cases_.try_emplace(shapes, Case{shape, std::nullopt, true});
    if (fresh) {
        queue_.push_back(shapes);
        stirred_ = true;
    }
}

std::vector<Ruling> Docket::take_fresh(std::uint64_t call) {
    const std::lock_guard lock(mutex_);
    call_ = call;
    return std::exchange(fresh_, {});
}

Route Docket::route() {
    const std::lock_guard lock(mutex_);
    return route_;
}

bool Docket::was_quiet() {
    const std::lock_guard lock(mutex_);
    return !std::exchange(stirred_, false) && queue_.empty() && fresh_.empty();
}

void Docket::look_at_network() {
    if (!subject_.lookout || frozen_) {
        return;
    }
    const auto sighting = subject_.lookout->newer_than(seen_, subject_.source_host_of);
    if (!sighting) {
        return;
    }
    seen_ = sighting->changes;
    if (!sighting->topology || (!network_ && !sighting->all_known)) {
        return;
    }
    take_network(sighting->topology, sighting->memory);
    read_profile();
    question_all();
}

void Docket::take_network(std::shared_ptr<const Topology> newest, const MemoryCosts& memory) {
    {
        const std::lock_guard record_lock(subject_.record->mutex);
        take_up(*subject_.record, call_, newest);
        subject_.record->memory = memory;
        if (is_verbose(3) && newest->complete()) {
            say(3, title_of(*subject_.record) + ": network " +
                       (network_ && network_->topology().complete() ? "changed" : "known") + since_start());
        }
    }
    const int here = subject_.placement->host_of(subject_.decider);
    Route route = quickest_route(newest->network, here);
    network_ = std::make_shared<const RankNetwork>(std::move(newest), subject_.placement, memory);
    frozen_ = subject_.settings.adaptation.mode == Adaptation::Mode::off && subject_.lookout;
    const std::lock_guard lock(mutex_);
    route_ = std::move(route);
}

void Docket::question_all() {
    const std::lock_guard lock(mutex_);
    for (auto& [shapes, each] : cases_) {
        if (!each.waiting) {
            each.waiting = true;
            queue_.push_back(shapes);
        }
    }
}

// A forced algorithm is ruled for all lengths at once, so that ranks whose lengths differ, an error of
// the program, still run the same one and learn of it.
ShapeClass Docket::subject_of(const CallShape& shape) const {
    ShapeClass shapes = class_of(shape);
    if (subject_.settings.forced(shape.collective)) {
        shapes.length_class = any_length;
    }
    return shapes;
}

bool Docket::may_decide() const { return network_ != nullptr; }

// With the work's lock held, and without the other: deciding takes time.
std::optional<Ruling> Docket::decide(Case& each) {
    Decision made = mutirao::decide(each.shape, network_, subject_.settings, each.decision);
    const bool was_native = !each.decision || each.decision->chosen.algorithm->native();
    const bool alike = each.decision ? runs_alike(*each.decision, made)
                                     : made.chosen.algorithm->native();
    const bool is_native = made.chosen.algorithm->native();
    const bool fresh = !each.decision;
    const bool tries_anew = each.contest && each.contest->questioned_by(made);
    const std::optional<Decision> before = std::exchange(each.decision, std::move(made));
    if (alike && !fresh && !tries_anew) {
        return std::nullopt;
    }
    each.cause = fresh ? "" : what_changed(*before, *each.decision);
    if (subject_.settings.holds_trials()) {
        each.contest = contest_of(each);
        if (each.contest) {
            return each.contest->ruling();
        }
    }
    if (alike || (was_native && is_native)) {
        return std::nullopt;
    }
    return Ruling{subject_of(each.shape), each.decision->chosen, each.decision->tree};
}

// Beside the program; again only on another network.
void Docket::read_profile() {
    if (!subject_.store || !subject_.settings.holds_trials()) {
        return;
    }
    Fabric here = describe_fabric(network_->topology(), profile::processor(), profile::transport());
    if (fabric_ && !difference(here, *fabric_)) {
        return;
    }
    profile::ProfileStore::Answer answer = subject_.store->rows_for(here, subject_.mpi_library);
    rows_ = std::move(answer.rows);
    {
        const std::lock_guard lock(mutex_);
        fabric_ = std::move(here);
    }
    const std::lock_guard lock(subject_.record->mutex);
    subject_.record->profile = rows_.empty() ? std::move(answer.why_none)
                                             : std::to_string(rows_.size()) + " times of this network";
}

// What an earlier job measured is as good as a trial, and what it measured of others a first choice.
std::optional<Contest> Docket::contest_of(const Case& each) const {
    const int reporters = reporters_among(network_->placement().rank_count(), class_of(each.shape).root,
                                          subject_.decider);
    auto contest = contest_for(each.shape, *each.decision, *network_, reporters, watches(each.shape));
    if (!contest || rows_.empty()) {
        return contest;
    }
    const auto known = remembered(rows_, known_to_all(each.shape), ranks_of(network_->placement()));
    const Remembered* const best = preferred(known);
    if (best != nullptr && !best->interpolated) {
        std::vector<Measured> measured;
        for (const Remembered& one : known) {
            measured.push_back({one.row.candidate, one.row.time_us, one.row.windows});
        }
        contest->begin_settled(best->row.candidate, measured);
    }
    return contest;
}

// Queued only: the file is written beside the program, or at its end.
void Docket::remember(const Case& each) {
    if (!subject_.store || !fabric_) {
        return;
    }
    const auto now_s = static_cast<double>(std::time(nullptr));
    std::vector<ProfileRow> rows;
    for (const Measured& one : each.contest->measured()) {
        rows.push_back(learned_row(known_to_all(each.shape), ranks_of(*subject_.placement),
                                   one.candidate, one.time_us, one.windows, now_s));
    }
    subject_.store->remember(*fabric_, subject_.mpi_library, std::move(rows));
}

// A sum may differ in its last bits from one algorithm to another.
bool Docket::watches(const CallShape& shape) const {
    return subject_.settings.reproducibility == Reproducibility::fast ||
           !row_of(shape.collective).reduces;
}

void Docket::hear(const TrialReport& report) {
    const std::lock_guard lock(mutex_);
    const auto found = cases_.find(report.shapes);
    if (found == cases_.end() || !found->second.contest || found->second.waiting) {
        return;
    }
    Contest& contest = *found->second.contest;
    const bool was_settled = contest.settled();
    stirred_ = stirred_ || !was_settled;
    if (contest.hear(report)) {
        found->second.cause.clear();
        fresh_.push_back(contest.ruling());
    }
    if (contest.settled() && !was_settled) {
        remember(found->second);
    }
}

// For the report: that is no ruling, since calls without one run natively anyway.
void Docket::note_native(const ShapeClass& shapes, const Decision& decision) {
    const std::lock_guard lock(subject_.record->mutex);
    const auto row = subject_.record->classes.find(shapes);
    if (row == subject_.record->classes.end()) {
        return;
    }
    if (!row->second.native_choice && is_verbose(2)) {
        say(2, title_of(*subject_.record) + ": " + name_of(*subject_.record, shapes) + " stays native (" +
                   decision.reason + ")");
    }
    RulingRecord& choice = row->second.native_choice.emplace();
    choice.first_call = call_;
    choice.chosen = to_string(decision.chosen);
    choice.reason = decision.reason;
    choice.considered = decision.considered;
    choice.bound_us = decision.bound_us;
}

bool Docket::work() {
    const std::lock_guard work_lock(work_mutex_);
    look_at_network();
    if (!may_decide()) {
        return false;
    }
    Case now;
    ShapeClass shapes;
    {
        const std::lock_guard lock(mutex_);
        if (queue_.empty()) {
            return false;
        }
        shapes = queue_.front();
        queue_.pop_front();
        now = cases_.at(shapes);
    }
    now.waiting = false;
    std::optional<Ruling> ruling = decide(now);
    if (now.decision->chosen.native()) {
        note_native(shapes, *now.decision);
    }
    const std::lock_guard lock(mutex_);
    cases_.at(shapes) = std::move(now);
    if (ruling) {
        fresh_.push_back(std::move(*ruling));
    }
    return true;
}

Ruling Docket::decide_now(const CallShape& shape, std::uint64_t call) {
    const std::lock_guard work_lock(work_mutex_);
    look_at_network();
    const ShapeClass shapes = subject_of(shape);
    Case now{shape, std::nullopt, false};
    std::optional<Ruling> ruling;
    if (may_decide()) {
        ruling = decide(now);
    }
    const std::lock_guard lock(mutex_);
    call_ = call;
    std::erase(queue_, shapes);
    cases_[shapes] = std::move(now);
    return ruling ? std::move(*ruling)
                  : Ruling{shapes, {find_algorithm(shape.collective, "native"), {}}, std::nullopt};
}

std::vector<Ruling> Docket::use(Topology topology, std::uint64_t call) {
    const std::lock_guard work_lock(work_mutex_);
    call_ = call;
    complete_network(topology, subject_.settings, subject_.sockets);
    take_network(std::make_shared<const Topology>(std::move(topology)), {});
    std::vector<Ruling> rulings;
    for (auto& [shapes, each] : cases_) {
        if (auto ruling = decide(each)) {
            rulings.push_back(std::move(*ruling));
        }
    }
    return rulings;
}

void Docket::explain(const Ruling& ruling, RulingRecord& record) const {
    const std::lock_guard lock(mutex_);
    const auto found = cases_.find(ruling.shapes);
    if (found == cases_.end() || !found->second.decision) {
        record.reason = "the network is not known";
        return;
    }
    const Case& of_class = found->second;
    record.settled = ruling.trial == 0 ||
                     (of_class.contest && of_class.contest->had_settled_by(ruling.trial));
    record.reason = of_class.contest && record.settled ? of_class.contest->reason()
                                                       : of_class.decision->reason;
    record.reason = of_class.cause + record.reason;
    if (!record.settled) {
        record.reason = "on trial; " + record.reason;
    } else if (ruling.trial != 0) {
        record.reason += "; native is tried again every " + std::to_string(ruling.rest_calls) + " calls";
    }
    if (of_class.contest) {
        record.measured = of_class.contest->measured();
    }
    record.considered = found->second.decision->considered;
    record.bound_us = found->second.decision->bound_us;
}

}  // namespace mutirao::mpi
