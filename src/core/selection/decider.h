// How the calls of a communicator get from the MPI library's own algorithms to better ones without harm: what
// native takes is measured first; a probe of a few calls of what is predicted to be faster ends by itself; and
// only what was measured faster becomes the incumbent. A pure machine, for one communicator: reports of ranks,
// predictions and the time in, rulings out; no thread, no clock. src/mpi drives it, and src/simulate.
//
// - One probe at a time, first in the class in which most is to be won.
// - Differences are judged, not times: a rank's time in a call holds the program's own lateness, which the
//   incumbent's calls around a probe hold as well.
// - A ledger bounds what finding out may cost: its income is a share of the time in calls, and of what calls are
//   measured to save; a probe is paid for beforehand with what it may lose, and settled afterwards. Free of charge is
//   only what is predicted, error and all, to be faster than nearly all of the incumbent's calls.
// - What is saved is told by all classes: when one changes the others are clocked, too, as ranks wait elsewhere then.
// - A change of the network is not judged by probes: the incumbent's prediction is compared with its rivals', and
//   what was clocked before counts no more.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/selection/class_choice.h"

namespace mutirao {

/// What probes may cost a program, in time on each rank. Shared by communicators of the same ranks, on which threads
/// may call at a time.
class Ledger {
  public:
    static constexpr double income_share = 0.01, reinvested_share = 0.1;

    explicit Ledger(double opening_us) : balance_us_(opening_us) {}

    void earn(double spent_in_calls_us) { pay_in(income_share * spent_in_calls_us); }
    /// Less than before: it was not saved after all.
    void reinvest(double saved_us) { pay_in(reinvested_share * saved_us); }
    bool can_pay(double cost_us) const { return cost_us <= 0 || cost_us <= balance_us_; }
    void charge(double cost_us) { balance_us_ -= cost_us; }

  private:
    void pay_in(double us);

    std::atomic<double> balance_us_;
};

/// How a class runs from now on, and why, as it was decided.
struct Decided {
    Ruling ruling;
    bool announced = true;  ///< false: it runs so already, and nothing is left to be tried
    std::string reason;     ///< one line, for people
    std::vector<Measured> measured;
};

class Decider {
  public:
    /// `began_us`: before the first call, on the clock of on_time(); nothing: when that is first asked.
    explicit Decider(std::shared_ptr<Ledger> ledger, std::optional<double> began_us = {})
        : ledger_(std::move(ledger)), counted_us_(began_us) {}

    /// Calls of that class are made, and so many ranks report of them. `watched`: as ClassChoice takes it.
    void take_on(const ShapeClass& shapes, int reporters, bool watched);

    /// Of a class that was taken on. `remembered`: what an earlier job measured on such a network; `preferred`:
    /// what by that is to run until calls tell otherwise.
    void on_outlook(const ShapeClass& shapes, Outlook outlook, const std::vector<Measured>& remembered = {},
                    const std::optional<Candidate>& preferred = {});
    void on_report(const TimeReport& report);

    struct CallsMade {
        ShapeClass shapes;
        std::uint64_t calls = 0;  ///< since the communicator's first
    };
    /// What is to be announced at `now_us` of any clock.
    std::vector<Decided> on_time(double now_us, std::span<const CallsMade> made);

    struct NativeTime {
        ShapeClass shapes;
        std::uint64_t calls = 0;
        double time_us = 0;  ///< of one, by the MPI library's own
    };
    /// What those calls would have taken less by what is predicted to be the fastest for each.
    double expected_gain_us(std::span<const NativeTime> native) const;

    /// What calls as they run now save, in time per time, if those of which it is not known lose as much as they take;
    /// nothing: then nothing would be left.
    std::optional<double> saved_share() const;

    /// Nothing is on probe, or still to be announced.
    bool quiet() const;
    /// Null unless it was taken on.
    const ClassChoice* find(const ShapeClass& shapes) const;
    /// Of all classes.
    Account account() const;

  private:
    ClassChoice* choice_of(const ShapeClass& shapes);
    void rule_what_changed(std::vector<Decided>& decided);
    void clock_the_others(bool one_moves, std::vector<Decided>& decided);
    void reinvest();
    void begin_probe(double now_us, std::vector<Decided>& decided);

    std::shared_ptr<Ledger> ledger_;
    std::map<ShapeClass, ClassChoice> classes_;
    std::uint32_t last_id_ = 0;
    ClassChoice* probing_ = nullptr;  ///< the class whose probe is under way
    std::optional<double> counted_us_;         ///< when calls were counted last
    std::map<ShapeClass, double> none_until_us_;  ///< of each class there was no call yet
    double reinvested_us_ = 0;        ///< of what was saved so far
    double probe_until_us_ = 0;       ///< then it is given up: its calls are not made any more
};

}  // namespace mutirao
