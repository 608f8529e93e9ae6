// A program of one or several classes of calls on a clock of its own, whose ranks obey a Decider: what its calls
// take is given by the test, so that what is decided can be held against what is true.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/selection/clocked_calls.h"
#include "core/selection/decider.h"

namespace mutirao::test {

/// What a call by that arm takes, in microseconds; `number` counts the class's calls.
using Truth = std::function<double(const Arm& arm, std::uint64_t number)>;

class DecidedProgram {
  public:
    explicit DecidedProgram(Decider& decider, int reporters = 2) : decider_(decider), reporters_(reporters) {}

    double gap_us = 0;  ///< between two calls

    void add(const ShapeClass& shapes, Truth truth, bool watched = true) {
        const Ruling native{shapes, native_candidate(shapes.collective), {}};
        classes_.insert_or_assign(shapes, Running{std::move(truth), native, Course(shapes)});
        decider_.take_on(shapes, reporters_, watched);
    }

    /// One call of that class; what it took.
    double call(const ShapeClass& shapes) {
        obey();
        Running& it = classes_.at(shapes);
        const bool clocked = it.course.clocks(), probed = clocked && it.course.probes();
        const Arm arm = probed ? *it.ruling.probe : Arm{it.ruling.candidate, it.ruling.tree};
        const double time_us = it.truth(arm, it.calls++);
        ran_.emplace_back(to_string(arm.candidate));
        now_us_ += time_us;
        took_us_ += time_us;
        if (clocked && it.course.add(now_us_ - time_us, now_us_)) tell(it.course.take_report());
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
        Course course;
        std::uint64_t calls = 0;
    };

    void obey() {
        std::vector<Decider::CallsMade> made;
        for (const auto& [shapes, each] : classes_) made.push_back({shapes, each.calls});
        for (Decided& each : decider_.on_time(now_us_, made)) {
            if (each.announced) {
                Running& it = classes_.at(each.ruling.shapes);
                it.ruling = each.ruling;
                it.course = Course(each.ruling);
            }
            decided_.push_back(std::move(each));
        }
        const auto probing = std::count_if(classes_.begin(), classes_.end(), [](const auto& each) {
            return each.second.course.clocks() && each.second.course.probes();
        });
        most_probes_at_once_ = std::max(most_probes_at_once_, static_cast<int>(probing));
    }

    void tell(const TimeReport& report) {
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
