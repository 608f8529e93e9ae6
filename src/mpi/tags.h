// How the tags of a twin are shared out. Every communicator that mutirao handles has a slot of its own:
// a few tags for what its ranks tell each other, the others for the data of its calls.
#pragma once

#include <algorithm>
#include <cstdint>

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

}  // namespace mutirao::mpi
