// A plan in a straight line: what short repeated calls spend their time on.
#include "mpi/executor/execution.h"
#include "mpi/executor/patience.h"

namespace mutirao::mpi {

int Execution::run_straight_line() {
    for (const Plan::Move& move : plan_->straight_line()) {
        move.awaited_request < 0 ? begin_in_line(move.step) : await_in_line(move);
        if (stopped_) {
            withdraw();
            return error_;
        }
    }
    await_sends();
    if (error_ == MPI_SUCCESS) {
        fail(finish());
    }
    return error_;
}

void Execution::begin_in_line(StepId id) {
    const Plan::Step& step = plan_->steps()[static_cast<std::size_t>(id)];
    MPI_Request request = MPI_REQUEST_NULL;
    int error = MPI_SUCCESS;
    if (step.rank < 0) {
        error = do_locally(step);
    } else {
        error = step.kind == StepKind::send ? start_send(step, request) : start_receive(step, request);
        requests_.push_back(request);
        step_of_request_.push_back(id);
    }
    if (error != MPI_SUCCESS) {
        fail(error);
        stopped_ = true;
    }
}

void Execution::await_in_line(const Plan::Move& move) {
    MPI_Request& request = requests_[static_cast<std::size_t>(move.awaited_request)];
    const bool nothing_else_begun = requests_.size() == 1;
    MPI_Status status;
    int done = 0;
    int error = PMPI_Test(&request, &done, &status);
    if (nothing_else_begun) {
        first_message_waited_here_ = done != 0;
        waits_for_first_message_ = done == 0;
    }
    Patience patience;
    while (error == MPI_SUCCESS && done == 0) {
        let_others_run(patience);
        error = PMPI_Test(&request, &done, &status);
    }
    waits_for_first_message_ = false;
    take_status(plan_->steps()[static_cast<std::size_t>(move.step)], status, error);
}

void Execution::await_sends() {
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
