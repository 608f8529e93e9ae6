// Which rulings hold on a communicator, and the plans made of them. A repeated shape costs a comparison:
// no hash, no allocation.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <iterator>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "core/collectives/collective.h"
#include "core/network/network.h"
#include "core/selection/decider.h"
#include "core/selection/samples.h"
#include "mpi/account/record.h"
#include "mpi/base/world.h"
#include "mpi/executor/execution.h"
#include "mpi/job/job.h"

namespace mutirao::mpi {

/// What others read meanwhile (record.h), without a lock.
inline void count_up(std::uint64_t& count) { std::atomic_ref(count).store(count + 1, std::memory_order_relaxed); }

/// Open MPI connects two ranks when the first message between them is sent, and what follows from a message waits for two
/// round trips more: over a tree of six levels between sites, for seconds. All edges of a schedule side by side take as
/// long as the slowest of them.
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
            const bool is_message = step.rank >= 0;
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

/// What runs a call: one of these, or without them the MPI library's own.
struct Runner {
    const Plan* plan = nullptr;
    NativeComposition composition = nullptr;

    bool native() const { return plan == nullptr && composition == nullptr; }
};

class RulingTable {
  public:
    /// Both outlive the table; members' placement is known when the first ruling is taken. `clocks`: the first
    /// calls of each class are clocked.
    RulingTable(const Members& members, Record& record, bool clocks)
        : members_(members), record_(record), clocks_(clocks) {}

    struct Entry {
        Ruling ruling;
        RulingRecord* record;
        Transport transport;
        std::uint32_t number;  ///< different for each ruling
    };
    /// A class's calls, with what is on probe among them.
    struct ClassCourse : Course {
        using Course::Course;
        std::optional<Entry> probe{};
    };

    /// What is known of a class of shapes, or of many by one ruling.
    struct Class {
        std::optional<Entry> entry{};
        std::optional<ClassCourse> course{};
        bool asked = false;  ///< for a ruling
    };

    /// What one shape is run by.
    struct Way {
        CallShape shape;
        Runner by{};
        std::uint64_t* calls = nullptr;  ///< to be counted in
        bool ruled = false;              ///< somebody has decided on it, be it for the MPI library
        ClassCourse* course = nullptr;   ///< its class's calls, as far as they are clocked; null: none is
        Class* of_class = nullptr;       ///< null: one of more than are told apart

        bool is_clocked() const { return course != nullptr && course->clocks(); }
        bool is_asked_for() const { return of_class != nullptr && of_class->asked; }
    };

    const Way& find(const CallShape& shape, std::uint64_t call) {
        Way& recent = recent_[place_of(shape)];
        return recent.calls != nullptr && recent.shape == shape ? recent
                                                                : look_up(shape, call, recent);
    }

    /// What runs the next call of a way that is clocked; it is counted.
    Runner begin_clocked(const Way& way);
    /// What this rank has clocked and not yet told.
    std::vector<TimeReport> take_reports();

    /// A ruling holds from `call` on, in place of an earlier one for the same calls. What the calls before were
    /// clocked at is still to be told: see take_reports().
    void take(const Ruling& ruling, std::uint64_t call, RulingRecord explained,
              const Transport& transport);

    /// From now on, ahead of the first call by a plan; outlives the calls.
    void connect_by(Connections& connections) { connections_ = &connections; }

    /// Once for the class of a call that has no ruling: true.
    static bool asks_for(const Way& way) {
        return way.of_class != nullptr && !std::exchange(way.of_class->asked, true);
    }
    /// Nobody is taken to have been asked.
    void ask_anew() {
        for (auto& [shapes, each] : classes_) each.asked = false;
    }

    /// On this rank, of the classes that are told apart.
    std::vector<Decider::CallsMade> calls_made() const;
    /// The same, with what those calls took that were clocked, before anything is ruled.
    std::vector<Decider::NativeTime> native_times() const;

  private:
    static constexpr std::size_t recent_shapes = 8;
    static constexpr std::size_t most_plan_bytes = std::size_t{1} << 22;

    struct PlanKey {
        std::uint32_t ruling;
        int root;
        std::size_t length_bytes;
        std::size_t unit_bytes;
        std::vector<std::size_t> lengths;
        auto operator<=>(const PlanKey&) const = default;
    };

    static std::size_t place_of(const CallShape& shape) {
        return (shape.length_bytes ^ (shape.length_bytes >> 3) ^ static_cast<std::size_t>(shape.root) ^
                static_cast<std::size_t>(shape.collective)) %
               recent_shapes;
    }
    const Way& look_up(const CallShape& shape, std::uint64_t call, Way& recent);
    Entry* entry_for(const CallShape& shape, std::uint64_t call);
    Entry& narrow(const Entry& entry, const CallShape& shape, std::uint64_t call);
    bool is_told_apart(const ShapeClass& shapes) const;
    ClassRecord& class_record(const CallShape& shape, std::uint64_t call);
    ClassRecord& class_record(const ShapeClass& shapes, std::uint64_t call);
    void log_if_changed(const Ruling& ruling, const RulingRecord& explained);
    Runner runner_for(const Entry& entry, const CallShape& shape);
    const Plan& plan_for(const Entry& entry, const CallShape& shape);
    void forget_recent() { std::fill(std::begin(recent_), std::end(recent_), Way{}); }

    ClassCourse* course_of(const ShapeClass& shapes, Class& of_class, bool ruled);
    void begin_course(Class& of_class, const Ruling& ruling);

    const Members& members_;
    Record& record_;
    const bool clocks_;
    Connections* connections_ = nullptr;
    std::map<ShapeClass, Class> classes_;
    std::vector<TimeReport> untold_;        ///< of courses that are over
    std::list<RulingRecord> for_any_length_;  ///< of rulings for any length
    std::uint32_t number_ = 0;
    Way recent_[recent_shapes];
    std::map<PlanKey, Plan> plans_;  ///< forgotten when they are too many
    std::size_t plan_bytes_ = 0;
};

}  // namespace mutirao::mpi
