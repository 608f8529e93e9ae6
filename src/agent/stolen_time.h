// Time in which this host could not have noticed an answer, though it had come: its processors were
// given to others by the machine that they are parts of (steal in /proc/stat), or the agent's thread
// woke up late. A link is not late for so long. Pure: numbers in, verdicts out.
//
// Which processor would have taken the answer in is not known: the one that lost the most counts.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <vector>

namespace mutirao::agent {

class StolenTime {
  public:
    /// What was stolen from each processor so far.
    void read(std::int64_t now_ns, std::span<const std::int64_t> stolen_ns) {
        if (samples_.size() > 1 && now_ns - samples_[samples_.size() - 2].time_ns < apart_ns)
            samples_.pop_back();
        samples_.push_back({now_ns, overslept_ns_, {stolen_ns.begin(), stolen_ns.end()}});
        if (samples_.size() > most_samples) samples_.pop_front();
    }
    /// The thread was to wake up so long before it did.
    void overslept(std::int64_t late_ns) { overslept_ns_ += late_ns; }

    /// Of the time from then to the last reading, at most so much was not this host's.
    std::int64_t since(std::int64_t begin_ns) const {
        if (samples_.empty() || samples_.back().time_ns <= begin_ns) return 0;
        const Sample& last = samples_.back();
        const Sample* first = &samples_.front();
        for (const Sample& each : samples_)
            if (each.time_ns <= begin_ns) first = &each;
        std::int64_t most_ns = last.overslept_ns - first->overslept_ns;
        for (std::size_t i = 0; i < std::min(last.stolen_ns.size(), first->stolen_ns.size()); ++i)
            most_ns = std::max(most_ns, last.stolen_ns[i] - first->stolen_ns[i]);
        return std::clamp<std::int64_t>(most_ns, 0, last.time_ns - begin_ns);
    }

    /// What a value was, of which up to `stolen` may be this host's own doing: as near to what is
    /// expected as that allows.
    static double credible(double measured, double stolen, double expected) {
        return std::clamp(expected, std::max(measured - stolen, 0.0), measured);
    }

  private:
    struct Sample {
        std::int64_t time_ns = 0;
        std::int64_t overslept_ns = 0;
        std::vector<std::int64_t> stolen_ns;
    };
    static constexpr std::size_t most_samples = 64;
    static constexpr std::int64_t apart_ns = 100'000'000;

    std::deque<Sample> samples_;
    std::int64_t overslept_ns_ = 0;
};

}  // namespace mutirao::agent
