// Which slots of a twin's tags (tags.h) this rank may offer to a communicator. Ranks agree on one that
// all of them offered, and one that is offered to a pending agreement is offered to no other.
#pragma once

#include <cstdint>
#include <mutex>
#include <vector>

namespace mutirao::mpi {

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
