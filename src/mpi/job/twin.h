// A private communicator of ranks of the job, on which all messages of mutirao travel: what ranks tell each other, and
// the data of the calls that run by its algorithms. On the program's own communicators they could not: a receive with
// wildcards would take them. It is made when that pays, for a communicator that computes, and serves all within it.
#pragma once

#include <mpi.h>

#include <atomic>
#include <cstdint>
#include <memory>

#include "mpi/base/slots.h"
#include "mpi/base/world.h"
#include "mpi/executor/arrival_rate.h"
#include "mpi/executor/left_behind.h"
#include "mpi/job/peers.h"

namespace mutirao::mpi {

class Twin final : public ArrivalListener {
  public:
    /// Null if the MPI library makes none. Collective over `comm`, whose ranks are all among `peers`.
    static std::shared_ptr<Twin> make(MPI_Comm comm, std::shared_ptr<Peers> peers);

    MPI_Comm comm() const { return comm_; }
    MPI_Group group() const { return group_; }
    int my_rank() const { return world_.my_rank; }
    int rank_count() const { return world_.rank_count(); }
    /// Equal on all ranks, and of no other twin.
    std::uint64_t id() const { return id_; }
    const std::shared_ptr<Peers>& peers() const { return peers_; }
    const World& world() const { return world_; }
    /// What measures the network; null: nobody.
    const std::shared_ptr<NetworkSource>& source() const { return source_; }
    const std::shared_ptr<Lookout>& lookout() const { return lookout_; }

    void saw(int twin_rank, double bytes_per_us) override;

    Slots& slots() { return slots_; }
    /// Of a slot: equal to no other of this twin. 0 is that of the communicator that it was made for.
    std::uint64_t new_owner() { return (static_cast<std::uint64_t>(my_rank()) << 32) + ++owners_; }
    LeftBehind& left_behind() { return left_behind_; }

    /// At the end all that was sent over it is completed: first everywhere begun, then waited for.
    void begin_farewell();
    void end_farewell();
    /// The job is over everywhere.
    void stop_measuring();

  private:
    Twin(MPI_Comm comm, std::shared_ptr<Peers> peers);

    void receive_what_is_left();

    MPI_Comm comm_;
    MPI_Group group_ = MPI_GROUP_NULL;
    std::shared_ptr<Peers> peers_;
    World world_;
    std::uint64_t id_;
    std::shared_ptr<NetworkSource> source_;
    std::shared_ptr<Lookout> lookout_;
    Slots slots_;
    std::atomic<std::uint32_t> owners_{0};
    LeftBehind left_behind_;
    MPI_Request farewell_ = MPI_REQUEST_NULL;
};

}  // namespace mutirao::mpi
