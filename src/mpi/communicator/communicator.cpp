#include "mpi/communicator/communicator.h"

#include <algorithm>
#include <span>
#include <utility>

#include "core/text/hash.h"
#include "mpi/communicator/record_text.h"
#include "mpi/executor/patience.h"
#include "mpi/job/watch.h"
#include "mpi/rulings/deciding_thread.h"
#include "mpi/runtime.h"
#include "mpi/stopwatch.h"
#include "mpi/verbose.h"

namespace mutirao::mpi {
namespace {

/// Calls that need no announcement: time for the first one to travel. Those of MPI_COMM_WORLD come before
/// its ranks know each other, unless MPI_Init waits for that.
std::uint64_t free_calls(bool of_world) {
    return runtime().settings.waits_at_start() ? 1 : of_world ? 8 : 4;
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

std::uint64_t identity_of(const Members& members) {
    return fnv1a(std::as_bytes(std::span(members.twin_rank_of)));
}

bool is_between_groups(MPI_Comm comm) {
    int between_groups = 0;
    PMPI_Comm_test_inter(comm, &between_groups);
    return between_groups != 0;
}

}  // namespace

Communicator::Communicator(MPI_Comm comm, Job& job)
    : comm_(comm), job_(job), phase_(Phase::counting), record_(new_record(comm)) {
    remember(record_, comm == MPI_COMM_WORLD);
    PMPI_Comm_rank(comm, &my_rank_);
    surroundings_ = {job.twin(), &job.left_behind(), nullptr, &job};
    if (is_between_groups(comm)) {
        be_native("intercommunicator");
    } else if (record_->ranks == 1) {
        be_native("one rank");
    } else if (comm == MPI_COMM_WORLD) {
        rule(Slot(0), *members_of(comm, job.world_group()), 0, free_calls(true));
    } else {
        next_event_ = runtime().settings.waits_for_ranks() ? 0 : 1;
    }
}

Communicator::~Communicator() {
    record_->calls = calls_;
    give_up();
    end_deciding();
    note_end(*record_);
    if (ruled_ && Job::current() != nullptr) {
        drain(std::move(ruled_));
    }
}

void Communicator::give_up() {
    if (!agreement_) {
        return;
    }
    const bool complete = agreement_->complete();
    std::shared_ptr<void> given_up = agreement_->give_up();
    if (!complete) {
        job_.adopt(agreement_->request(), std::move(given_up));
    }
    agreement_.reset();
}

void Communicator::be_native(std::string reason) {
    phase_ = Phase::native;
    repeated_.forget();
    surroundings_.background = nullptr;
    const std::lock_guard lock(record_->mutex);
    if (is_verbose(2)) {
        say(2, title_of(*record_) + ": left to the MPI library: " + reason);
    }
    record_->native = true;
    record_->reason = std::move(reason);
}

// It is the MPI library's until the next announcement, and nothing of ours goes on inside calls. Who decides must
// have asked for a ruling; the others wait for one.
std::uint64_t* Communicator::repeatable(const CallShape& shape, const RulingTable::Way& way) const {
    const bool settled = (way.ruled || way.asked || !decides()) && way.by.native() && !way.is_clocked();
    const bool alone = source_background_ == nullptr && !runtime().settings.waits_at_start();
    return settled && alone && shape.op.predefined && shape.lengths.empty() ? way.calls : nullptr;
}

Communicator::Turn Communicator::enter_unless_native(const CallShape& shape) {
    const std::uint64_t call = calls_++;
    repeatable_ = nullptr;
    if (source_background_ != nullptr) {
        source_background_->progress();
    }
    if (call >= next_event_) {
        on_event(call);
    }
    if (phase_ != Phase::ruled) {
        return {};
    }
    if (checks_in(call)) {
        settle_at_once(shape, call);
    }
    if (shape.empty()) {
        announce_what_was_deferred();
        return {};
    }
    const RulingTable::Way* way = &ruled_->table.find(shape, call);
    if (!way->ruled && runtime().settings.waits_for_ruling(shape.collective)) {
        settle_at_once(shape, call);
        way = &ruled_->table.find(shape, call);
    } else if (!way->ruled && !way->asked && ruled_->docket) {
        way->asked = true;
        ruled_->docket->want(shape, call);
        DecidingThread::wake();
    }
    if (way->by.execution == nullptr) {
        announce_what_was_deferred();
    }
    if (way->is_clocked()) {
        const RulingTable::ClockedCall clocked = ruled_->table.begin_clocked(*way);
        running_ = clocked.by.execution;
        return {clocked.by, ruled_->slot.of_call(call), clocked.course, now_us()};
    }
    ++*way->calls;
    running_ = way->by.execution;
    repeatable_ = repeatable(shape, *way);
    return {way->by, ruled_->slot.of_call(call)};
}

void Communicator::on_event(std::uint64_t call) {
    record_->calls = call + 1;
    job_.progress();
    drain_all(job_);
    if (phase_ == Phase::counting) {
        agree(call);
    }
    if (phase_ == Phase::ruled) {
        follow(call);
    }
}

// --- agreeing on a slot ----------------------------------------------------------------------------

void Communicator::agree(std::uint64_t call) {
    if (agreement_) {
        take_agreement(call);
    }
    if (phase_ != Phase::counting) {
        return;
    }
    if (agrees_no_more_) {
        return be_native("the program duplicates it without blocking");
    }
    begin_agreement(call);
    if (runtime().settings.waits_for_ranks() && phase_ == Phase::counting) {
        take_agreement(call);
    }
}

void Communicator::begin_agreement(std::uint64_t call) {
    if (!candidates_) {
        candidates_ = members_of(comm_, job_.world_group());
        if (!candidates_) {
            return be_native("with ranks of another MPI_COMM_WORLD");
        }
    }
    const bool introduced = job_.introduced();
    const bool hopeless = introduced && !job_.world().native_reason.empty();
    const std::uint64_t owner = my_rank_ == 0 ? job_.new_owner() : ~std::uint64_t{0};
    agreement_.emplace(comm_, identity_of(*candidates_), job_.slots(), introduced && !hopeless,
                       hopeless, owner);
    next_event_ = 2 * call + 1;
}

void Communicator::take_agreement(std::uint64_t call) {
    const double begun_us = now_us();
    Patience patience;
    while (!agreement_->complete()) {
        patience.rest();
        say_if_long(begun_us);
    }
    const SlotAgreement::Result result = agreement_->result();
    const std::optional<Slot> slot = agreement_->settle();
    agreement_.reset();
    if (result == SlotAgreement::Result::never) {
        job_.wait_for_introductions();
        const std::string& why = job_.world().native_reason;
        be_native(why.empty() ? "something stands against mutirao on another rank" : why);
    } else if (result == SlotAgreement::Result::agreed) {
        if (is_verbose(3)) {
            say(3, title_of(*record_) + ": taken on from call " + std::to_string(call + 1) + " on, in slot " +
                       std::to_string(slot->number()));
        }
        rule(*slot, std::move(*candidates_), call, free_calls(false));
        candidates_.reset();
    }
}

}  // namespace mutirao::mpi
