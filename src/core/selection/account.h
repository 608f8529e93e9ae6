// What a class's calls came to, against the MPI library's own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "core/selection/samples.h"

namespace mutirao {

/// On each rank; what is not known counts nothing.
struct Account {
    double took_us = 0;               ///< all calls, as far as they were measured
    double saved_us = 0;              ///< by calls whose time and native's were measured; negative: lost
    double error_us = 0;              ///< of that: half of an interval that holds it with 95%
    double probes_us = 0;             ///< what probes lost; negative: won
    std::uint64_t unknown_calls = 0;  ///< not native, and with nothing to compare with

    void add(const Account& other);
    /// Of probes; negative: lost.
    double net_us() const { return saved_us - probes_us; }
};

/// What one call of a class takes less than while all ran natively, on the mean of its ranks. Wherever a class gets
/// faster its ranks wait elsewhere, longer or shorter than before: so each class is clocked in blocks between changes,
/// whoever changed, and what one block took less than the one before adds up over all classes to what is saved.
class Saving {
  public:
    /// Of a call as things are now.
    void add(double mean_us);
    /// Another arm runs from now on, in this class or in another one.
    void own_change();
    void others_change();
    /// What native took beside the present block; false: either is too short yet.
    bool compare(const std::vector<double>& native_us);
    /// On another network. `as_before`: where calls take as long; otherwise times of before are compared with none of
    /// those that follow.
    void begin_anew(bool as_before);
    /// What runs now was never compared there.
    void forget(bool native_runs);

    /// The latest calls since the last change, the mean of ranks each.
    const std::vector<double>& block_us() const { return present_us_; }
    /// Nothing: not known.
    std::optional<Difference> per_call() const;
    /// What a call takes; 0: not known.
    double time_us() const;
    /// Since the last change too few calls were clocked; then it is what it was before.
    bool is_behind() const { return moved_ && present_us_.size() < least_block; }

  private:
    static constexpr std::size_t least_block = 3, most_block = 8;

    Difference step() const;
    void add_step();
    void close(bool own);

    bool known_ = true;         ///< calls began natively, and since then each change is known
    bool begun_ = false;        ///< there was a change in this class
    Difference own_, others_;   ///< up to the block before, by changes in this class and in others
    std::optional<Difference> probed_;  ///< the first of these, by native calls on probe
    std::vector<double> before_us_, present_us_;
    bool anew_ = false;         ///< since the block before the network changed
    bool moved_ = false;        ///< between these two
    bool by_itself_ = false;    ///< and it was this class
};

class Bookkeeping {
  public:
    /// Of calls as they run now.
    struct Running {
        bool natively = false;
        double time_us = 0;  ///< of one; 0: not known yet, these calls are counted when it is
        std::optional<Difference> saved{};  ///< by one, against all calls native; nothing: not known
        bool saved_is_behind = false;       ///< it is of calls before a change; corrected when it is known
    };

    /// So many calls more; what they and those that had to wait for a time took.
    double count(std::uint64_t calls, const Running& running);
    /// The same as those before them: what is to run instead is not announced yet.
    double count_as_before(std::uint64_t calls);
    void add_probe(double lost_us) { closed_.probes_us += lost_us; }
    /// Native's time is measured anew from now on. Calls compared by one measurement have one error.
    void compare_anew();
    /// So it is, and calls from now on run by another arm or on another network: those that nothing was compared with
    /// stay unknown. Otherwise they count as the others, once these are compared.
    void another_runs();

    /// Native calls at the beginning whose time was not known while they were made took so long each.
    void time_native(double time_us) {
        closed_.took_us += static_cast<double>(std::exchange(untimed_native_calls_, 0)) * time_us;
    }

    Account account() const;

  private:
    Account closed_;
    double span_calls_ = 0;        ///< compared since then
    double span_error_us_ = 0;     ///< of one of these
    std::uint64_t waiting_calls_ = 0, uncompared_calls_ = 0, untimed_native_calls_ = 0;
    double behind_calls_ = 0;      ///< counted with what was saved before a change
    bool natively_ = true;
    double took_us_ = 0, saved_us_ = 0;  ///< one call of those counted last
};

}  // namespace mutirao
