// What the decider of one communicator has to decide, beside the program: for which classes of shapes
// the communicator was called, what the network is now, what was decided and is still to be announced.
// No MPI here: a thread of its own works it off (deciding_thread.h), or the decider in slices.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "core/epochs/announcement.h"
#include "core/selection/contest.h"
#include "core/selection/profile.h"
#include "core/selection/ruling.h"
#include "core/selection/selection.h"
#include "core/settings/settings.h"
#include "mpi/communicator/record.h"
#include "mpi/job/socket_limits.h"
#include "mpi/rulings/lookout.h"
#include "profile/profile_store.h"

namespace mutirao::mpi {

class Docket {
  public:
    struct Subject {
        std::shared_ptr<const Placement> placement;
        std::vector<int> source_host_of;  ///< the source's number of each host
        int decider = 0;                  ///< rank
        std::shared_ptr<Lookout> lookout;  ///< null: nobody measures beside the program
        SocketLimits sockets;
        Settings settings;
        std::shared_ptr<profile::ProfileStore> store;  ///< null: no profile is used
        std::string mpi_library;                       ///< by which a profile knows it
        std::shared_ptr<Record> record;
    };

    explicit Docket(Subject subject);

    /// The communicator was called with a shape of a class that has no ruling.
    void want(const CallShape& shape, std::uint64_t call);
    /// What calls on trial took, on one rank.
    void hear(const TrialReport& report);
    /// Decided and not yet taken, in that call. The route as the network is now.
    std::vector<Ruling> take_fresh(std::uint64_t call);
    Route route();
    /// Since the last time that this was asked nothing was on trial but what is watched, and nothing waits for a
    /// decision. A trial whose calls are over for now does not count.
    bool was_quiet();

    /// Some of the work; false when there is nothing to do at present.
    bool work();
    /// Decides on this very shape, and on nothing else, whatever is known.
    Ruling decide_now(const CallShape& shape, std::uint64_t call);
    /// The network as someone else measured it; all that was decided is decided anew, at once.
    std::vector<Ruling> use(Topology topology, std::uint64_t call);

    /// Why a class is run as it is, for the report.
    void explain(const Ruling& ruling, RulingRecord& record) const;

  private:
    struct Case {
        CallShape shape;
        std::optional<Decision> decision;
        bool waiting = false;  ///< in queue_
        std::optional<Contest> contest{};  ///< by which the prediction is judged
        std::string cause{};  ///< of deciding anew, until calls decide; empty: there was nothing before
    };

    void look_at_network();
    void take_network(std::shared_ptr<const Topology> newest, const MemoryCosts& memory);
    bool may_decide() const;
    ShapeClass subject_of(const CallShape& shape) const;
    void question_all();
    std::optional<Ruling> decide(Case& each);
    bool watches(const CallShape& shape) const;
    void read_profile();
    std::optional<Contest> contest_of(const Case& each) const;
    void remember(const Case& each);
    void note_native(const ShapeClass& shapes, const Decision& decision);

    const Subject subject_;
    mutable std::mutex work_mutex_;  ///< of what the work goes on with
    std::shared_ptr<const RankNetwork> network_;  ///< null: not known yet
    std::uint64_t seen_ = 0;
    std::vector<ProfileRow> rows_;  ///< of the profile
    bool frozen_ = false;  ///< adaptation=off, and the network is known

    mutable std::mutex mutex_;  ///< of what the calls see; never held while deciding
    std::optional<Fabric> fabric_;  ///< whose rows of the profile were read; nothing: none yet
    std::map<ShapeClass, Case> cases_;
    std::deque<ShapeClass> queue_;
    std::vector<Ruling> fresh_;
    Route route_;
    std::uint64_t call_ = 0;  ///< the newest that is known here
    bool stirred_ = false;    ///< since was_quiet() was asked last
};

}  // namespace mutirao::mpi
