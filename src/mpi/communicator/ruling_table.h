// Which rulings hold on a communicator, and the plans made of them. A repeated shape costs a comparison:
// no hash, no allocation.
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "core/collectives/call_shape.h"
#include "core/network/network.h"
#include "core/selection/ruling.h"
#include "core/selection/trial.h"
#include "mpi/communicator/members.h"
#include "mpi/communicator/record.h"
#include "mpi/executor/execution.h"
#include "mpi/executor/native_compositions.h"

namespace mutirao::mpi {

/// What runs a call: one of these, or without them the MPI library's own.
struct Runner {
    Execution* execution = nullptr;
    NativeComposition composition = nullptr;

    bool native() const { return execution == nullptr && composition == nullptr; }
};

class RulingTable {
  public:
    /// Both outlive the table; members' placement is known when the first ruling is taken.
    RulingTable(const Members& members, Record& record) : members_(members), record_(record) {}

    struct Turns;

    /// What one shape is run by.
    struct Way {
        CallShape shape;
        Runner by{};
        std::uint64_t* calls = nullptr;  ///< to be counted in
        bool ruled = false;              ///< somebody has decided on it, be it for the MPI library
        mutable bool asked = false;      ///< for a ruling
        Turns* turns = nullptr;          ///< on trial: calls in windows run as take_turn() says instead
    };

    /// A call of a trial.
    struct TrialCall {
        Runner by{};
        Turns* turns = nullptr;
        int arm = 0;
    };

    const Way& find(const CallShape& shape, std::uint64_t call) {
        Way& recent = recent_[place_of(shape)];
        return recent.calls != nullptr && recent.shape == shape ? recent
                                                                : look_up(shape, call, recent);
    }

    /// Of a shape on trial, in a window: how its next call runs; it is counted.
    TrialCall take_turn(const Way& way);
    /// It took so long. At the end of a window: what this rank has to say of it.
    static std::optional<TrialReport> end_turn(const TrialCall& call, double took_us);

    /// A ruling holds from `call` on, in place of an earlier one for the same calls.
    void take(const Ruling& ruling, std::uint64_t call, RulingRecord explained,
              const Transport& transport);

  private:
    static constexpr std::size_t recent_shapes = 8;
    static constexpr std::size_t most_plans = 512;
    static constexpr std::size_t most_plan_bytes = std::size_t{1} << 18;

    struct Entry {
        Ruling ruling;
        RulingRecord* record;
        Transport transport;
        std::uint32_t number;  ///< different for each ruling
        std::shared_ptr<Turns> turns{};
    };
    struct PlanKey {
        std::uint32_t ruling;
        int root;
        std::size_t length_bytes;
        std::size_t unit_bytes;
        std::vector<std::size_t> lengths;
        bool operator==(const PlanKey&) const = default;
    };
    struct PlanHash {
        std::size_t operator()(const PlanKey& key) const {
            std::size_t hash =
                (key.length_bytes * 31 + static_cast<std::size_t>(key.root)) * 31 + key.ruling;
            for (const std::size_t length : key.lengths) {
                hash = hash * 31 + length;
            }
            return hash;
        }
    };
    struct Planned {
        PlanKey key;
        Execution execution;

        std::size_t memory_bytes() const {
            return execution.plan().memory_bytes() + key.lengths.size() * sizeof(std::size_t);
        }
    };

    static std::size_t place_of(const CallShape& shape) {
        return (shape.length_bytes ^ (shape.length_bytes >> 3) ^ static_cast<std::size_t>(shape.root) ^
                static_cast<std::size_t>(shape.collective)) %
               recent_shapes;
    }
    const Way& look_up(const CallShape& shape, std::uint64_t call, Way& recent);
    Entry* entry_for(const CallShape& shape, std::uint64_t call);
    Entry& narrow(const Entry& entry, const CallShape& shape, std::uint64_t call);
    bool has_room_for(const ShapeClass& shapes) const;
    ClassRecord& class_record(const CallShape& shape, std::uint64_t call);
    void log_if_changed(const Ruling& ruling, const RulingRecord& explained);
    Runner runner_for(const Entry& entry, const CallShape& shape);
    Execution& execution_for(const Entry& entry, const CallShape& shape);
    void make_room(std::size_t bytes);

    const Members& members_;
    Record& record_;
    std::map<ShapeClass, Entry> entries_;
    std::list<RulingRecord> for_any_length_;  ///< of rulings for any length
    std::uint32_t number_ = 0;
    Way recent_[recent_shapes];
    std::list<Planned> plans_;  ///< the latest used first
    std::unordered_map<PlanKey, std::list<Planned>::iterator, PlanHash> plan_of_;
    std::size_t plan_bytes_ = 0;
};

/// A class's calls during a trial, on this rank.
struct RulingTable::Turns {
    mutirao::Turns order;
    TrialReport window;      ///< the present one; sums until its end
    std::vector<Entry> arms;
    std::uint64_t* native_calls = nullptr;  ///< the class's
    std::uint64_t calls = 0;                ///< in windows
    std::uint32_t rest_left = 0;

    /// Whether the next call belongs to no window; it is counted.
    bool rests() {
        if (rest_left == 0) return false;
        --rest_left;
        return true;
    }
};

}  // namespace mutirao::mpi
