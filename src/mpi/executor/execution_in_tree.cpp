// A place in a tree, in straight lines: what short repeated calls spend their time on.
#include "mpi/executor/execution.h"
#include "mpi/executor/patience.h"

namespace mutirao::mpi {

int Execution::run_place_in_tree() {
    error_ = MPI_SUCCESS;
    stopped_ = false;
    first_message_waited_here_ = false;
    const auto steps = plan_->steps();
    if (steps.front().kind == StepKind::receive) {
        receive_first();
    }
    if (!stopped_) {
        send_to_children();
    }
    if (error_ == MPI_SUCCESS) {
        fail(finish());
    }
    return error_;
}

int Execution::receive_first() {
    const Plan::Step& step = plan_->steps().front();
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Status status;
    int done = 0;
    int error = start_receive(step, request);
    if (error == MPI_SUCCESS) {
        error = PMPI_Test(&request, &done, &status);
    }
    first_message_waited_here_ = done != 0;
    waits_for_first_message_ = done == 0;
    Patience patience;
    while (error == MPI_SUCCESS && done == 0) {
        if (surroundings_->background != nullptr) {
            surroundings_->background->progress();
        }
        patience.look_again();
        error = PMPI_Test(&request, &done, &status);
    }
    waits_for_first_message_ = false;
    take_status(step, status, error);
    return error_;
}

void Execution::send_to_children() {
    const auto steps = plan_->steps();
    requests_.clear();
    for (const Plan::Step& step : steps) {
        if (step.kind == StepKind::send) {
            MPI_Request request = MPI_REQUEST_NULL;
            if (const int error = start_send(step, request); error != MPI_SUCCESS) {
                fail(error);
                break;
            }
            requests_.push_back(request);
        }
    }
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
            if (surroundings_->background != nullptr) {
                surroundings_->background->progress();
            }
            patience.look_again();
        }
    }
    requests_.clear();
}

}  // namespace mutirao::mpi
