// What is remembered of a communicator for `mutirao explain`, also after it was freed.
#pragma once

#include <atomic>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "core/selection/class_choice.h"
#include "core/selection/ruling.h"
#include "core/selection/selection.h"

namespace mutirao::mpi {

/// Of what one thread counts without a lock (ruling_table.h), while others read.
inline std::uint64_t as_of_now(const std::uint64_t& count) {
    return std::atomic_ref(const_cast<std::uint64_t&>(count)).load(std::memory_order_relaxed);
}

/// One ruling, as long as it held.
struct RulingRecord {
    std::uint64_t first_call = 0;
    std::string chosen;
    std::uint64_t calls = 0;        ///< by it; native ones are counted in the class
    std::uint64_t probe_calls = 0;  ///< by others that were on probe meanwhile
    // The decider's.
    bool settled = true;  ///< nothing is left to be tried
    std::string reason;
    std::vector<Evaluated> considered;
    std::vector<Measured> measured;  ///< until then
    std::optional<double> bound_us;  ///< of the class's first call, as the times predicted
    std::vector<int> tree;  ///< the hosts' parents in the tree that calls go over, -1: the root; or none
};

/// A class of calls is run otherwise from a call on: the log that tells every switch.
struct ChoiceChange {
    Collective collective;
    std::uint64_t call = 0;
    std::string to;
    std::uint64_t probe_calls = 0;  ///< only for so many; 0: until the next change
    std::uint64_t lead_calls = 0;   ///< of the class, as before, until the probe begins
};

/// All calls of one class of shapes.
struct ClassRecord {
    std::size_t length_bytes = 0;  ///< of the first call
    std::uint64_t first_call = 0;
    std::uint64_t native_calls = 0;  ///< by the MPI library, for want of a ruling or by one
    std::optional<RulingRecord> native_choice;  ///< the decider's, where no ruling was needed for it
    std::list<RulingRecord> rulings;  ///< the first and the latest
    std::uint64_t forgotten_rulings = 0;  ///< behind the first
    std::uint64_t forgotten_calls = 0;    ///< by those
    std::optional<Account> account{};     ///< the decider's; nothing: nothing was to be compared
};

/// A change of the network that the decider took up.
struct TakenUp {
    static constexpr std::size_t most_shown = 8;

    struct Link {
        int low;
        int high;
        double before_us;
        double after_us;
    };
    std::uint64_t call = 0;   ///< during which it became known
    std::size_t links = 0;    ///< whose latency changed
    std::vector<Link> shown;  ///< the first of them
    bool new_tree = false;
};

/// How a communicator followed its network, on this rank.
struct AdaptationRecord {
    std::string mode = "off";
    std::uint64_t epochs = 0;  ///< announcements that this rank obeyed
    std::uint64_t waits = 0;   ///< times that this rank waited for one, once settled
    double waited_ms = 0;
    std::uint64_t early_waits = 0;  ///< before anything was settled
    double early_waited_ms = 0;
    std::optional<std::uint64_t> horizon_calls;  ///< so far ahead this rank announces, if it does
    // Synchronous only: measuring and adapting, while the program waited.
    std::uint64_t checks = 0;
    double adapting_ms = 0;
    std::vector<double> check_ms;  ///< each of the latest checks
    std::vector<TakenUp> taken_up;  ///< the latest

    void checked(double took_ms) {
        constexpr std::size_t most_checks = 1024;
        ++checks;
        adapting_ms += took_ms;
        check_ms.push_back(took_ms);
        if (check_ms.size() > most_checks) {
            check_ms.erase(check_ms.begin());
        }
    }
};

struct Record {
    std::mutex mutex;  ///< the decider's thread writes topology, reasons and what was taken up
    std::string name;
    int ranks = 0;
    int hosts = 0;
    std::vector<std::string> host_names;  ///< of the first ones, once they are known
    bool native = false;  ///< for good
    bool ruled = false;   ///< its ranks have agreed that mutirao handles it
    std::string reason;  ///< why native, or where the network came from
    std::string profile;  ///< what it has of this network, or why nothing; empty: none was looked at
    std::uint64_t calls = 0;
    std::optional<std::uint64_t> first_ruled_call;
    double first_ruled_ms = 0;  ///< after MPI_Init returned
    std::shared_ptr<const Topology> topology;  ///< the newest that the decider knows; null: none
    AdaptationRecord adaptation;
    std::map<ShapeClass, ClassRecord> classes;
    ClassRecord other_classes;  ///< calls only: of more classes than are told apart
    std::vector<ChoiceChange> changes;  ///< the first and the latest
    std::uint64_t forgotten_changes = 0;
    bool ended = false;  ///< the communicator is freed; guarded by Runtime's mutex
};

/// That ran by mutirao's algorithms, on probe or not, as of now.
std::uint64_t own_calls(const ClassRecord& of_class);
std::uint64_t probe_calls(const ClassRecord& of_class);

/// What holds in the end: of the last ruling, or of the choice for native that needed none; null: nothing.
const RulingRecord* last_choice(const ClassRecord& of_class);
RulingRecord* last_choice(ClassRecord& of_class);

/// topology becomes `newest`; remembered for the report. `record` is locked.
void take_up(Record& record, std::uint64_t call, std::shared_ptr<const Topology> newest);

/// Adds to what is known of a class; where that is too much one behind the first is forgotten. Locked.
RulingRecord& add_ruling(ClassRecord& of_class, RulingRecord ruling);
/// Adds to the log; as add_ruling().
void log_change(Record& record, ChoiceChange change);

// What people read of a record, in the words of `explain` and `verbose`.

/// "MPI_COMM_WORLD (4 ranks)".
std::string title_of(const Record& record);

/// "allgather of 4 KiB"; `length_bytes`: of such calls.
std::string name_of(const ShapeClass& shapes, std::size_t length_bytes);
/// The same of calls of the communicator that `record` is of, which is locked.
std::string name_of(const Record& record, const ShapeClass& shapes);

/// Why the MPI library took at least some calls of a kind, and why all of a communicator that mutirao did not take on.
std::string why_ruled_native(const Record& record, const ClassRecord& of_class);
std::string why_not_ruled(const Record& record);

// The records of all communicators of this process, from which the report is written.

/// What communicators come to.
struct Sums {
    bool enabled = true;            ///< by the settings
    std::uint64_t calls = 0;        ///< on communicators that are not native for good, whose calls nobody counts
    std::uint64_t own_calls = 0;    ///< of them, by mutirao's algorithms
    std::uint64_t probe_calls = 0;  ///< of those, on probe
    Account account;                ///< as far as anything was compared
    std::uint64_t most_native = 0;  ///< calls of one kind
    std::string why_native;         ///< those
    double waited_ms = 0;           ///< inside calls, for what mutirao was to say or to measure
    std::uint64_t forgotten_communicators = 0;  ///< that only these sums tell of

    /// `record` is locked.
    void add(const Record& record);
};

struct Records {
    std::mutex mutex;  ///< threads may make communicators at once
    /// Of MPI_COMM_WORLD, then of all that live, and of those that were freed the first ones and the newest.
    std::list<std::shared_ptr<Record>> kept;
    Sums forgotten;  ///< of all others
};

Records& records();

/// Keeps a communicator's record for the report.
void remember(const std::shared_ptr<Record>& record, bool of_world);
/// The communicator is freed: where records are many, of the oldest such only the sums are kept.
void note_end(Record& record);

}  // namespace mutirao::mpi
