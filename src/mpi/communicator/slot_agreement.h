// How the ranks of a communicator agree that mutirao handles it, and under which slot of the twin's tags:
// a nonblocking allreduce on the communicator itself, started inside a call whose number all know
// beforehand and completed in a later one. "Not yet" is a result like any other.
#pragma once

#include <mpi.h>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>

#include "mpi/job/slots.h"
#include "mpi/tags.h"

namespace mutirao::mpi {

class SlotAgreement {
  public:
    enum class Result : unsigned char { not_yet, never, agreed };

    /// Collective over `comm`. `who`: equal on its ranks, different for other groups of ranks.
    /// `ready`: this rank knows all others, and nothing stands against mutirao; `hopeless`:
    /// something does, for good. `owner`: the slot's, by one of the ranks; all bits are set on the others.
    SlotAgreement(MPI_Comm comm, std::uint64_t who, Slots& slots, bool ready, bool hopeless, std::uint64_t owner);

    /// Does not block.
    bool complete();
    /// Once complete.
    Result result() const;
    /// Takes the slot that was agreed on, gives back the others; nothing unless agreed.
    std::optional<Slot> settle();

    /// The communicator is freed before the end. The request must be completed all the same, and what
    /// it reads and writes live on until then; with that end the slots that were offered are given back.
    MPI_Request request() const { return request_; }
    std::shared_ptr<void> give_up() const;

  private:
    struct Contribution {
        std::uint64_t offered = 0;
        std::uint64_t flags = 0;
        std::uint64_t owner = 0;
    };
    struct Memory {
        Contribution mine;
        Contribution all;
    };
    static constexpr std::uint64_t ready_flag = 1;
    static constexpr std::uint64_t hopeful_flag = 2;

    MPI_Comm comm_;
    std::uint64_t who_;
    Slots& slots_;
    std::shared_ptr<Memory> memory_ = std::make_shared<Memory>();
    MPI_Request request_ = MPI_REQUEST_NULL;
};

}  // namespace mutirao::mpi
