#include "mpi/communicator/slot_agreement.h"

namespace mutirao::mpi {

SlotAgreement::SlotAgreement(MPI_Comm comm, std::uint64_t who, Slots& slots, bool ready,
                             bool hopeless, std::uint64_t owner)
    : comm_(comm), who_(who), slots_(slots) {
    Contribution& mine = memory_->mine;
    mine.flags = (ready ? ready_flag : 0) | (hopeless ? 0 : hopeful_flag);
    mine.offered = ready ? slots_.offer(who_) : 0;
    mine.owner = owner;
    static_assert(sizeof(Contribution) == 3 * sizeof(std::uint64_t));
    PMPI_Iallreduce(&memory_->mine, &memory_->all, 3, MPI_UINT64_T, MPI_BAND, comm, &request_);
}

bool SlotAgreement::complete() {
    int done = 0;
    return PMPI_Test(&request_, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS || done != 0;
}

SlotAgreement::Result SlotAgreement::result() const {
    if ((memory_->all.flags & hopeful_flag) == 0) {
        return Result::never;
    }
    return memory_->all.offered != 0 ? Result::agreed : Result::not_yet;
}

std::optional<Slot> SlotAgreement::settle() {
    const int number = slots_.settle(who_, memory_->mine.offered, memory_->all.offered);
    return number < 0 ? std::nullopt : std::optional(Slot(number, memory_->all.owner));
}

// In Open MPI a nonblocking collective that is under way does not keep its communicator alive, as it must (MPI-4.1,
// 7.4.3), and a persistent request does.
std::shared_ptr<void> SlotAgreement::give_up() const {
    MPI_Request keeper = MPI_REQUEST_NULL;
    if (request_ != MPI_REQUEST_NULL) {
        PMPI_Recv_init(nullptr, 0, MPI_BYTE, 0, 0, comm_, &keeper);
    }
    return {memory_.get(), [memory = memory_, &slots = slots_, who = who_, keeper](void*) mutable {
                slots.settle(who, memory->mine.offered, 0);
                if (keeper != MPI_REQUEST_NULL) {
                    PMPI_Request_free(&keeper);
                }
            }};
}

}  // namespace mutirao::mpi
