// What mutirao holds of one of the program's communicators, from its first call to its end:
//
//   counting   its calls run natively, are counted and their first ones clocked. At points that all know (vote.h) its
//              ranks vote (vote.h): first they introduce themselves to each other, and their hosts are measured from
//              then on; once that pays they make a twin, or take one that serves others already
//   ruled      calls run as the decider's announcements say, and natively where they say nothing
//   native     the MPI library takes all calls, for good
//
// All ranks pass from one phase to the next at the same call, but for those into native that change
// nothing about which calls run natively.
#pragma once

#include <mpi.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/epochs/epochs.h"
#include "mpi/account/record.h"
#include "mpi/base/waiting.h"
#include "mpi/base/world.h"
#include "mpi/communicator/ruling_table.h"
#include "mpi/communicator/vote.h"
#include "mpi/decide/announcement_post.h"
#include "mpi/decide/docket.h"
#include "mpi/executor/execution.h"
#include "mpi/job/job.h"
#include "mpi/watch/in_band.h"

namespace mutirao::mpi {

// Calls that the program makes again and again and that are the MPI library's: recognised by what the program
// passed, before anything is made of it, so that they cost what a pass-through costs.

/// What the program passed, but for its buffers, which say nothing of the call where they are plain: not null,
/// not MPI_IN_PLACE, and not one and the same.
struct CallWords {
    static constexpr std::size_t most_words = 6;

    const void* function = nullptr;  ///< the MPI library's; null: not plain
    std::array<std::uintptr_t, most_words> words{};
    std::uint64_t freed_types = 0;  ///< a handle means the same as long as none is freed

    /// Word by word: memcmp would read what was just written in other pieces, which processors stall on.
    bool operator==(const CallWords& other) const {
        std::uintptr_t differences = freed_types ^ other.freed_types;
#pragma GCC unroll 6
        for (std::size_t i = 0; i < most_words; ++i) differences |= words[i] ^ other.words[i];
        return differences == 0 && function == other.function;
    }
};

class RepeatedCalls {
  public:
    /// Where such a call is counted, and as how many units (vote.h); null: nowhere.
    struct Counted {
        std::uint64_t* native_calls = nullptr;
        std::int64_t units = 1;
        std::int64_t most_late_units = 0;  ///< of a point, which does not lie in such a call before
    };
    struct Known : Counted {
        CallWords call{};
    };

    /// Null: it is none of those remembered.
    const Known* find(const CallWords& call) const {
        const Known& known = known_[place_of(call)];
        return known.native_calls != nullptr && known.call == call ? &known : nullptr;
    }
    void remember(const CallWords& call, const Counted& counted) { known_[place_of(call)] = {counted, call}; }
    void forget() { known_ = {}; }

  private:
    static constexpr int place_bits = 3;
    static constexpr std::size_t most_known = std::size_t{1} << place_bits;

    static std::size_t place_of(const CallWords& call) {
        constexpr std::uint64_t spread = 0x9E3779B97F4A7C15u;
        std::uint64_t mixed = reinterpret_cast<std::uintptr_t>(call.function);
#pragma GCC unroll 6
        for (std::size_t i = 0; i < CallWords::most_words; ++i) mixed += std::uint64_t{call.words[i]} << i;
        return mixed * spread >> (64 - place_bits);
    }

    std::array<Known, most_known> known_{};
};

class Communicator final : private Background {
  public:
    Communicator(MPI_Comm comm, Job& job);
    ~Communicator() override;
    Communicator(const Communicator&) = delete;
    Communicator& operator=(const Communicator&) = delete;

    bool is_native() const { return phase_ == Phase::native; }
    int rank_count() const { return record_->ranks; }
    int my_rank() const { return my_rank_; }

    /// How the next call, of that shape, is run; once the communicator is native none need ask.
    struct Turn {
        Runner by{};
        int tag = 0;
        Course* course = nullptr;  ///< if it is clocked
        double begun_us = 0;
    };
    Turn enter(const CallShape& shape);
    /// Where the turn is not native.
    Outcome run(const Turn& turn, const CallOnComm& call);
    /// After a call that ran by `turn`.
    void leave(const Turn& turn);

    /// True: the call is the MPI library's, as the same one before, and is counted.
    bool repeats_natively(const CallWords& call) {
        const RepeatedCalls::Known* const known = call.function != nullptr ? repeated_.find(call) : nullptr;
        if (known == nullptr || left_ <= -known->most_late_units) return false;
        left_ -= known->units;
        ++calls_;
        count_up(*known->native_calls);
        return true;
    }
    /// After a call.
    void remember_call(const CallWords& call) {
        if (repeatable_.native_calls != nullptr) repeated_.remember(call, repeatable_);
    }

    /// The program frees it: what is still under way on it becomes the job's. Not left to the end, which may come in the
    /// middle of any call of MPI.
    void give_up();

    /// The program duplicates it without blocking: nothing more is started on it.
    void agree_no_more() { agrees_no_more_ = true; }

  private:
    enum class Phase : std::uint8_t { counting, ruled, native };

    /// What only a ruled communicator has.
    struct Ruled {
        Ruled(std::shared_ptr<Twin> its_twin, Slot its_slot, std::shared_ptr<const Members> all,
              std::uint64_t first_call, std::uint64_t calls_without, double us_per_call);

        std::shared_ptr<Twin> twin;
        Slot slot;
        std::shared_ptr<const Members> members;
        AnnouncementPost post;
        EpochFollower follower;
        std::unique_ptr<SynchronousAdaptation> synchronous;
        Connections connections;
        Transport transport;
        std::optional<EpochDecider> epochs{};  ///< the decider's
    };

    void go_on_with_the_rest(std::uint64_t call);
    void be_native(std::string reason);

    /// False: what the call takes says nothing of others. The same on all ranks.
    bool count(const CallShape& shape, std::uint64_t call);
    void look_around(const CallShape& shape, std::uint64_t call);
    std::vector<Pending*> under_way();
    void wait_in_call(Pending& pending);
    bool may_go_on(const CallShape& shape);
    bool tell_or_hear(bool yes, int root);
    void vote();
    double us_per_native_call() const;
    bool would_meet();
    void take_vote(std::uint64_t call);
    void meet();
    void note_hosts(const World& ranks);
    void weigh(const std::shared_ptr<Peers>& peers);
    bool would_pay(const std::shared_ptr<Peers>& peers);

    void rule(const std::shared_ptr<Twin>& twin, Slot slot, std::uint64_t first_call, std::uint64_t calls_without);
    void start_deciding(World ranks, std::shared_ptr<NetworkSource> source, std::shared_ptr<Ledger> ledger);
    void follow(std::uint64_t call);
    void listen(std::uint64_t next_call, bool before_sending = false);
    void hear(Announcement heard, std::uint64_t next_call);
    void announce(std::uint64_t call);
    void announce_or_defer(std::uint64_t call);
    void send_what_was_deferred();
    void wait_for_epoch(std::uint64_t call);
    bool has_message_of(std::uint64_t call) const;
    double held_up_us(const Turn& turn) const;
    void note_late(double held_up_us);
    void end_operation();
    void take(const Announcement& announcement);
    void tell(const TimeReport& report);
    void tell_what_was_clocked();
    std::uint64_t next_event(std::uint64_t call) const;

    RepeatedCalls::Counted repeatable(const CallShape& shape, const RulingTable::Way& way) const;
    bool checks_in(std::uint64_t call) const;
    void settle_at_once(const CallShape& shape, std::uint64_t call);
    void progress() override;
    bool decides() const { return my_rank_ == ruled_->post.decider(); }

    MPI_Comm comm_;
    Job& job_;
    Phase phase_;
    int my_rank_ = 0;
    const double begun_us_;
    std::uint64_t calls_ = 0;  ///< entered so far
    /// Calls when ruled, otherwise units of them (vote.h), until there is more to do than to look up.
    std::int64_t left_ = 0;
    std::shared_ptr<Record> record_;
    /// Known once it is ruled, but for this rank.
    std::shared_ptr<Members> members_ = std::make_shared<Members>();
    RulingTable table_;
    Operation::Surroundings surroundings_;
    std::unique_ptr<Operation> operation_;  ///< once it is ruled
    Background* source_background_ = nullptr;  ///< of what watches the network in band
    std::shared_ptr<Docket> docket_;  ///< of who decides, or says what would pay
    std::shared_ptr<Peers> docket_peers_;  ///< whose numbers of hosts it goes by, as long as it only says that
    bool has_thread_ = false;         ///< that works the docket off
    // Counting.
    Points points_;
    bool agrees_no_more_ = false;
    bool calls_last_ = false;  ///< as all said in the last vote
    bool has_voted_ = false;
    std::optional<Vote> vote_;                ///< begun at the point before
    std::optional<Introducing> introducing_;  ///< likewise
    std::shared_ptr<Group> meeting_;          ///< from the vote on it until all know each other
    int gave_way_ = 0;                        ///< votes, to others that meet
    // Ruled.
    std::unique_ptr<Ruled> ruled_;
    std::uint64_t next_event_ = 0;  ///< the call at which there is more to do than to look up
    std::map<std::uint64_t, Announcement> at_once_;  ///< heard, by call; the decider may be ahead
    bool waiting_ = false;           ///< for an epoch's announcement
    struct Late {
        LeadReport report;
        bool worth_reporting;  ///< even if the wait did no harm
    };
    std::optional<Late> late_;  ///< of the announcement that was waited for in this call
    double waited_us_ = 0;          ///< for it
    double message_waited_us_ = 0;  ///< so long one of the call was there meanwhile
    RepeatedCalls repeated_;
    RepeatedCalls::Counted repeatable_;  ///< where the last call was counted; nowhere: it was not like that
    std::optional<std::uint64_t> to_announce_in_;  ///< the call in which, once its own messages are under way
    int progress_calls_ = 0;
};

// How it is found: by an attribute of the program's communicator, and among this thread's last ones, so that a
// repeated call costs a comparison.

/// One of this thread's last communicators. A handle may be used again for another communicator, so
/// every freed one ends all of these.
struct RecentCommunicator {
    MPI_Comm comm;
    Communicator* communicator;  ///< null: none yet
    std::uint64_t generation;
    bool native;  ///< the MPI library takes all calls on it, for good

    static inline std::atomic<std::uint64_t> current{0};  ///< generation

    /// Null if `comm` is none of them.
    static RecentCommunicator* find(MPI_Comm comm) {
        RecentCommunicator* const pair = pair_of(comm);
        return pair[0].is(comm) ? &pair[0] : pair[1].is(comm) ? &pair[1] : nullptr;
    }
    /// In the place of an older one.
    static RecentCommunicator& add(RecentCommunicator fresh) {
        RecentCommunicator* const pair = pair_of(fresh.comm);
        pair[1] = pair[0];
        return pair[0] = fresh;
    }

  private:
    bool is(MPI_Comm wanted) const {
        return comm == wanted && communicator != nullptr &&
               generation == current.load(std::memory_order_relaxed);
    }
    /// The two places for `comm`: those that a program uses in turn shall not drive each other out.
    static RecentCommunicator* pair_of(MPI_Comm comm) {
        const auto word = static_cast<std::uint64_t>(as_word(comm));
        return places + (word ^ (word >> 4) ^ (word >> 9)) % (place_count / 2) * 2;
    }
    static constexpr std::size_t place_count = 8;
    static constinit thread_local RecentCommunicator places[place_count]
        __attribute__((tls_model("initial-exec")));
};

/// Made at the communicator's first call; lives until the program frees it, or MPI ends. Null: the program has freed it,
/// which is for the MPI library to say.
Communicator* communicator_of(MPI_Comm comm, Job& job);

/// When the program frees it. MPI may call back for the attribute much later: MPICH when the last request
/// on the communicator ends, ours too.
void free_communicator(MPI_Comm comm);

/// Ends what the living communicators hold. For the beginning of MPI_Finalize.
void end_communicators();

}  // namespace mutirao::mpi
