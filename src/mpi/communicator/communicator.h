// What mutirao holds of one of the program's communicators, from its first call to its end:
//
//   counting   its calls run natively and are counted; at the 2nd, 4th, 8th ... its ranks agree
//              whether mutirao handles it (MPI_COMM_WORLD needs no agreement and begins ruled)
//   ruled      calls run as the decider's announcements say, and natively where they say nothing
//   native     the MPI library takes all calls, for good
//
// All ranks pass from one phase to the next at the same call, but for those into native that change
// nothing about which calls run natively.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "core/epochs/epochs.h"
#include "core/epochs/route.h"
#include "mpi/communicator/members.h"
#include "mpi/communicator/record.h"
#include "mpi/communicator/repeated_calls.h"
#include "mpi/communicator/ruling_table.h"
#include "mpi/communicator/slot_agreement.h"
#include "mpi/executor/background.h"
#include "mpi/executor/execution.h"
#include "mpi/job/job.h"
#include "mpi/rulings/announcement_post.h"
#include "mpi/rulings/docket.h"
#include "mpi/rulings/synchronous.h"

namespace mutirao::mpi {

class Communicator final : private Background {
  public:
    Communicator(MPI_Comm comm, Job& job);
    ~Communicator() override;
    Communicator(const Communicator&) = delete;
    Communicator& operator=(const Communicator&) = delete;

    bool is_native() const { return phase_ == Phase::native; }
    int rank_count() const { return record_->ranks; }
    int my_rank() const { return my_rank_; }

    /// How the next call, of that shape, is run.
    struct Turn {
        Runner by{};
        int tag = 0;
        Course* course = nullptr;  ///< if it is clocked
        double begun_us = 0;
    };
    Turn enter(const CallShape& shape) {
        if (phase_ == Phase::native) return {};
        return enter_unless_native(shape);
    }
    /// After a call that ran by `turn`.
    void leave(const Turn& turn);

    /// True: the call is the MPI library's, as the same one before, and is counted.
    bool repeats_natively(const CallWords& call) {
        std::uint64_t* const native_calls =
            call.function != nullptr && calls_ < next_event_ ? repeated_.find(call) : nullptr;
        if (native_calls == nullptr) return false;
        ++calls_;
        ++*native_calls;
        return true;
    }
    /// After a call.
    void remember_call(const CallWords& call) {
        if (repeatable_ != nullptr && calls_ < next_event_) repeated_.remember(call, repeatable_);
    }

    /// For the end of the job: nothing more is passed on for freed communicators.
    static void stop_draining();

    /// The program frees it: what is still under way on it becomes the job's.
    void give_up();

    /// The program duplicates it without blocking: nothing more is started on it.
    void agree_no_more() { agrees_no_more_ = true; }

    const Execution::Surroundings& surroundings() const { return surroundings_; }

  private:
    enum class Phase : std::uint8_t { counting, ruled, native };

    /// What only a ruled communicator has.
    struct Ruled {
        Ruled(Job& job, Slot slot, Members members, Communicator& communicator,
              std::uint64_t first_call, std::uint64_t calls_without);

        Slot slot;
        Members members;
        AnnouncementPost post;
        EpochFollower follower;
        RulingTable table;
        std::unique_ptr<SynchronousAdaptation> synchronous;
        Transport transport;
        int decider = 0;     ///< rank
        bool ended = false;  ///< the decider's last announcement has come
        // The decider's.
        std::optional<EpochDecider> epochs;
        std::shared_ptr<Docket> docket;
        bool has_thread = false;
    };

    void end_deciding();

    // Of freed communicators (draining.cpp).
    static std::list<std::unique_ptr<Ruled>>& draining();
    static void drain(std::unique_ptr<Ruled> ruled);
    static void drain_all(Job& job);

    Turn enter_unless_native(const CallShape& shape);
    void on_event(std::uint64_t call);
    void be_native(std::string reason);

    void agree(std::uint64_t call);
    void begin_agreement(std::uint64_t call);
    void take_agreement(std::uint64_t call);

    void rule(Slot slot, Members members, std::uint64_t first_call, std::uint64_t calls_without);
    bool know_hosts();
    void wait_for_hosts();
    void start_deciding();
    void follow(std::uint64_t call);
    void listen(std::uint64_t next_call);
    void hear(Announcement heard, std::uint64_t next_call);
    void announce(std::uint64_t call);
    void announce_or_defer(std::uint64_t call);
    void announce_what_was_deferred();
    void wait_for_epoch(std::uint64_t call);
    void take(const Announcement& announcement);
    void tell(const TimeReport& report);
    void tell_what_was_clocked();
    std::uint64_t next_event(std::uint64_t call) const;

    std::uint64_t* repeatable(const CallShape& shape, const RulingTable::Way& way) const;
    bool checks_in(std::uint64_t call) const;
    void settle_at_once(const CallShape& shape, std::uint64_t call);
    void progress() override;
    void say_if_long(double begun_us);
    bool decides() const { return ruled_->members.my_rank == ruled_->decider; }

    MPI_Comm comm_;
    Job& job_;
    Phase phase_;
    int my_rank_ = 0;
    std::uint64_t calls_ = 0;       ///< entered so far
    std::uint64_t next_event_ = 0;  ///< the call at which there is more to do than to look up
    std::shared_ptr<Record> record_;
    Execution::Surroundings surroundings_;
    Background* source_background_ = nullptr;  ///< of what watches the network in band
    // Counting.
    bool agrees_no_more_ = false;
    std::optional<SlotAgreement> agreement_;
    std::optional<Members> candidates_;
    // Ruled.
    std::unique_ptr<Ruled> ruled_;
    std::map<std::uint64_t, Announcement> at_once_;  ///< heard, by call; the decider may be ahead
    bool waiting_ = false;           ///< for an epoch's announcement
    struct Late {
        LeadReport report;
        bool worth_reporting;  ///< even if the wait did no harm
    };
    std::optional<Late> late_;  ///< of the announcement that was waited for in this call
    double waited_us_ = 0;      ///< for it
    const Execution* running_ = nullptr;  ///< null: no call of ours
    RepeatedCalls repeated_;
    std::uint64_t* repeatable_ = nullptr;  ///< where the last call was counted; null: it was not like that
    std::optional<std::uint64_t> to_announce_in_;  ///< the call in which, once its own messages are under way
    int progress_calls_ = 0;
    bool said_long_ = false;
};

}  // namespace mutirao::mpi
