#include "mpi/communicator/communicator.h"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "core/text/units.h"
#include "mpi/base/environment.h"
#include "mpi/base/runtime.h"
#include "mpi/watch/lookout.h"

namespace mutirao::mpi {
namespace {

/// Calls that need no announcement: time for the first one to travel.
std::uint64_t free_calls(bool tells_in_time) { return tells_in_time || runtime().settings.waits_at_start() ? 1 : 4; }

/// In a call of a communicator whose calls take so long ranks wait once for a vote; after a call that takes so many times
/// as long as the farthest message the next one is ruled.
constexpr double long_call_us = 5e6, trips_of_lasting_calls = 2;

/// Making a private communicator takes so many trips between the farthest hosts each time that the ranks double
/// (docs/results.md), and at least so long.
#if defined(OPEN_MPI)
constexpr double trips_per_round = 2.5;
#else
constexpr double trips_per_round = 2;
#endif
constexpr double least_cost_of_twin_us = 1000;

double trips_of_twin(int ranks) {
    return trips_per_round * std::bit_width(static_cast<unsigned>(ranks - 1));
}

std::shared_ptr<Record> new_record(MPI_Comm comm) {
    auto record = std::make_shared<Record>();
    char name[MPI_MAX_OBJECT_NAME] = {};
    int length = 0;
    PMPI_Comm_get_name(comm, name, &length);
    record->name = name;
    record->ranks = size_of(comm);
    return record;
}

/// A point earlier than if the vote were known. Where the launcher may tell of all ranks that is awaited.
bool introduces_with_first_vote([[maybe_unused]] MPI_Comm comm) {
#if defined(OPEN_MPI)
    return false;
#else
    return comm == MPI_COMM_WORLD && !runtime().settings.waits_for_ranks();
#endif
}

/// Until the first point.
std::int64_t first_units() {
    const Settings& settings = runtime().settings;
    return settings.waits_for_ranks() ? 0 : settings.start == Start::soon ? 1 : Points::usual_first_units;
}

bool is_within_world(MPI_Comm comm) { return holds(Group(MPI_COMM_WORLD), Group(comm)); }

bool is_between_groups(MPI_Comm comm) {
    int between_groups = 0;
    PMPI_Comm_test_inter(comm, &between_groups);
    return between_groups != 0;
}

/// Waits before this epoch belong to the start.
constexpr std::uint32_t settled_epoch = 16;

bool is_synchronous() {
    return runtime().settings.adaptation.mode == Adaptation::Mode::synchronous;
}

std::string mode_of(bool watched) {
    const Adaptation& adaptation = runtime().settings.adaptation;
    if (is_synchronous()) return "every:" + std::to_string(adaptation.every);
    const bool in_band = runtime().settings.agent == AgentPlace::in_band;
    if (adaptation.mode == Adaptation::Mode::off || (!watched && !in_band)) {
        return "off";
    }
    return in_band ? "in-band" : "auto";
}

}  // namespace

Communicator::Communicator(MPI_Comm comm, Job& job)
    : comm_(comm), job_(job), phase_(Phase::counting), begun_us_(now_us()), record_(new_record(comm)),
      table_(*members_, *record_, !runtime().settings.waits_at_start()),
      points_(first_units(), runtime().settings.start != Start::soon, runtime().settings.waits_for_ranks()) {
    remember(record_, comm == MPI_COMM_WORLD);
    my_rank_ = members_->my_rank = rank_in(comm);
    left_ = first_units();
    if (is_between_groups(comm)) {
        be_native("intercommunicator");
    } else if (record_->ranks == 1) {
        be_native("one rank");
    } else if (runtime().settings.enabled) {
        job_.ask_launcher();
    }
}

Communicator::~Communicator() {
    record_->calls = calls_;
    give_up();
    if (docket_) {
        docket_->end(table_.calls_made(), now_us() - job_.begun_us());
    }
    note_end(*record_);
    if (ruled_) {
        ruled_->twin->slots().give_back(ruled_->slot.number());
    }
}

void Communicator::give_up() {
    for (Pending* const each : under_way()) {
        job_.adopt(*each);
    }
    vote_.reset();
    introducing_.reset();
    if (ruled_) {
        ruled_->post.leave_sends_to(ruled_->twin->left_behind());
    }
    job_.complete_on(comm_);
}

void Communicator::be_native(std::string reason) {
    phase_ = Phase::native;
    meeting_.reset();
    repeated_.forget();
    surroundings_.background = nullptr;
    const std::lock_guard lock(record_->mutex);
    say(2, title_of(*record_) + ": left to the MPI library: " + reason);
    record_->native = true;
    record_->reason = std::move(reason);
}

// It is the MPI library's until the next announcement or point, and nothing of ours goes on inside calls. Who decides
// must have asked for a ruling; the others wait for one.
RepeatedCalls::Counted Communicator::repeatable(const CallShape& shape, const RulingTable::Way& way) const {
    const bool settled = way.by.native() && (way.ruled || way.is_asked_for() || !docket_) && !way.is_clocked();
    if (!settled || source_background_ != nullptr || runtime().settings.waits_at_start()) {
        return {};
    }
    const bool by_lengths = !shape.lengths.empty() && row_of(shape.collective).in_blocks != InBlocks::own;
    if (!shape.op.predefined || by_lengths) {
        return {};
    }
    if (phase_ != Phase::counting) {
        return {way.calls};
    }
    return {way.calls, Points::units_of(shape, record_->ranks), points_.most_late_units(shape)};
}

Communicator::Turn Communicator::enter(const CallShape& shape) {
    const std::uint64_t call = calls_++;
    repeatable_ = {};
    if (source_background_ != nullptr) {
        source_background_->progress();
    }
    const bool is_typical = phase_ != Phase::counting || count(shape, call);
    if (phase_ == Phase::ruled && call >= next_event_) {
        go_on_with_the_rest(call);
        follow(call);
    }
    if (phase_ == Phase::native) {
        return {};
    }
    if (phase_ == Phase::ruled) {
        left_ = static_cast<std::int64_t>(next_event_ - calls_);
        if (checks_in(call)) {
            settle_at_once(shape, call);
        }
    }
    if (shape.empty()) {
        send_what_was_deferred();
        return {};
    }
    const RulingTable::Way* way = &table_.find(shape, call);
    if (!way->ruled) {
        if (phase_ == Phase::ruled && runtime().settings.waits_for_ruling(shape.collective)) {
            settle_at_once(shape, call);
            way = &table_.find(shape, call);
        } else if (docket_ && table_.asks_for(*way)) {
            docket_->want(shape, call);
            DecidingThread::wake();
        }
    }
    if (way->by.plan == nullptr) {
        send_what_was_deferred();
    }
    const int tag = phase_ == Phase::ruled ? ruled_->slot.of_call(call) : 0;
    if (way->is_clocked() && is_typical) {
        Course* const course = way->course;
        return {table_.begin_clocked(*way), tag, course, now_us()};
    }
    count_up(*way->calls);
    repeatable_ = repeatable(shape, *way);
    return {way->by, tag};
}

Outcome Communicator::run(const Turn& turn, const CallOnComm& call) {
    if (turn.by.composition != nullptr) return turn.by.composition(call);
    int error = operation_->memory(call.quiet).lay_out(call.binding);
    if (error == MPI_SUCCESS) error = operation_->run(*turn.by.plan, turn.tag, surroundings_);
    if (error == MPI_SUCCESS && call.binding.truncated) error = MPI_ERR_TRUNCATE;
    return {error, error != MPI_SUCCESS};
}

// What other communicators have left to be done, and what the report tells meanwhile.
void Communicator::go_on_with_the_rest(std::uint64_t call) {
    {
        const std::lock_guard lock(record_->mutex);
        record_->calls = call + 1;
    }
    job_.progress();
}

// --- counting --------------------------------------------------------------------------------------

// At a point who follows a root has waited for it before the call, and not in it as usual: a short one looks shorter.
bool Communicator::count(const CallShape& shape, std::uint64_t call) {
    const bool at_point = points_.lies_in(shape, left_, record_->ranks);
    if (at_point) {
        left_ = points_.next(left_);
        repeated_.forget();  // points lie otherwise from here on
        look_around(shape, call);
        const bool in_time = calls_last_ && !Points::follows_root(shape.collective);
        if (vote_ && (in_time || runtime().settings.waits_for_ranks())) {
            wait_in_call(vote_->pending());  // instead of at the next point
            take_vote(call);
        }
    }
    const std::int64_t units = Points::units_of(shape, record_->ranks);
    left_ -= units;
    return !at_point || units > 1 || !Points::follows_root(shape.collective);
}

// What was begun at a point before is completed, and what follows from that is begun.
void Communicator::look_around(const CallShape& shape, std::uint64_t call) {
    go_on_with_the_rest(call);
    if (agrees_no_more_) {
        return be_native("the program duplicates it without blocking");
    }
    if (!is_within_world(comm_)) {
        return be_native("with ranks of another MPI_COMM_WORLD");
    }
    if (!may_go_on(shape)) {
        return;
    }
    const bool introduced = introducing_.has_value();
    if (vote_) {
        take_vote(call);
    }
    if (introduced && phase_ == Phase::counting) {
        meet();
    }
    const bool knows_more_soon = introduced && calls_last_;
    if (phase_ == Phase::counting && under_way().empty() && !knows_more_soon) {
        vote();
    }
}

void Communicator::wait_in_call(Pending& pending) {
    const Stopwatch stopwatch;
    pending.wait();
    job_.waited_in_call(stopwatch.elapsed_ms());
}

std::vector<Pending*> Communicator::under_way() {
    std::vector<Pending*> all;
    if (vote_) {
        all.push_back(&vote_->pending());
    }
    if (introducing_) {
        all.push_back(&introducing_->pending());
    }
    return all;
}

// The same on all ranks. A root must not wait for who follows it, however far behind; it tells them, and they wait for
// its next message anyway. That it runs ahead may be all that the program does, and shows in nothing but the time.
bool Communicator::may_go_on(const CallShape& shape) {
    const Settings& settings = runtime().settings;
    const std::vector<Pending*> pending = under_way();
    if (Points::follows_root(shape.collective) && !settings.waits_for_ranks()) {
        const bool may = pending.empty() ? settings.start == Start::soon || job_.has_lasted()
                                         : std::ranges::all_of(pending, &Pending::complete);
        if (!tell_or_hear(may, shape.root)) {
            return false;
        }
    }
    for (Pending* const each : pending) {
        wait_in_call(*each);
    }
    return true;
}

// What the root says. Nonblocking, since a rank without mutirao must not take it for the program's own broadcast.
bool Communicator::tell_or_hear(bool yes, int root) {
    const auto said = std::make_shared<int>(yes ? 1 : 0);
    MPI_Request request = MPI_REQUEST_NULL;
    PMPI_Ibcast(said.get(), 1, MPI_INT, root, comm_, &request);
    Pending pending(comm_, request, said);
    if (my_rank_ == root) {
        job_.adopt(pending);
    } else {
        pending.wait();
    }
    return *said != 0;
}

void Communicator::vote() {
    const Group group(comm_);
    Vote::Opinion mine;
    mine.say(Vote::waits_for_launcher, job_.meets_by_launcher());
    mine.number = job_.new_number();
    mine.peers = job_.peers_of(group);
    mine.twin = job_.twin_of(group);
    if (mine.peers) {
        meeting_.reset();
    }
    mine.say(Vote::meets, mine.peers || would_meet());
    mine.say(Vote::willing, mine.twin || (mine.peers ? job_.has_room_for_twin() : job_.has_room_for_peers()));
    mine.say(Vote::pays, my_rank_ != 0 || (mine.peers && !mine.twin && would_pay(mine.peers)));
    const double us_per_call = us_per_native_call();
    const std::optional<double> farthest_us = docket_ ? docket_->farthest_us() : std::nullopt;
    mine.say(Vote::calls_last, us_per_call > long_call_us && !(my_rank_ == 0 && farthest_us));
    mine.say(Vote::tells_in_time,
             my_rank_ != 0 || (farthest_us && us_per_call > trips_of_lasting_calls * *farthest_us));
    vote_.emplace(comm_, mine);
    if (!std::exchange(has_voted_, true) && introduces_with_first_vote(comm_)) {
        introducing_.emplace(comm_, job_);
    }
}

/// 0: not known.
double Communicator::us_per_native_call() const {
    double calls = 0, sum_us = 0;
    for (const Decider::NativeTime& each : table_.native_times()) {
        calls += static_cast<double>(each.calls);
        sum_us += static_cast<double>(each.calls) * each.time_us;
    }
    return calls > 0 ? sum_us / calls : 0;
}

// Where ranks compute on several communicators at a time, one set of agents serves all. The others may never be called
// again.
bool Communicator::would_meet() {
    constexpr int most_given_way = 2;
    if (!meeting_) {
        meeting_ = job_.begin_meeting(comm_);
    }
    return meeting_ || ++gave_way_ > most_given_way;
}

void Communicator::take_vote(std::uint64_t call) {
    const Vote said = *std::exchange(vote_, std::nullopt);
    calls_last_ = said.all_say(Vote::calls_last);
    if (const std::string obstacle = said.obstacle(); !obstacle.empty()) {
        if (said.is_at_odds() && !said.all_know_each_other() && my_rank_ == 0 && comm_ == MPI_COMM_WORLD) {
            std::fprintf(stderr, "mutirao: %s; the MPI library takes all calls\n", obstacle.c_str());
        }
        return be_native(obstacle);
    }
    if (said.all_know_each_other()) {
        const World ranks = members_of(comm_, said.peers()->group(), said.peers()->world());
        note_hosts(ranks);
        const std::string obstacle = ranks.native_reason.empty() ? nothing_to_choose(ranks) : ranks.native_reason;
        if (!obstacle.empty()) {
            return be_native(obstacle);
        }
    }
    const std::uint64_t calls_without = free_calls(said.all_say(Vote::tells_in_time));
    if (said.all_have_twin()) {
        if (const std::optional<Slot> slot = said.settle()) {
            rule(said.twin(), *slot, call, calls_without);
        }
    } else if (said.all_know_each_other() && said.all_say(Vote::pays)) {
        const std::shared_ptr<Twin> twin = job_.make_twin(comm_, said.peers(), said.number());
        if (!twin) {
            return be_native("the MPI library makes no more communicators");
        }
        rule(twin, Slot(0), call, calls_without);
    } else if (!introducing_ && !said.all_know_each_other() && said.all_say(Vote::meets) &&
               !said.all_say(Vote::waits_for_launcher)) {
        introducing_.emplace(comm_, job_);
    }
}

void Communicator::meet() {
    const std::shared_ptr<Peers> peers = introducing_->take();
    job_.add(peers);
    introducing_.reset();
    meeting_.reset();
    if (my_rank_ == 0) {
        weigh(peers);
    }
}

void Communicator::note_hosts(const World& ranks) {
    const std::lock_guard lock(record_->mutex);
    record_->hosts = ranks.host_count();
    record_->host_names = ranks.host_names;
    record_->host_names.resize(static_cast<std::size_t>(std::min(ranks.host_count(), World::most_hosts)));
}

// Rank 0's. It takes a while until it is known what would pay.
void Communicator::weigh(const std::shared_ptr<Peers>& peers) {
    if (docket_ || runtime().settings.agent == AgentPlace::in_band) {
        return;
    }
    start_deciding(members_of(comm_, peers->group(), peers->world()), peers->source(), peers->ledger_of(comm_));
    docket_peers_ = peers;
}

// Rank 0's. Agents inform and never agree: what another host knows no rank must wait for.
bool Communicator::would_pay(const std::shared_ptr<Peers>& peers) {
    const Settings& settings = runtime().settings;
    if (settings.agent == AgentPlace::in_band && settings.start != Start::soon) {
        return points_.units() >= static_cast<std::int64_t>(10 * trips_of_twin(record_->ranks));
    }
    weigh(peers);
    if (settings.start == Start::soon || settings.forces_anything()) {
        return true;
    }
    const std::optional<double> farthest_us = docket_->farthest_us();
    if (!farthest_us) {
        return false;
    }
    Investment twin = docket_->investment(table_.native_times());
    twin.cost_us = std::max(trips_of_twin(record_->ranks) * *farthest_us, least_cost_of_twin_us);
    twin.ran_us = now_us() - job_.begun_us();
    const std::lock_guard lock(record_->mutex);
    record_->reason = "to set others up takes " + short_duration(twin.cost_us) + ", and in " +
                      short_duration(twin.ran_us) + " " + short_duration(twin.gain_us) + " were to be won";
    if (twin.before) {
        record_->reason += "; an earlier run took " + short_duration(twin.before->length_s * 1e6);
    }
    return pays(twin);
}

// --- how it is ruled: its hosts, the announcements that it makes, hears and waits for ------------------

Communicator::Ruled::Ruled(std::shared_ptr<Twin> its_twin, Slot its_slot, std::shared_ptr<const Members> all,
                           std::uint64_t first_call, std::uint64_t calls_without, double us_per_call)
    : twin(std::move(its_twin)),
      slot(its_slot),
      members(std::move(all)),
      post(twin->comm(), slot, *members, choose_decider(*members, twin->world())),
      follower(first_call, calls_without),
      connections(twin, slot.connections()),
      transport(transport_of(runtime().settings, twin->world().sockets)) {
    if (members->my_rank == post.decider()) {
        epochs.emplace(first_call, calls_without, us_per_call);
    }
    if (is_synchronous()) {
        synchronous = std::make_unique<SynchronousAdaptation>(twin->comm(), slot.synchronous(), slot.owner(),
                                                              *members, runtime().settings);
    }
}

void Communicator::rule(const std::shared_ptr<Twin>& twin, Slot slot, std::uint64_t first_call,
                        std::uint64_t calls_without) {
    phase_ = Phase::ruled;
    next_event_ = first_call;
    repeated_.forget();
    *members_ = members_of(comm_, twin->group(), twin->world());
    const double us_per_call =
        first_call == 0 ? 0 : (now_us() - job_.begun_us()) / static_cast<double>(first_call);
    ruled_ = std::make_unique<Ruled>(twin, slot, members_, first_call, calls_without, us_per_call);
    table_.connect_by(ruled_->connections);
    operation_ = std::make_unique<Operation>();
    surroundings_ = {twin->comm(), &twin->left_behind(), this};
    if (twin->source()) {
        source_background_ = twin->source()->background();
    }
    note_hosts(*members_);
    {
        const std::lock_guard lock(record_->mutex);
        record_->ruled = true;
        record_->adaptation.mode = mode_of(twin->source() != nullptr);
        record_->reason = twin->peers()->world().host_count() == 1 ? "one host"
                          : twin->world().has_daemons              ? "network known to the hosts' agents"
                                                                   : "network measured";
    }
    say(3, title_of(*record_) + ": taken on from call " + std::to_string(first_call + 1) + " on, in slot " +
               std::to_string(slot.number()));
    if (!decides() || docket_peers_ != twin->peers()) {
        docket_.reset();  // others may number hosts otherwise
    }
    if (decides() && !docket_) {
        start_deciding(*members_, twin->source(), twin->peers()->ledger_of(comm_));
    }
    if (docket_) {
        docket_->begin_handling();
    }
    tell_what_was_clocked();
}

void Communicator::start_deciding(World ranks, std::shared_ptr<NetworkSource> source, std::shared_ptr<Ledger> ledger) {
    repeated_.forget();
    table_.ask_anew();
    docket_ = std::make_shared<Docket>(Docket::Subject{.ranks = std::move(ranks),
                                                       .source = std::move(source),
                                                       .mpi_library = library_version(),
                                                       .record = record_,
                                                       .ledger = std::move(ledger),
                                                       .began_us = begun_us_});
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
        listen(call, true);
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

void Communicator::send_what_was_deferred() {
    const std::optional<std::uint64_t> call = std::exchange(to_announce_in_, std::nullopt);
    if (phase_ != Phase::ruled) {
        return;
    }
    if (call) {
        announce(*call);
    }
    ruled_->post.pass_on_what_was_left();
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

void Communicator::listen(std::uint64_t next_call, bool before_sending) {
    for (Announcement& heard : ruled_->post.receive(before_sending ? std::optional(next_call) : std::nullopt)) {
        if (heard.kind == Announcement::Kind::epoch) {
            hear(std::move(heard), next_call);
        } else {
            at_once_.emplace(heard.first_call, heard);
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
        late_ = {report, worth_reporting};  // the call shows whether that did any harm
    } else if (worth_reporting) {
        ruled_->post.report(report);
    }
    ruled_->follower.hear(std::move(heard));
}

void Communicator::wait_for_epoch(std::uint64_t call) {
    const double begun_us = now_us();
    std::optional<double> message_came_us;
    Patience patience;
    waiting_ = true;
    while (phase_ == Phase::ruled && !ruled_->follower.knows_next()) {
        listen(call);
        if (!message_came_us && has_message_of(call)) {
            message_came_us = now_us();
        }
        if (source_background_ != nullptr) {
            source_background_->progress();
        }
        patience.rest();
        say_if_long(begun_us);
    }
    waiting_ = false;
    const double ended_us = now_us();
    waited_us_ += ended_us - begun_us;
    message_waited_us_ += ended_us - message_came_us.value_or(ended_us);
}

bool Communicator::has_message_of(std::uint64_t call) const {
    int there = 0;
    const int error = PMPI_Iprobe(MPI_ANY_SOURCE, ruled_->slot.of_call(call), ruled_->twin->comm(), &there, MPI_STATUS_IGNORE);
    return error == MPI_SUCCESS && there != 0;
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

// What waiting for an announcement cost: of a rank that begins with a message of another, since one of the call was there;
// of the root, all of it. What the MPI library was doing meanwhile nobody knows; where it is only on probe, the other calls tell.
double Communicator::held_up_us(const Turn& turn) const {
    if (turn.by.plan == nullptr) {
        return turn.course != nullptr && turn.course->probes() ? 0 : waited_us_;
    }
    const std::span<const Plan::Step> steps = turn.by.plan->steps();
    const bool receives_first = !steps.empty() && steps.front().kind == StepKind::receive;
    return receives_first ? message_waited_us_ : waited_us_;
}

void Communicator::leave(const Turn& turn) {
    if (late_) {
        note_late(held_up_us(turn));
    }
    waited_us_ = message_waited_us_ = 0;
    if (turn.by.plan != nullptr) {
        end_operation();
    }
    send_what_was_deferred();
    if (turn.course != nullptr && turn.course->add(turn.begun_us, now_us()) && phase_ == Phase::ruled) {
        tell(turn.course->take_report());
    }
    if (phase_ == Phase::ruled) {
        ruled_->post.send_reports();
    }
}

// What lets the root begin may be ahead of an announcement by a moment.
void Communicator::note_late(double held_up_us) {
    constexpr double harmless_us = 1000;
    auto [report, worth_reporting] = *std::exchange(late_, std::nullopt);
    report.waited = held_up_us > harmless_us;
    if (report.waited) {
        const std::lock_guard lock(record_->mutex);
        AdaptationRecord& record = record_->adaptation;
        const bool early = report.number <= settled_epoch;
        ++(early ? record.early_waits : record.waits);
        (early ? record.early_waited_ms : record.waited_ms) += held_up_us / 1000;
    }
    if (phase_ == Phase::ruled && (report.waited || worth_reporting)) {
        ruled_->post.report(report);
    }
}

void Communicator::tell(const TimeReport& report) {
    const bool wanted = runtime().settings.holds_trials();
    if (!wanted || !reports_times(my_rank_, report.shapes.root, ruled_->post.decider(), rank_count())) {
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
        const Stopwatch stopwatch;
        measured = ruled_->synchronous->check();
        record_->adaptation.checked(stopwatch.elapsed_ms());
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

// Announcements are passed on also while this rank waits for the data of a call. What only later calls need goes behind
// all that it sends: after a pause a connection lets ten packets through, and a share may have been cut to fit these.
void Communicator::progress() {
    constexpr int polls_per_look = 32;
    const bool sends_more = !operation_->has_begun_all_sends();
    if (!sends_more) {
        send_what_was_deferred();
    }
    if (source_background_ != nullptr) {
        source_background_->progress();
    }
    if (++progress_calls_ % polls_per_look == 0) {
        const bool could_have_waited = operation_->waits_for_first_message();
        listen(could_have_waited ? calls_ - 1 : calls_, sends_more);
    }
}

// --- how it is found -------------------------------------------------------------------------------------

namespace {

// Communicators that are never freed by the program, such as MPI_COMM_WORLD, still live when
// MPI_Finalize begins.
struct Living {
    std::mutex mutex;
    std::unordered_map<Communicator*, std::unique_ptr<Communicator>> all;
};

Living& living() {
    static auto* const only = new Living;
    return *only;
}

int delete_communicator(MPI_Comm, int, void* attribute, void*) {
    auto* const communicator = static_cast<Communicator*>(attribute);
    ++RecentCommunicator::current;
    decltype(Living::all)::node_type freed;  // ends without the lock
    const std::lock_guard lock(living().mutex);
    freed = living().all.extract(communicator);
    return MPI_SUCCESS;
}

int communicator_key() {
    static const int key = [] {
        int made = MPI_KEYVAL_INVALID;
        PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete_communicator, &made, nullptr);
        return made;
    }();
    return key;
}

/// Nothing where the program has freed `comm`; null where there was no call on it yet.
std::optional<Communicator*> find_attribute(MPI_Comm comm) {
    void* attribute = nullptr;
    int found = 0;
    if (PMPI_Comm_get_attr(comm, communicator_key(), &attribute, &found) != MPI_SUCCESS) return std::nullopt;
    return found != 0 ? static_cast<Communicator*>(attribute) : nullptr;
}

Communicator* look_up(MPI_Comm comm, Job& job) {
    const std::optional<Communicator*> known = find_attribute(comm);
    if (!known || *known != nullptr) {
        return known.value_or(nullptr);
    }
    auto made = std::make_unique<Communicator>(comm, job);
    Communicator* const communicator = made.get();
    {
        const std::lock_guard lock(living().mutex);
        living().all.emplace(communicator, std::move(made));
    }
    PMPI_Comm_set_attr(comm, communicator_key(), communicator);
    return communicator;
}

}  // namespace

constinit thread_local RecentCommunicator RecentCommunicator::places[place_count]
    __attribute__((tls_model("initial-exec"))) = {};

Communicator* communicator_of(MPI_Comm comm, Job& job) {
    RecentCommunicator* recent = RecentCommunicator::find(comm);
    if (recent == nullptr) {
        const std::uint64_t now = RecentCommunicator::current.load(std::memory_order_relaxed);
        Communicator* const found = look_up(comm, job);
        if (found == nullptr) {
            return nullptr;
        }
        recent = &RecentCommunicator::add({comm, found, now, false});
    }
    recent->native = recent->communicator->is_native();
    return recent->communicator;
}

void free_communicator(MPI_Comm comm) {
    if (Communicator* const known = find_attribute(comm).value_or(nullptr)) {
        known->give_up();
    }
}

void end_communicators() {
    ++RecentCommunicator::current;
    std::unordered_map<Communicator*, std::unique_ptr<Communicator>> ending;
    {
        // Without the lock from here on: MPICH calls delete_communicator() when the last request on a
        // freed communicator completes, which may be one that its end looks at.
        const std::lock_guard lock(living().mutex);
        ending.swap(living().all);
    }
    ending.clear();
}

}  // namespace mutirao::mpi
