// What the decider of one communicator has to decide, beside the program: for which classes of shapes
// the communicator was called, what the network is now, what was decided and is still to be announced.
// No MPI here: a thread of its own works it off (DecidingThread), or the decider in slices.
#pragma once

#include <chrono>
#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "core/epochs/epochs.h"
#include "core/selection/decider.h"
#include "core/selection/profile.h"
#include "core/selection/ruling.h"
#include "core/selection/selection.h"
#include "mpi/account/record.h"
#include "mpi/base/world.h"
#include "mpi/watch/lookout.h"

namespace mutirao::mpi {

// What the ranks of a communicator are there for: who decides, who tells what calls took.

/// Why the MPI library takes all calls among these ranks; empty: it need not.
std::string nothing_to_choose(const World& ranks);

/// Where only the leaders of the twin's hosts see the network, one of them.
int choose_decider(const Members& members, const World& twin);

/// Where ranks are many some speak for all, the decider among them, and the calls' root: often it alone knows what a
/// row of calls takes.
bool reports_times(int rank, int root, int decider, int ranks);
int reporters_among(int ranks, int root, int decider);

class Docket {
  public:
    struct Subject {
        World ranks;  ///< of the communicator; this one decides
        std::shared_ptr<NetworkSource> source;  ///< null: nobody measures beside the program
        std::string mpi_library;  ///< by which a profile knows it
        std::shared_ptr<Record> record;
        std::shared_ptr<Ledger> ledger;
        double began_us = 0;  ///< the communicator's first call
    };

    explicit Docket(Subject subject);

    /// The communicator was called with a shape of a class that has no ruling.
    void want(const CallShape& shape, std::uint64_t call);
    /// What calls took, on one rank.
    void hear(const TimeReport& report);
    /// Decided and not yet taken, in that call. `made`: all calls so far. The route as the network is now.
    std::vector<Ruling> take_fresh(std::uint64_t call, const std::vector<Decider::CallsMade>& made);
    Route route();
    /// Between two hosts, one way; nothing: the network is not known yet.
    std::optional<double> farthest_us();
    /// What calls that ran natively would have taken less, and what is known of an earlier run of the program.
    Investment investment(const std::vector<Decider::NativeTime>& native);
    /// From now on calls run as is decided.
    void begin_handling();
    /// Nothing is on probe, and nothing waits for a decision.
    bool is_quiet();
    /// The communicator is freed, so long after MPI_Init: what was learned is kept for other jobs, and told.
    void end(const std::vector<Decider::CallsMade>& made, double ran_us);

    /// Some of the work; false when there is nothing to do at present.
    bool work();
    /// Decides on this very shape, and on nothing else, whatever is known.
    Ruling decide_now(const CallShape& shape, std::uint64_t call);
    /// The network as someone else measured it; all that was decided is decided anew, at once.
    std::vector<Ruling> use(Topology topology, std::uint64_t call);

    /// Why a class is run as it is, for the report.
    void explain(const Ruling& ruling, RulingRecord& record);

  private:
    struct Case {
        CallShape shape;
        std::optional<Decision> decision;  ///< what may be probed is in the record instead
        bool waiting = false;  ///< in queue_
        double news_us = 0;    ///< by how much a link is another than those decided on
        std::string cause{};   ///< of deciding anew without probes; empty: there was nothing before
    };

    /// What was thought of in deciding on a class.
    struct Deliberated {
        Case of_class;
        std::optional<Ruling> ruling{};  ///< by prediction alone
        Outlook outlook{};               ///< for the decider
        bool held_back = false;          ///< until more is known
        std::vector<Measured> remembered{};
        std::optional<Candidate> preferred{};
    };

    void look_at_network();
    void take_network(std::shared_ptr<const Topology> newest, const MemoryCosts& memory);
    ShapeClass subject_of(const CallShape& shape) const;
    void question_all(double news_us);
    bool probes(Collective collective) const;
    bool waits_for_bandwidths(const CallShape& shape) const;
    Deliberated deliberate(const Case& each, const std::optional<Arm>& present) const;
    std::optional<Ruling> decide_by_prediction(Case& each, Decision made) const;
    void recall(Deliberated& about) const;
    void read_profile(bool news);
    void take_on(const ShapeClass& shapes);
    /// Along a tree of hosts, or of ranks where these are more.
    void carry(const std::vector<int>& parent_of);
    std::optional<Arm> incumbent(const ShapeClass& shapes) const;
    void note(const ShapeClass& shapes, Decision& decision);
    void note(const Decided& settled);
    void note_accounts();
    std::vector<ProfileRow> rows_learned(double now_s) const;
    ProgramRun run_of(double ran_us, double now_s) const;

    const Subject subject_;
    const std::vector<int> named_sites_;  ///< of each host; empty: the user names none
    mutable std::mutex work_mutex_;  ///< of what the work goes on with
    std::optional<Lookout> lookout_;
    std::shared_ptr<const RankNetwork> network_;  ///< null: not known yet
    std::vector<double> calm_us_;  ///< of each link the least latency since news came of any: messages delay probes
    std::vector<ProfileRow> rows_;  ///< of the profile
    double known_since_us_ = 0;    ///< the network, at first without bandwidths
    bool holds_back_ = false;      ///< some class waits for these
    bool frozen_ = false;  ///< adaptation=off, and the network is known

    mutable std::mutex mutex_;  ///< of what the calls see; never held while deciding
    std::optional<Fabric> fabric_;  ///< whose rows of the profile were read; nothing: none yet
    std::map<ShapeClass, Case> cases_;
    std::deque<ShapeClass> queue_;
    std::vector<Ruling> fresh_;  ///< by prediction alone
    Decider decider_;
    std::map<std::uint32_t, Decided> announced_;  ///< by identifier, until it is explained
    Route route_;
    EdgeList carrying_;  ///< what rulings and announcements go over, since the lookout was told last
    std::optional<double> farthest_us_;
    std::optional<ProgramRun> before_;   ///< of the profile
    std::optional<double> handling_since_us_;
    std::atomic<std::uint64_t> call_ = 0;  ///< the newest that is known here
};

/// The one thread of a process that works off the dockets of its deciders, beside the program, and tells
/// whoever asks how the job stands. It makes no MPI call and takes no signals. Where the system refuses a
/// thread, or none is wanted, the deciders work their dockets off themselves, in slices inside calls.
class DecidingThread {
  public:
    /// Works on it from now on, as long as anyone else holds it. False if there is no thread.
    static bool take_on(const std::shared_ptr<Docket>& docket);
    /// Something is wanted: looks at once instead of soon.
    static void wake();
    /// At the beginning of MPI_Finalize. Where it reads a file for longer, it is left to itself.
    static void end(std::chrono::milliseconds patience);
};

}  // namespace mutirao::mpi
