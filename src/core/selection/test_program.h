// A program of one or several classes of calls on a clock of its own, whose ranks obey a Decider: what its calls
// take is given by the test, so that what is decided can be held against what is true.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/selection/decider.h"

namespace mutirao::test {

/// What a call by that arm takes, in microseconds; `number` counts the class's calls.
using Truth = std::function<double(const Arm& arm, std::uint64_t number)>;

class DecidedProgram {
  public:
    explicit DecidedProgram(Decider& decider, int reporters = 2) : decider_(decider), reporters_(reporters) {}

    double gap_us = 0;  ///< between two calls

    void add(const ShapeClass& shapes, Truth truth, bool watched = true) {
        classes_[shapes] = {std::move(truth), {shapes, native_candidate(shapes.collective), {}}, first_calls};
        decider_.take_on(shapes, reporters_, watched);
    }

    /// One call of that class; what it took.
    double call(const ShapeClass& shapes) {
        obey();
        Running& it = classes_.at(shapes);
        const bool clocked = it.clocking.clocks(it.since_ruling);
        const bool probed = clocked && it.clocking.probes(it.since_ruling);
        const Arm arm = probed ? *it.ruling.probe : Arm{it.ruling.candidate, it.ruling.tree};
        const double time_us = it.truth(arm, it.calls++);
        ran_.emplace_back(to_string(arm.candidate));
        now_us_ += time_us;
        took_us_ += time_us;
        if (clocked) clock(it, shapes, time_us);
        now_us_ += gap_us;
        return time_us;
    }

    double took_us() const { return took_us_; }
    const std::vector<std::string>& ran() const { return ran_; }
    const std::vector<Decided>& decided() const { return decided_; }
    int most_probes_at_once() const { return most_probes_at_once_; }

  private:
    struct Running {
        Truth truth;
        Ruling ruling;
        Clocking clocking;
        std::uint64_t calls = 0, since_ruling = 0;
        std::uint32_t told = 0;
        Sample sum{};
        std::vector<Sample> samples{};
        double last_end_us = 0;
    };

    void obey() {
        std::vector<Decider::CallsMade> made;
        for (const auto& [shapes, each] : classes_) made.push_back({shapes, each.calls});
        for (Decided& each : decider_.on_time(now_us_, made)) {
            if (each.announced) {
                Running& it = classes_.at(each.ruling.shapes);
                it.ruling = each.ruling;
                it.clocking = each.ruling.clocking;
                it.since_ruling = it.told = 0;
                it.sum = {};
                it.samples.clear();
                it.last_end_us = 0;
            }
            decided_.push_back(std::move(each));
        }
        int probing = 0;
        for (const auto& [shapes, each] : classes_) {
            const std::uint64_t end = (each.clocking.lead + each.clocking.probe) *
                                      std::uint64_t{each.clocking.calls_per_sample};
            probing += each.clocking.probe > 0 && each.since_ruling < end ? 1 : 0;
        }
        most_probes_at_once_ = std::max(most_probes_at_once_, probing);
    }

    void clock(Running& it, const ShapeClass& shapes, double time_us) {
        it.sum.time_us += time_us;
        it.sum.lap_us += it.last_end_us > 0 ? now_us_ - it.last_end_us : 0;
        it.last_end_us = now_us_;
        if (++it.since_ruling % it.clocking.calls_per_sample != 0) return;
        const double calls = it.clocking.calls_per_sample;
        it.samples.push_back({it.sum.time_us / calls, it.sum.lap_us / calls});
        it.sum = {};
        const auto complete = static_cast<std::uint32_t>(it.since_ruling / it.clocking.calls_per_sample);
        if (!it.clocking.tells_after(complete)) return;
        const TimeReport report{shapes, it.ruling.id, it.told, std::exchange(it.samples, {})};
        it.told = complete;
        for (int rank = 0; rank < reporters_; ++rank) decider_.on_report(report);
    }

    Decider& decider_;
    int reporters_;
    std::map<ShapeClass, Running> classes_;
    std::vector<std::string> ran_;
    std::vector<Decided> decided_;
    double now_us_ = 1, took_us_ = 0;
    int most_probes_at_once_ = 0;
};

}  // namespace mutirao::test
