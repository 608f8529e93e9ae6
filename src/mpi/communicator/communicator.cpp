#include "mpi/communicator/communicator.h"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <utility>

#include "core/text/milliseconds.h"
#include "mpi/communicator/record_text.h"
#include "mpi/communicator/roles.h"
#include "mpi/executor/patience.h"
#include "mpi/job/modex.h"
#include "mpi/job/watch.h"
#include "mpi/rulings/deciding_thread.h"
#include "mpi/runtime.h"
#include "mpi/stopwatch.h"
#include "mpi/verbose.h"

namespace mutirao::mpi {
namespace {

/// Calls that need no announcement: time for the first one to travel.
std::uint64_t free_calls() { return runtime().settings.waits_at_start() ? 1 : 4; }

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
    PMPI_Comm_size(comm, &record->ranks);
    return record;
}

/// Until the first point.
std::int64_t first_units() {
    const Settings& settings = runtime().settings;
    return settings.waits_for_ranks() ? 0 : settings.start == Start::soon ? 1 : Points::usual_first_units;
}

bool is_within_world(MPI_Comm comm) {
    MPI_Group world = MPI_GROUP_NULL;
    PMPI_Comm_group(MPI_COMM_WORLD, &world);
    const bool within = members_of(comm, world).has_value();
    PMPI_Group_free(&world);
    return within;
}

bool is_between_groups(MPI_Comm comm) {
    int between_groups = 0;
    PMPI_Comm_test_inter(comm, &between_groups);
    return between_groups != 0;
}

}  // namespace

Communicator::Communicator(MPI_Comm comm, Job& job)
    : comm_(comm), job_(job), phase_(Phase::counting), record_(new_record(comm)),
      table_(*members_, *record_, !runtime().settings.waits_at_start()), points_(first_units(), runtime().settings.start != Start::soon) {
    remember(record_, comm == MPI_COMM_WORLD);
    PMPI_Comm_rank(comm, &my_rank_);
    members_->my_rank = my_rank_;
    left_ = first_units();
    if (is_between_groups(comm)) {
        be_native("intercommunicator");
    } else if (record_->ranks == 1) {
        be_native("one rank");
    } else if (runtime().settings.enabled) {
        fetch_modex_ahead();
    }
}

Communicator::~Communicator() {
    record_->calls = calls_;
    give_up();
    if (docket_) {
        docket_->end(table_.calls_made(), now_us() - job_.begun_us());
    }
    note_end(*record_);
    if (ruled_ && Job::current() != nullptr) {
        const bool decides = this->decides();
        if (docket_) {
            ruled_->last_route = docket_->route();
        }
        drain(std::move(ruled_), decides);
    }
}

void Communicator::give_up() {
    if (Pending* const pending = under_way()) {
        job_.adopt(*pending);
    }
    vote_.reset();
    introducing_.reset();
    job_.complete_on(comm_);
}

void Communicator::be_native(std::string reason) {
    phase_ = Phase::native;
    meeting_.reset();
    repeated_.forget();
    surroundings_.background = nullptr;
    const std::lock_guard lock(record_->mutex);
    if (is_verbose(2)) {
        say(2, title_of(*record_) + ": left to the MPI library: " + reason);
    }
    record_->native = true;
    record_->reason = std::move(reason);
}

// It is the MPI library's until the next announcement or point, and nothing of ours goes on inside calls. Who decides
// must have asked for a ruling; the others wait for one.
RepeatedCalls::Counted Communicator::repeatable(const CallShape& shape, const RulingTable::Way& way) const {
    const bool settled = (way.ruled || way.asked || !docket_) && way.by.native() && !way.is_clocked();
    const bool alone = source_background_ == nullptr && !runtime().settings.waits_at_start();
    const bool by_lengths = !shape.lengths.empty() && row_of(shape.collective).in_blocks != InBlocks::own;
    if (!settled || !alone || !shape.op.predefined || by_lengths) {
        return {};
    }
    return {way.calls, phase_ == Phase::counting ? Points::units_of(shape) : 1};
}

Communicator::Turn Communicator::enter_unless_native(const CallShape& shape) {
    const std::uint64_t call = calls_++;
    repeatable_ = {};
    if (source_background_ != nullptr) {
        source_background_->progress();
    }
    if (phase_ == Phase::counting) {
        count(shape, call);
    }
    if (phase_ == Phase::ruled && call >= next_event_) {
        on_event(call);
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
        announce_what_was_deferred();
        return {};
    }
    const RulingTable::Way* way = &table_.find(shape, call);
    if (phase_ == Phase::ruled && !way->ruled && runtime().settings.waits_for_ruling(shape.collective)) {
        settle_at_once(shape, call);
        way = &table_.find(shape, call);
    } else if (docket_ && table_.asks_for(*way)) {
        docket_->want(shape, call);
        DecidingThread::wake();
    }
    if (way->by.plan == nullptr) {
        announce_what_was_deferred();
    }
    const int tag = phase_ == Phase::ruled ? ruled_->slot.of_call(call) : 0;
    if (way->is_clocked()) {
        const RulingTable::ClockedCall clocked = table_.begin_clocked(*way);
        return {clocked.by, tag, clocked.course, now_us()};
    }
    count_up(*way->calls);
    repeatable_ = repeatable(shape, *way);
    return {way->by, tag};
}

void Communicator::on_event(std::uint64_t call) {
    {
        const std::lock_guard lock(record_->mutex);
        record_->calls = call + 1;
    }
    job_.progress();
    drain_all();
    follow(call);
}

// --- counting --------------------------------------------------------------------------------------

void Communicator::count(const CallShape& shape, std::uint64_t call) {
    const bool waits = runtime().settings.waits_for_ranks();
    if (waits ? left_ <= 0 : points_.lies_in(shape, left_)) {
        left_ = points_.next(left_);
        look_around(shape, call);
        if (waits && vote_) {
            wait_for(vote_->pending());
            take_vote(call);
        }
    }
    left_ -= Points::units_of(shape);
}

// What was begun at a point before is completed, and what follows from that is begun.
void Communicator::look_around(const CallShape& shape, std::uint64_t call) {
    {
        const std::lock_guard lock(record_->mutex);
        record_->calls = call + 1;
    }
    job_.progress();
    drain_all();
    if (agrees_no_more_) {
        return be_native("the program duplicates it without blocking");
    }
    if (!is_within_world(comm_)) {
        return be_native("with ranks of another MPI_COMM_WORLD");
    }
    if (!may_go_on(shape)) {
        return;
    }
    if (introducing_) {
        meet();
    } else if (vote_) {
        take_vote(call);
    }
    if (phase_ == Phase::counting && under_way() == nullptr) {
        vote();
    }
}

void Communicator::wait_for(Pending& pending) {
    const double begun_us = now_us();
    for (Patience patience; !pending.complete();) {
        patience.rest();
        say_if_long(begun_us);
    }
}

Pending* Communicator::under_way() {
    return vote_ ? &vote_->pending() : introducing_ ? &introducing_->pending() : nullptr;
}

// The same on all ranks. A root must not wait for who follows it, however far behind; it tells them, and they wait for
// its next message anyway. That it runs ahead may be all that the program does, and shows in nothing but the time.
bool Communicator::may_go_on(const CallShape& shape) {
    const Settings& settings = runtime().settings;
    Pending* const pending = under_way();
    if (Points::follows_root(shape.collective) && !settings.waits_for_ranks()) {
        const bool may = pending != nullptr ? pending->complete() : settings.start == Start::soon || job_.has_lasted();
        if (!tell_or_hear(may, shape.root)) {
            return false;
        }
    }
    if (pending != nullptr) {
        const Stopwatch stopwatch;
        wait_for(*pending);
        job_.waited_in_call(stopwatch.elapsed_ms());
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
        wait_for(pending);
    }
    return *said != 0;
}

void Communicator::vote() {
    MPI_Group group = MPI_GROUP_NULL;
    PMPI_Comm_group(comm_, &group);
    Vote::Opinion mine;
    mine.peers = job_.peers_of(group);
    mine.twin = job_.twin_of(group);
    mine.meets = mine.peers || would_meet(group);
    PMPI_Group_free(&group);
    mine.willing = mine.twin || (mine.peers ? job_.has_room_for_twin() : job_.has_room_for_peers());
    mine.pays = my_rank_ != 0 || (mine.peers && !mine.twin && would_pay(mine.peers));
    vote_.emplace(comm_, mine);
}

// Where ranks compute on several communicators at a time, one set of agents serves all. The others may never be called
// again.
bool Communicator::would_meet(MPI_Group group) {
    constexpr int most_given_way = 2;
    if (!meeting_) {
        meeting_ = job_.begin_meeting(group);
    }
    return meeting_ || ++gave_way_ > most_given_way;
}

void Communicator::take_vote(std::uint64_t call) {
    const Vote said = *std::exchange(vote_, std::nullopt);
    if (const std::string obstacle = said.obstacle(); !obstacle.empty()) {
        if (said.is_at_odds() && !said.knows() && my_rank_ == 0 && comm_ == MPI_COMM_WORLD) {
            std::fprintf(stderr, "mutirao: %s; the MPI library takes all calls\n", obstacle.c_str());
        }
        return be_native(obstacle);
    }
    if (said.knows()) {
        const World& world = said.peers()->world();
        const Members members = placed_among(*said.peers());
        note_hosts(members, world);
        const std::string obstacle = world.native_reason.empty()
                                         ? nothing_to_choose(members, world)
                                         : world.native_reason;
        if (!obstacle.empty()) {
            return be_native(obstacle);
        }
    }
    if (said.has_twin()) {
        if (const std::optional<Slot> slot = said.settle()) {
            rule(said.twin(), *slot, call, free_calls());
        }
    } else if (said.knows() && said.pays()) {
        const std::shared_ptr<Twin> twin = job_.make_twin(comm_, said.peers());
        if (!twin) {
            return be_native("the MPI library makes no more communicators");
        }
        rule(twin, Slot(0), call, free_calls());
    } else if (!said.knows() && said.meets()) {
        introducing_.emplace(comm_);
    }
}

void Communicator::meet() {
    job_.add(introducing_->take());
    introducing_.reset();
    meeting_.reset();
}

void Communicator::note_hosts(const Members& members, const World& world) {
    const std::lock_guard lock(record_->mutex);
    record_->hosts = members.host_count();
    record_->host_names = host_names(members, world);
}

Members Communicator::placed_among(const Peers& peers) const {
    Members members = *members_of(comm_, peers.group());
    members.place(peers.world());
    return members;
}

// Rank 0's. Agents inform and never agree: what another host knows no rank must wait for.
bool Communicator::would_pay(const std::shared_ptr<Peers>& peers) {
    const Settings& settings = runtime().settings;
    if (settings.agent == AgentPlace::in_band && settings.start != Start::soon) {
        return points_.units() >= static_cast<std::int64_t>(10 * trips_of_twin(record_->ranks));
    }
    if (!docket_ && settings.agent != AgentPlace::in_band) {
        start_deciding(placed_among(*peers), peers->world(), peers->lookout(), peers->ledger_of(comm_));
        docket_peers_ = peers;
    }
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

}  // namespace mutirao::mpi
