// Makes a communicator follow its network: all its ranks take up what the agents find, each change
// at the same call on every rank (see core/epochs/epochs.h for why no two can differ).
#pragma once

#include <mpi.h>

#include <cstdint>
#include <optional>

#include "core/epochs/epochs.h"
#include "mpi/adaptation/epoch_post.h"
#include "mpi/adaptation/outlook.h"
#include "mpi/communicator/record.h"

namespace mutirao::mpi {

class NetworkFollower {
  public:
    /// `hosts` and `record` outlive the follower. `outlook`: on the decider only, rank 0 of `comm`.
    NetworkFollower(MPI_Comm comm, const Hosts& hosts, Record& record,
                    std::optional<Outlook> outlook);

    /// Before every call, numbered from 0. True if record.topology has changed: decisions made
    /// before are void. May wait for the decider's words at an epoch's first call.
    bool enter(std::uint64_t call) {
        return call < next_look_ && follower_.within(call) ? false : look(call);
    }
    /// After every call: hands on what has come meanwhile.
    void leave(std::uint64_t call) {
        if (call >= next_look_) receive();
    }
    /// Before the communicator is freed: receives and sends all words that are still under way. False
    /// if some do not come: the communicator must not be freed then.
    bool finish();

  private:
    bool look(std::uint64_t call);
    void decide(std::uint64_t call);
    void receive();
    void wait();
    bool begin(const Epoch& epoch);
    void choose_route();

    EpochPost post_;
    const Hosts& hosts_;
    Record& record_;
    EpochFollower follower_;
    std::uint64_t next_look_ = 0;

    // The decider's.
    std::optional<Outlook> outlook_;
    EpochDecider decider_;
    Topology told_;  ///< what holds once all words are taken up
    std::optional<Topology> untold_;  ///< the newest, while not all of it has fitted into words
    std::vector<int> parent_of_host_;
    double travel_us_ = 0;
};

}  // namespace mutirao::mpi
