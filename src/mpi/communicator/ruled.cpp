// How a communicator is ruled: its hosts, the announcements that it makes, hears and waits for, and the
// rulings that it takes from them.
#include <algorithm>
#include <cstdio>
#include <utility>

#include "mpi/communicator/communicator.h"
#include "mpi/communicator/record_text.h"
#include "mpi/communicator/roles.h"
#include "mpi/executor/patience.h"
#include "mpi/job/watch.h"
#include "mpi/rulings/deciding_thread.h"
#include "mpi/report.h"
#include "mpi/rulings/topology.h"
#include "mpi/runtime.h"
#include "mpi/stopwatch.h"
#include "mpi/verbose.h"

namespace mutirao::mpi {
namespace {

/// Waits before this epoch belong to the start.
constexpr std::uint32_t settled_epoch = 16;

bool is_synchronous() {
    return runtime().settings.adaptation.mode == Adaptation::Mode::synchronous;
}

std::string mode_of(bool watched) {
    const Adaptation& adaptation = runtime().settings.adaptation;
    if (is_synchronous()) return "every:" + std::to_string(adaptation.every);
    if (adaptation.mode == Adaptation::Mode::off || !watched) {
        return "off";
    }
    return runtime().settings.agent == AgentPlace::in_band ? "in-band" : "auto";
}

}  // namespace

Communicator::Ruled::Ruled(std::shared_ptr<Twin> its_twin, Slot its_slot, std::shared_ptr<const Members> all,
                           std::uint64_t first_call, std::uint64_t calls_without, double us_per_call)
    : twin(std::move(its_twin)),
      slot(its_slot),
      members(std::move(all)),
      post(twin->comm(), slot, *members, choose_decider(*members, twin->world())),
      follower(first_call, calls_without),
      connections(twin, slot.connections()),
      transport(transport_of(runtime().settings, twin->world().sockets)),
      decider(post.decider()) {
    if (members->my_rank == decider) {
        epochs.emplace(first_call, calls_without, us_per_call);
    }
    if (is_synchronous()) {
        synchronous = std::make_unique<SynchronousAdaptation>(twin->comm(), slot.synchronous(), *members,
                                                              runtime().settings);
    }
}

void Communicator::rule(const std::shared_ptr<Twin>& twin, Slot slot, std::uint64_t first_call,
                        std::uint64_t calls_without) {
    phase_ = Phase::ruled;
    next_event_ = first_call;
    repeated_.forget();
    *members_ = *members_of(comm_, twin->group());
    members_->place(twin->world());
    const double us_per_call =
        first_call == 0 ? 0 : (now_us() - job_.begun_us()) / static_cast<double>(first_call);
    ruled_ = std::make_unique<Ruled>(twin, slot, members_, first_call, calls_without, us_per_call);
    table_.connect_by(ruled_->connections);
    operation_ = std::make_unique<Operation>();
    surroundings_ = {twin->comm(), &twin->left_behind(), this, twin.get()};
    if (twin->source()) {
        source_background_ = twin->source()->background();
    }
    note_hosts(*members_, twin->world());
    {
        const std::lock_guard lock(record_->mutex);
        record_->ruled = true;
        record_->adaptation.mode = mode_of(twin->source() != nullptr);
        record_->reason = twin->peers()->world().host_count() == 1 ? "one host"
                          : twin->world().has_daemons              ? "network known to the hosts' agents"
                                                                   : "network measured";
    }
    if (is_verbose(3)) {
        say(3, title_of(*record_) + ": taken on from call " + std::to_string(first_call + 1) + " on, in slot " +
                   std::to_string(slot.number()));
    }
    if (!decides() || docket_peers_ != twin->peers()) {
        docket_.reset();  // others may number hosts otherwise
    }
    if (decides() && !docket_) {
        start_deciding(*members_, twin->world(), twin->lookout(), twin->peers()->ledger_of(comm_));
    }
    if (docket_) {
        docket_->begin_handling();
    }
    tell_what_was_clocked();
}

// `members` placed in `world`.
void Communicator::start_deciding(const Members& members, const World& world,
                                  const std::shared_ptr<Lookout>& lookout, std::shared_ptr<Ledger> ledger) {
    repeated_.forget();
    table_.ask_anew();
    Docket::Subject subject;
    subject.placement = members.placement;
    for (const int host : members.world_host_of) {
        subject.source_host_of.push_back(world.source_host[static_cast<std::size_t>(host)]);
    }
    subject.decider = my_rank_;
    subject.lookout = lookout;
    subject.sockets = world.sockets;
    subject.settings = runtime().settings;
    subject.store = runtime().profile;
    subject.mpi_library = library_version();
    subject.record = record_;
    subject.ledger = std::move(ledger);
    docket_ = std::make_shared<Docket>(std::move(subject));
    has_thread_ = !is_synchronous() && runtime().settings.agent != AgentPlace::in_band &&
                  DecidingThread::take_on(docket_);
}

void Communicator::follow(std::uint64_t call) {
    if (docket_ && !has_thread_ && !is_synchronous()) {
        docket_->work();
    }
    if (decides()) {
        announce_or_defer(call);
    } else {
        listen(call);
    }
    while (phase_ == Phase::ruled && !ruled_->follower.within(call)) {
        std::optional<Announcement> epoch = ruled_->follower.advance();
        if (!epoch) {
            wait_for_epoch(call);
            continue;
        }
        {
            const std::lock_guard lock(record_->mutex);
            ++record_->adaptation.epochs;
        }
        take(*epoch);
    }
    if (phase_ == Phase::ruled) {
        next_event_ = next_event(call);
    }
}

// Calls come the faster the longer, in calls, an epoch is. Inside one host a look costs as much as dozens of them.
std::uint64_t Communicator::next_event(std::uint64_t call) const {
    const std::uint64_t looks_per_epoch = members_->host_count() == 1 ? 1 : 32;
    const std::uint64_t look =
        call + std::max<std::uint64_t>(ruled_->follower.calls_per_epoch() / looks_per_epoch, 1);
    return std::min(look, ruled_->follower.end());
}

// Where nobody needs it for this call an announcement goes out behind the call's own messages: a root whose
// messages wait for two dozen others is late itself.
void Communicator::announce_or_defer(std::uint64_t call) {
    const bool needed_now = !ruled_->follower.within(call) && !ruled_->follower.knows_next();
    if (needed_now || ruled_->epochs->ahead_calls() == 0) {
        to_announce_in_.reset();
        return announce(call);
    }
    to_announce_in_ = call;
}

void Communicator::announce_what_was_deferred() {
    const std::optional<std::uint64_t> call = std::exchange(to_announce_in_, std::nullopt);
    if (call && phase_ == Phase::ruled) {
        announce(*call);
    }
}

void Communicator::announce(std::uint64_t call) {
    EpochDecider& epochs = *ruled_->epochs;
    for (const Report& report : ruled_->post.receive_reports()) {
        if (const auto* const lead = std::get_if<LeadReport>(&report)) {
            epochs.hear(*lead);
        } else {
            docket_->hear(std::get<TimeReport>(report));
        }
    }
    while (epochs.due(call)) {
        if (members_->host_count() == 1) {
            epochs.keep(docket_->is_quiet() ? quiet_pace_on_one_host : pace_on_one_host);
        }
        Announcement made = epochs.enter(call, now_us());
        made.rulings = docket_->take_fresh(call, table_.calls_made());
        made.route = docket_->route();
        ruled_->post.send(made);
        {
            const std::lock_guard lock(record_->mutex);
            record_->adaptation.horizon_calls = made.horizon_calls;
        }
        ruled_->follower.hear(std::move(made));
    }
}

void Communicator::listen(std::uint64_t next_call) {
    for (Announcement& heard : ruled_->post.receive()) {
        switch (heard.kind) {
            case Announcement::Kind::epoch: hear(std::move(heard), next_call); break;
            case Announcement::Kind::at_once: at_once_.emplace(heard.first_call, heard); break;
            case Announcement::Kind::last: ruled_->ended = true; break;
        }
        if (phase_ != Phase::ruled) {
            return;
        }
    }
}

void Communicator::hear(Announcement heard, std::uint64_t next_call) {
    const LeadReport report{heard.number, next_call - std::min(next_call, heard.sent_in_call),
                            false};
    const bool awaited = waiting_ && heard.first_call <= next_call;
    const bool worth_reporting = EpochFollower::worth_reporting(heard, report.lead_calls);
    if (awaited) {
        late_ = {report, worth_reporting};  // after the call, which shows whether that did any harm
    } else if (worth_reporting) {
        ruled_->post.report(report);
    }
    ruled_->follower.hear(std::move(heard));
}

void Communicator::wait_for_epoch(std::uint64_t call) {
    const double begun_us = now_us();
    Patience patience;
    waiting_ = true;
    while (phase_ == Phase::ruled && !ruled_->follower.knows_next()) {
        listen(call);
        if (source_background_ != nullptr) {
            source_background_->progress();
        }
        patience.rest();
        say_if_long(begun_us);
    }
    waiting_ = false;
    waited_us_ += now_us() - begun_us;
}

// After an error sends may be under way, which read what the operation owns.
void Communicator::end_operation() {
    std::vector<MPI_Request> sends;
    if (operation_->error() != MPI_SUCCESS) {
        sends = operation_->take_sends();
    }
    if (sends.empty()) {
        return operation_->release();
    }
    ruled_->twin->left_behind().abandon(std::move(sends), std::move(operation_));
    operation_ = std::make_unique<Operation>();
}

// A wait did harm if the call could have gone on: the root, and who found its first message already
// there. What the MPI library was doing meanwhile nobody knows. What lets the root begin may be ahead of
// an announcement by a moment.
void Communicator::leave(const Turn& turn) {
    const bool first_message_waited_here = operation_ && operation_->first_message_waited_here();
    if (turn.by.plan != nullptr) {
        end_operation();
    }
    announce_what_was_deferred();
    if (turn.course != nullptr && turn.course->add(turn.begun_us, now_us()) && phase_ == Phase::ruled) {
        tell(turn.course->take_report());
    }
    if (!late_) {
        waited_us_ = 0;
        return;
    }
    constexpr double harmless_us = 1000;
    const auto receives_first = [](const Plan& plan) {
        return !plan.steps().empty() && plan.steps().front().kind == StepKind::receive;
    };
    LeadReport& report = late_->report;
    report.waited = waited_us_ > harmless_us &&
                    (turn.by.plan == nullptr || !receives_first(*turn.by.plan) || first_message_waited_here);
    if (report.waited) {
        const std::lock_guard lock(record_->mutex);
        AdaptationRecord& record = record_->adaptation;
        const bool early = report.number <= settled_epoch;
        ++(early ? record.early_waits : record.waits);
        (early ? record.early_waited_ms : record.waited_ms) += waited_us_ / 1000;
    }
    const bool tells = report.waited || late_->worth_reporting;
    if (tells && phase_ == Phase::ruled && !decides()) {
        ruled_->post.report(report);
    }
    late_.reset();
    waited_us_ = 0;
}

void Communicator::tell(const TimeReport& report) {
    const bool wanted = runtime().settings.holds_trials();
    if (!wanted || !reports_times(my_rank_, report.shapes.root, ruled_->decider, rank_count())) {
        return;
    }
    if (!decides()) {
        ruled_->post.report(report);
    } else {
        docket_->hear(report);
    }
}

void Communicator::tell_what_was_clocked() {
    for (const TimeReport& report : table_.take_reports()) {
        tell(report);
    }
}

void Communicator::take(const Announcement& announcement) {
    if (announcement.rulings.empty()) {
        return;
    }
    repeated_.forget();
    for (const Ruling& ruling : announcement.rulings) {
        RulingRecord explained;
        explained.settled = ruling.id == 0;
        if (docket_) {
            docket_->explain(ruling, explained);
        }
        table_.take(ruling, announcement.first_call, std::move(explained), ruled_->transport);
    }
    tell_what_was_clocked();
    const std::lock_guard lock(record_->mutex);
    if (record_->first_ruled_call && record_->first_ruled_ms == 0) {
        record_->first_ruled_ms = (now_us() - job_.begun_us()) / 1000;
    }
}

// --- waiting for a ruling inside the call (start=wait, adaptation=every:K) ---------------------------

/// Links are measured and the tree is adapted inside this call.
bool Communicator::checks_in(std::uint64_t call) const {
    return ruled_->synchronous != nullptr &&
           call % static_cast<std::uint64_t>(runtime().settings.adaptation.every) == 0;
}

void Communicator::settle_at_once(const CallShape& shape, std::uint64_t call) {
    std::optional<Topology> measured;
    if (checks_in(call)) {
        measured = ruled_->synchronous->check(record_->adaptation);
    }
    if (decides()) {
        Announcement made;
        made.kind = Announcement::Kind::at_once;
        made.first_call = call;
        if (measured) {
            made.rulings = docket_->use(std::move(*measured), call);
        }
        if (!shape.empty() && !table_.find(shape, call).ruled) {
            made.rulings.push_back(docket_->decide_now(shape, call));
        }
        made.route = docket_->route();
        ruled_->post.send(made);
        take(made);
        return;
    }
    const double begun_us = now_us();
    Patience patience;
    while (!at_once_.contains(call)) {
        listen(call);
        patience.look_again();
        say_if_long(begun_us);
    }
    take(at_once_.extract(call).mapped());
}

// --- beside and while waiting ------------------------------------------------------------------------

// Announcements are passed on also while this rank waits for the data of a call.
void Communicator::progress() {
    constexpr int polls_per_look = 32;
    announce_what_was_deferred();
    if (source_background_ != nullptr) {
        source_background_->progress();
    }
    if (++progress_calls_ % polls_per_look == 0) {
        const bool could_have_waited = operation_->waits_for_first_message();
        listen(could_have_waited ? calls_ - 1 : calls_);
    }
}

void Communicator::say_if_long(double begun_us) {
    if (!said_long_ && now_us() - begun_us > patience_s * 1e6) {
        said_long_ = true;
        std::fprintf(stderr, "%s\n", missing_preload_line(job_.my_rank()).c_str());
    }
}

}  // namespace mutirao::mpi
