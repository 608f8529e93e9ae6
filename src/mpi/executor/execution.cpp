#include "mpi/executor/execution.h"

#include <algorithm>
#include <compare>
#include <cstring>
#include <limits>
#include <map>
#include <set>

#include "core/schedule/connections.h"

namespace mutirao::mpi {
namespace {

/// What must be complete before a step: bit n stands for the n-th message of those awaited.
using Messages = std::uint64_t;
constexpr std::size_t most_messages = 64;

bool are_the_first(Messages needed) { return (needed & (needed + 1)) == 0; }

}  // namespace

Plan::Plan(const Schedule& schedule, const Transport& transport, const Members& members, bool lengths_are_room)
    : scratch_bytes_(schedule.scratch_bytes()), lengths_are_room_(lengths_are_room) {
    add_steps(schedule,
              detached_sends(schedule, transport, *members.placement, members.my_rank),
              members.twin_rank_of);
    std::vector<std::vector<StepId>> dependents(steps_.size());
    StepId id = 0;
    for (const mutirao::Step& step : schedule.steps()) {
        for (const StepId before : schedule.dependencies(step)) {
            dependents[static_cast<std::size_t>(before)].push_back(id);
        }
        ++id;
    }
    add_order_and_window(dependents);
    for (std::size_t i = 0; i < steps_.size(); ++i) {
        steps_[i].first_dependent = static_cast<std::uint32_t>(dependents_.size());
        steps_[i].dependent_count = static_cast<std::uint32_t>(dependents[i].size());
        dependents_.insert(dependents_.end(), dependents[i].begin(), dependents[i].end());
        if (steps_[i].waits_for == 0) {
            first_.push_back(static_cast<StepId>(i));
        }
    }
    find_straight_line();
}

void Plan::add_steps(const Schedule& schedule, const std::vector<bool>& detached,
                     std::span<const int> twin_rank_of) {
    steps_.reserve(schedule.size());
    std::vector<Copied> copied;
    for (const mutirao::Step& step : schedule.steps()) {
        const bool left_behind = detached[steps_.size()];
        const int rank = step.is_message() ? twin_rank_of[static_cast<std::size_t>(step.peer)] : -1;
        const Region& region = step.kind == StepKind::receive ? step.target : step.source;
        Step made{step.kind, left_behind, step.source_first, step.source.buffer,
                  step.target.buffer, rank, static_cast<int>(region.length_bytes),
                  step.source.offset_bytes, step.target.offset_bytes,
                  static_cast<int>(step.dependency_count), 0, 0, -1};
        if (left_behind) {
            ++left_behind_count_;
            made.copy_bytes = place_of_copy(region, copied);
        } else if (step.kind != StepKind::send) {
            // Steps that use the same bytes run in the order in which they stand.
            std::erase_if(copied, [&](const Copied& each) { return each.region.overlaps(step.target); });
        }
        send_count_ += step.kind == StepKind::send ? 1 : 0;
        steps_.push_back(made);
    }
}

/// Sends of the same bytes share their copy, until these are written anew.
std::size_t Plan::place_of_copy(const Region& region, std::vector<Copied>& copied) {
    const auto known = std::ranges::find(copied, region, &Copied::region);
    if (known != copied.end()) {
        return known->copy_bytes;
    }
    copied.push_back({region, copy_bytes_});
    return std::exchange(copy_bytes_, copy_bytes_ + region.length_bytes);
}

// Chains the messages of each kind and peer: one starts after its predecessor started, and after the
// one `window` places before it is complete.
void Plan::add_order_and_window(std::vector<std::vector<StepId>>& dependents) {
    std::map<std::pair<StepKind, int>, std::vector<StepId>> chains;
    for (std::size_t i = 0; i < steps_.size(); ++i) {
        Step& step = steps_[i];
        if (step.rank < 0) {
            continue;
        }
        std::vector<StepId>& chain = chains[{step.kind, step.rank}];
        if (!chain.empty()) {
            steps_[static_cast<std::size_t>(chain.back())].next_to_peer = static_cast<StepId>(i);
            ++step.waits_for;
        }
        if (chain.size() >= static_cast<std::size_t>(window)) {
            const StepId earlier = chain[chain.size() - static_cast<std::size_t>(window)];
            dependents[static_cast<std::size_t>(earlier)].push_back(static_cast<StepId>(i));
            ++step.waits_for;
        }
        chain.push_back(static_cast<StepId>(i));
    }
}

// --- the order in which a plan runs anyway, if there is one ---------------------------------------------

/// A plan's run without its messages. Whatever can begin does, as in an Operation; then a message is
/// awaited, of which the first steps that have not begun wait.
class StraightLine {
  public:
    explicit StraightLine(const Plan& plan)
        : plan_(plan), needed_(plan.steps().size()), can_begin_(plan.first().begin(), plan.first().end()) {
        for (const Plan::Step& step : plan.steps()) waits_for_.push_back(step.waits_for);
    }

    /// Empty: a step need not wait for all messages that are awaited before it, or they are too many.
    std::vector<Plan::Move> find() {
        do {
            if (!begin_all()) return {};
        } while (await_next());
        const bool complete = begun_ == needed_.size() && to_await_.empty();
        return complete ? std::move(moves_) : std::vector<Plan::Move>{};
    }

  private:
    struct Message {
        StepId first_dependent;
        int request;
        StepId step;
        auto operator<=>(const Message&) const = default;
    };

    bool begin_all() {
        for (std::size_t i = 0; i < can_begin_.size(); ++i) {
            const StepId id = can_begin_[i];
            if (!are_the_first(needed(id))) return false;
            begin(id);
        }
        can_begin_.clear();
        return true;
    }

    void begin(StepId id) {
        const Plan::Step& step = plan_.steps()[static_cast<std::size_t>(id)];
        ++begun_;
        moves_.push_back({id, -1});
        if (step.next_to_peer >= 0) one_less(step.next_to_peer);
        if (step.rank < 0) {
            complete(id);
            return;
        }
        constexpr StepId none = std::numeric_limits<StepId>::max();
        const auto dependents = plan_.dependents(step);
        const StepId first = dependents.empty() ? none : *std::ranges::min_element(dependents);
        if (step.kind == StepKind::receive || first != none) to_await_.insert({first, requests_, id});
        ++requests_;
    }

    bool await_next() {
        if (to_await_.empty() || awaited_ == most_messages) return false;
        const Message next = to_await_.extract(to_await_.begin()).value();
        needed(next.step) |= Messages{1} << awaited_;
        ++awaited_;
        moves_.push_back({next.step, next.request});
        complete(next.step);
        return true;
    }

    void complete(StepId id) {
        for (const StepId dependent : plan_.dependents(plan_.steps()[static_cast<std::size_t>(id)])) {
            needed(dependent) |= needed(id);
            one_less(dependent);
        }
    }

    void one_less(StepId id) {
        if (--waits_for_[static_cast<std::size_t>(id)] == 0) can_begin_.push_back(id);
    }

    Messages& needed(StepId id) { return needed_[static_cast<std::size_t>(id)]; }

    const Plan& plan_;
    std::vector<int> waits_for_;
    std::vector<Messages> needed_;
    std::vector<StepId> can_begin_;
    std::set<Message> to_await_;  ///< begun
    std::vector<Plan::Move> moves_;
    std::size_t awaited_ = 0;
    std::size_t begun_ = 0;
    int requests_ = 0;
};

void Plan::find_straight_line() {
    if (left_behind_count_ == 0) {
        straight_line_ = StraightLine(*this).find();
        straight_line_.shrink_to_fit();
    }
}

// --- sends left behind ---------------------------------------------------------------------------------------------

bool LeftBehind::test(Departed& departed) {
    std::erase_if(departed.sends, [this](Send& send) {
        int done = 0;
        // A send that fails will not be delivered by waiting for it.
        if (PMPI_Test(&send.request, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && done == 0) {
            return false;
        }
        if ((bytes_to_peer_[send.peer] -= send.length_bytes) == 0) {
            bytes_to_peer_.erase(send.peer);
        }
        return true;
    });
    return departed.sends.empty();
}

void LeftBehind::test_all(std::deque<Departed>& some) {
    std::erase_if(some, [this](Departed& each) { return test(each); });
}

bool LeftBehind::too_much() const {
    return std::any_of(bytes_to_peer_.begin(), bytes_to_peer_.end(),
                       [this](const auto& each) { return each.second > most_bytes_; });
}

// Without the lock while it waits: other threads go on.
void LeftBehind::add(std::vector<Send> sends, std::shared_ptr<const void> copy) {
    std::unique_lock lock(mutex_);
    for (const Send& send : sends) {
        bytes_to_peer_[send.peer] += send.length_bytes;
    }
    departed_.push_back({std::move(sends), std::move(copy)});
    for (Patience patience; too_much();) {
        test_all(departed_);
        lock.unlock();
        patience.look_again();
        lock.lock();
    }
}

// They are nobody's, and nobody waits for their bytes.
void LeftBehind::abandon(const std::vector<MPI_Request>& sends, std::shared_ptr<const void> memory) {
    const std::lock_guard lock(mutex_);
    Departed& made = abandoned_.emplace_back(Departed{{}, std::move(memory)});
    for (MPI_Request send : sends) made.sends.push_back({send, -1, 0});
    if (abandoned_.size() > most_abandoned) {
        leave_to_mpi(abandoned_.front());
        abandoned_.pop_front();
    }
}

void LeftBehind::reap() {
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock) {
        return;
    }
    while (!departed_.empty() && test(departed_.front())) {
        departed_.pop_front();
    }
    test_all(abandoned_);
}

// The MPI library may read the memory until it ends itself, so that is never given back.
void LeftBehind::leave_to_mpi(Departed& abandoned) {
    for (Send& send : abandoned.sends) {
        PMPI_Request_free(&send.request);
    }
    new std::shared_ptr<const void>(std::move(abandoned.memory));
}

void LeftBehind::wait() {
    const std::lock_guard lock(mutex_);
    Patience patience;
    while (!departed_.empty()) {
        test_all(departed_);
        patience.look_again();
    }
    test_all(abandoned_);
    for (Departed& each : abandoned_) {
        leave_to_mpi(each);
    }
    abandoned_.clear();
}

// --- a run ---------------------------------------------------------------------------------------------------------

namespace {

int class_of(int error) {
    int error_class = error;
    return PMPI_Error_class(error, &error_class) == MPI_SUCCESS ? error_class : error;
}

}  // namespace

void Operation::fail(int error) {
    if (error != MPI_SUCCESS && error_ == MPI_SUCCESS) {
        error_ = class_of(error);
    }
}

// Too long a message is this call's error only: what follows comes all the same.
void Operation::take_status(const Plan::Step& step, const MPI_Status& status, int error) {
    if (error != MPI_SUCCESS) {
        fail(error);
        stopped_ = stopped_ || class_of(error) != MPI_ERR_TRUNCATE;
        return;
    }
    if (step.kind != StepKind::receive) {
        return;
    }
    int received_bytes = 0;
    PMPI_Get_count(&status, MPI_BYTE, &received_bytes);
    if (received_bytes != step.length_bytes && !plan_->lengths_are_room()) {
        fail(MPI_ERR_TRUNCATE);
    }
}

int Operation::run(const Plan& plan, int tag, const Surroundings& surroundings) {
    if (!plan.straight_line().empty()) {
        start_over(plan, tag, surroundings);
        return run_straight_line();
    }
    begin(plan, tag, surroundings);
    Patience patience;
    while (!advance()) {
        let_others_run(patience);
    }
    return error_;
}

void Operation::let_others_run(Patience& patience) {
    if (surroundings_->background != nullptr) {
        surroundings_->background->progress();
    }
    patience.look_again();
}

void Operation::start_over(const Plan& plan, int tag, const Surroundings& surroundings) {
    plan_ = &plan;
    tag_ = tag;
    surroundings_ = &surroundings;
    error_ = MPI_SUCCESS;
    stopped_ = false;
    waits_for_first_message_ = false;
    requests_.clear();
    step_of_request_.clear();
    sends_to_start_ = plan.send_count();
    scratch_.hold(plan.scratch_bytes());
}

std::byte* Operation::at(Buffer buffer, std::size_t offset_bytes) {
    switch (buffer) {
        case Buffer::input: return memory_->input()->data() + offset_bytes;
        case Buffer::output: return memory_->output()->data() + offset_bytes;
        case Buffer::scratch: break;
    }
    return scratch_.data() + offset_bytes;
}

void Operation::begin(const Plan& plan, int tag, const Surroundings& surroundings) {
    start_over(plan, tag, surroundings);
    waits_for_first_message_ =
        !plan_->steps().empty() && plan_->steps().front().kind == StepKind::receive;
    if (surroundings_->left_behind != nullptr) {
        surroundings_->left_behind->reap();
    }
    const auto steps = plan_->steps();
    waits_for_.resize(steps.size());
    for (std::size_t i = 0; i < steps.size(); ++i) {
        waits_for_[i] = steps[i].waits_for;
    }
    startable_.assign(plan_->first().begin(), plan_->first().end());
    left_.clear();
    to_start_ = steps.size();
    to_complete_ = steps.size() - plan_->left_behind_count();
    if (plan_->left_behind_count() > 0) {
        copy_ = std::make_shared_for_overwrite<std::byte[]>(plan_->copy_bytes());
    }
}

bool Operation::advance() {
    start_ready();
    if (!stopped_ && !ended()) {
        if (!complete_some()) {
            return false;
        }
        start_ready();
    }
    if (!stopped_ && !ended()) {
        return false;
    }
    withdraw();
    leave_behind();
    if (error_ == MPI_SUCCESS) {
        fail(memory_->finish());
    }
    return true;
}

// First in, first out: the order of the schedule is the order that was predicted.
void Operation::start_ready() {
    for (std::size_t i = 0; i < startable_.size() && !stopped_; ++i) {
        start(startable_[i]);
    }
    startable_.clear();
}

void Operation::start(StepId id) {
    const Plan::Step& step = plan_->steps()[static_cast<std::size_t>(id)];
    --to_start_;
    if (step.next_to_peer >= 0) {
        enable(step.next_to_peer);
    }
    MPI_Request request = MPI_REQUEST_NULL;
    if (!begins(step, request)) {
        return;
    }
    if (step.left_behind) {
        left_.push_back({request, step.rank, static_cast<std::size_t>(step.length_bytes)});
        for (const StepId dependent : plan_->dependents(step)) {
            enable(dependent);
        }
    } else if (request != MPI_REQUEST_NULL) {
        requests_.push_back(request);
        step_of_request_.push_back(id);
    } else {
        complete(id);
    }
}

// After an error nothing more can be expected.
bool Operation::begins(const Plan::Step& step, MPI_Request& request) {
    const int error = step.rank < 0                  ? do_locally(step)
                      : step.kind == StepKind::send ? start_send(step, request)
                                                    : start_receive(step, request);
    fail(error);
    stopped_ = stopped_ || error != MPI_SUCCESS;
    return error == MPI_SUCCESS;
}

int Operation::start_send(const Plan::Step& step, MPI_Request& request) {
    if (const int error = prepare(step); error != MPI_SUCCESS) {
        return error;
    }
    --sends_to_start_;
    return PMPI_Isend(data_to_send(step), step.length_bytes, MPI_BYTE, step.rank, tag_,
                      surroundings_->twin, &request);
}

// What a step reads of the program's memory is packed in time.
int Operation::prepare(const Plan::Step& step) {
    if (step.source_buffer == Buffer::scratch) {
        return MPI_SUCCESS;
    }
    PackedMessage& message =
        step.source_buffer == Buffer::output ? *memory_->output() : *memory_->input();
    return message.prepare(step.source_bytes + static_cast<std::size_t>(step.length_bytes));
}

int Operation::start_receive(const Plan::Step& step, MPI_Request& request) {
    return PMPI_Irecv(at(step.target_buffer, step.target_bytes), step.length_bytes,
                      MPI_BYTE, step.rank, tag_, surroundings_->twin, &request);
}

int Operation::do_locally(const Plan::Step& step) {
    if (const int error = prepare(step); error != MPI_SUCCESS) {
        return error;
    }
    const std::byte* const from = at(step.source_buffer, step.source_bytes);
    std::byte* const to = at(step.target_buffer, step.target_bytes);
    const auto length_bytes = static_cast<std::size_t>(step.length_bytes);
    if (step.kind == StepKind::reduce) {
        return reduce(from, to, length_bytes, step.source_first);
    }
    if (from != to) {  // a block in place is there already
        std::memcpy(to, from, length_bytes);
    }
    return MPI_SUCCESS;
}

// MPI_Reduce_local makes its second operand the result. Where the target is the first operand, of an
// operator that may not commute, the result is made in a copy of the source.
int Operation::reduce(const std::byte* source, std::byte* target, std::size_t length_bytes,
                      bool source_first) {
    const Reduction& reduction = memory_->reduction;
    if (source_first || reduction.commutes) {
        return reduce_packed(reduction, source, target, length_bytes);
    }
    swapped_.hold(length_bytes);
    std::memcpy(swapped_.data(), source, length_bytes);
    const int error = reduce_packed(reduction, target, swapped_.data(), length_bytes);
    std::memcpy(target, swapped_.data(), length_bytes);
    return error;
}

// What is left behind goes from the copy that outlives the call. Several sends may share bytes of it, which
// are then copied again: the same bytes to the same place.
const std::byte* Operation::data_to_send(const Plan::Step& step) {
    const std::byte* const data = at(step.source_buffer, step.source_bytes);
    if (!step.left_behind) {
        return data;
    }
    std::byte* const kept = copy_.get() + step.copy_bytes;
    std::memcpy(kept, data, static_cast<std::size_t>(step.length_bytes));
    return kept;
}

void Operation::enable(StepId step) {
    if (--waits_for_[static_cast<std::size_t>(step)] == 0) {
        startable_.push_back(step);
    }
}

void Operation::complete(StepId id) {
    const Plan::Step& step = plan_->steps()[static_cast<std::size_t>(id)];
    --to_complete_;
    for (const StepId dependent : plan_->dependents(step)) {
        enable(dependent);
    }
}

bool Operation::complete_some() {
    completed_.resize(requests_.size());
    statuses_.resize(requests_.size());
    int count = 0;
    const int result = PMPI_Testsome(static_cast<int>(requests_.size()), requests_.data(), &count,
                                     completed_.data(), statuses_.data());
    if (result != MPI_SUCCESS && class_of(result) != MPI_ERR_IN_STATUS) {
        fail(result);
        stopped_ = true;
        return true;
    }
    if (count == 0 || count == MPI_UNDEFINED) {
        return false;
    }
    waits_for_first_message_ = false;
    for (int i = 0; i < count; ++i) {
        const auto at = static_cast<std::size_t>(i);
        const StepId id = step_of_request_[static_cast<std::size_t>(completed_[at])];
        const int error = result == MPI_SUCCESS ? MPI_SUCCESS : statuses_[at].MPI_ERROR;
        if (error == MPI_ERR_PENDING) {
            continue;
        }
        take_status(plan_->steps()[static_cast<std::size_t>(id)], statuses_[at], error);
        complete(id);
    }
    drop_completed();
    return true;
}

// Keeps the order of the rest: MPI libraries look at requests from the front.
void Operation::drop_completed() {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < requests_.size(); ++i) {
        if (requests_[i] != MPI_REQUEST_NULL) {
            requests_[kept] = requests_[i];
            step_of_request_[kept] = step_of_request_[i];
            ++kept;
        }
    }
    requests_.resize(kept);
    step_of_request_.resize(kept);
}

// Only after an error is anything still posted. Nothing may be written into the program's memory once
// the call has returned, so receives are cancelled; sends only read.
void Operation::withdraw() {
    for (std::size_t i = 0; i < requests_.size(); ++i) {
        const Plan::Step& step = plan_->steps()[static_cast<std::size_t>(step_of_request_[i])];
        if (requests_[i] != MPI_REQUEST_NULL && step.kind == StepKind::receive) {
            PMPI_Cancel(&requests_[i]);
            PMPI_Wait(&requests_[i], MPI_STATUS_IGNORE);
        }
    }
    drop_completed();
}

void Operation::leave_behind() {
    if (!left_.empty()) {
        surroundings_->left_behind->add(std::exchange(left_, {}), std::move(copy_));
    }
}

// --- in a straight line: what short repeated calls spend their time on ----------------------------------------------

int Operation::run_straight_line() {
    for (const Plan::Move& move : plan_->straight_line()) {
        move.awaited_request < 0 ? begin_in_line(move.step) : await_in_line(move);
        if (stopped_) {
            withdraw();
            return error_;
        }
    }
    await_sends();
    if (error_ == MPI_SUCCESS) {
        fail(memory_->finish());
    }
    return error_;
}

void Operation::begin_in_line(StepId id) {
    const Plan::Step& step = plan_->steps()[static_cast<std::size_t>(id)];
    MPI_Request request = MPI_REQUEST_NULL;
    if (begins(step, request) && step.rank >= 0) {
        requests_.push_back(request);
        step_of_request_.push_back(id);
    }
}

void Operation::await_in_line(const Plan::Move& move) {
    MPI_Request& request = requests_[static_cast<std::size_t>(move.awaited_request)];
    const bool nothing_else_begun = requests_.size() == 1;
    MPI_Status status;
    int done = 0;
    int error = PMPI_Test(&request, &done, &status);
    if (nothing_else_begun) waits_for_first_message_ = done == 0;
    Patience patience;
    while (error == MPI_SUCCESS && done == 0) {
        let_others_run(patience);
        error = PMPI_Test(&request, &done, &status);
    }
    waits_for_first_message_ = false;
    take_status(plan_->steps()[static_cast<std::size_t>(move.step)], status, error);
}

void Operation::await_sends() {
    int done = requests_.empty() ? 1 : 0;
    Patience patience;
    while (done == 0) {
        const int error = PMPI_Testall(static_cast<int>(requests_.size()), requests_.data(), &done,
                                       MPI_STATUSES_IGNORE);
        if (error != MPI_SUCCESS) {
            fail(error);
            withdraw();
            return;
        }
        if (done == 0) {
            let_others_run(patience);
        }
    }
}

}  // namespace mutirao::mpi
