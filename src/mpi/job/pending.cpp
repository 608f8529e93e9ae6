#include "mpi/job/pending.h"

namespace mutirao::mpi {

bool Pending::complete() {
    int done = 0;
    return PMPI_Test(&request_, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS || done != 0;
}

// In Open MPI a nonblocking collective that is under way does not keep its communicator alive, as it must (MPI-4.1,
// 7.4.3), and a persistent request does.
std::shared_ptr<void> Pending::give_up() const {
    MPI_Request keeper = MPI_REQUEST_NULL;
    if (request_ != MPI_REQUEST_NULL) {
        PMPI_Recv_init(nullptr, 0, MPI_BYTE, 0, 0, comm_, &keeper);
    }
    return {memory_.get(), [memory = memory_, keeper](void*) mutable {
                memory.reset();
                if (keeper != MPI_REQUEST_NULL) {
                    PMPI_Request_free(&keeper);
                }
            }};
}

}  // namespace mutirao::mpi
