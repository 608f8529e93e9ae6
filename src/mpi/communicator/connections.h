// Open MPI connects two ranks when the first message between them is sent, and what follows from a message waits for two
// round trips more: over a tree of six levels between sites, for seconds. All edges of a schedule side by side take as
// long as the slowest of them.
#pragma once

#include <mpi.h>

#include <memory>
#include <vector>

#include "mpi/executor/plan.h"
#include "mpi/job/twin.h"

namespace mutirao::mpi {

class Connections {
  public:
    /// Of one communicator that is handled by `twin`. `tag` is used for nothing else.
    Connections(std::shared_ptr<Twin> twin, int tag) : twin_(std::move(twin)), tag_(tag) {}

    /// In a call that runs by `plan`, before it does: an empty message along each edge to another host that no plan
    /// before had. All ranks of the communicator run the same calls, so both ends see an edge for the first time in the
    /// same. Waits for nothing. MPICH holds a sender until a connection stands, so there nothing is done.
    void open_along([[maybe_unused]] const Plan& plan) {
#if defined(OPEN_MPI)
        opened_.resize(static_cast<std::size_t>(twin_->rank_count()));
        const Placement& placement = *twin_->world().placement;
        const int mine = twin_->my_rank();
        for (const Plan::Step& step : plan.steps()) {
            const bool is_message = step.kind == StepKind::send || step.kind == StepKind::receive;
            if (is_message && !opened_[static_cast<std::size_t>(step.rank)]) {
                opened_[static_cast<std::size_t>(step.rank)] = true;
                if (placement.host_of(step.rank) != placement.host_of(mine)) {
                    greet(step.rank);
                }
            }
        }
#endif
    }

  private:
    void greet(int rank) {
        MPI_Request request = MPI_REQUEST_NULL;
        const int error = twin_->my_rank() < rank
                              ? PMPI_Isend(nullptr, 0, MPI_BYTE, rank, tag_, twin_->comm(), &request)
                              : PMPI_Irecv(nullptr, 0, MPI_BYTE, rank, tag_, twin_->comm(), &request);
        if (error == MPI_SUCCESS) {
            PMPI_Request_free(&request);
        }
    }

    std::shared_ptr<Twin> twin_;
    int tag_;
    std::vector<bool> opened_;  ///< by rank of the twin
};

}  // namespace mutirao::mpi
