// How the tags of a twin are shared out. Every communicator that mutirao handles has a slot of its own: a few tags for
// what its ranks tell each other, the others for the data of its calls.
#pragma once

#include <algorithm>
#include <cstdint>
#include <mutex>
#include <vector>

namespace mutirao::mpi {

/// A communicator's tags, for as long as it has them. Slot 0 is that of the one that the twin was made for.
class Slot {
  public:
    static constexpr int tags = 256;

    /// `owner` tells the communicators of a job apart that have the same slot one after the other.
    explicit Slot(int number, std::uint64_t owner = 0) : first_tag_(number * tags), owner_(owner) {}

    int number() const { return first_tag_ / tags; }
    std::uint64_t owner() const { return owner_; }
    int announcements() const { return first_tag_; }  ///< from the decider to all
    int reports() const { return first_tag_ + 1; }    ///< from all to the decider
    int synchronous() const { return first_tag_ + 2; }  ///< measuring and adapting while calls wait
    int in_band() const { return first_tag_ + 3; }      ///< the same beside the calls
    int connections() const { return first_tag_ + 4; }  ///< between ranks that are about to need each other
    /// Of the data of one call. MPI keeps the order between two ranks, so a tag may be used again.
    int of_call(std::uint64_t call) const {
        constexpr std::uint64_t of_calls = tags - reserved;
        return first_tag_ + reserved + static_cast<int>(call % of_calls);
    }

  private:
    static constexpr int reserved = 5;
    int first_tag_;
    std::uint64_t owner_;
};

/// How many slots there are below the largest tag that the MPI library allows (at least 32767 by MPI
/// 4.0, section 9.1.2), and not more than any program needs.
constexpr int slot_count(int largest_tag) {
    constexpr int most_slots = 8192;
    return std::min((largest_tag - Slot::tags + 1) / Slot::tags + 1, most_slots);
}

/// Which slots this rank may offer to a communicator. Ranks agree on one that all of them offered, and one that is
/// offered to a pending agreement is offered to no other.
class Slots {
  public:
    explicit Slots(int count) : taken_(static_cast<std::size_t>(count), false) {
        taken_[0] = true;  // that of the communicator that the twin was made for
    }

    /// A set of slots, as bits: bit i is the i-th of 64 places that `who` is given to choose from, the
    /// same on all ranks that name the same `who`. A few of those that are free here, taken from now:
    /// few enough that several communicators of the same ranks can agree at the same time.
    std::uint64_t offer(std::uint64_t who);
    /// The slot of the lowest bit of `agreed` stays taken and is returned, the rest of what was
    /// offered is given back; -1 where nothing is agreed.
    int settle(std::uint64_t who, std::uint64_t offered, std::uint64_t agreed);
    void give_back(int slot);

  private:
    static constexpr int choices = 64;
    static constexpr int most_offered = 8;

    std::size_t place(std::uint64_t who, int choice) const;

    std::mutex mutex_;
    std::vector<bool> taken_;
};

}  // namespace mutirao::mpi
