// Measures one link from its lower host: when to probe, which probes are late, when the link counts as
// dead, and what to announce. A pure machine: the caller sends, keeps time and tells what comes back.
//
// One probe proves little: it may be lost, or have met a host that was busy. A first late probe
// therefore brings out a second one at once, and only when both are late is the link overdue
// (ChangeDetector); likewise a first answer that is much too slow. Where UDP does not get through but
// the channel does, probes travel inside the channel, with one over UDP now and then to see whether
// that has changed.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <vector>

#include "agent/system.h"
#include "core/forecast/change_detector.h"

namespace mutirao::agent {

/// Time in which this host could not have noticed an answer, though it had come: its processors were
/// given to others by the machine that they are parts of (steal in /proc/stat), or the agent's thread
/// woke up late. A link is not late for so long. Pure: numbers in, verdicts out.
///
/// Which processor would have taken the answer in is not known: the one that lost the most counts.
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

enum class Way : std::uint8_t { udp, channel };

struct ProbeId {
    Way way = Way::udp;
    std::uint32_t number = 0;

    bool operator==(const ProbeId&) const = default;
};

/// What is to be sent now.
struct ProbesDue {
    bool udp = false;
    bool channel = false;
};

class LinkProber {
  public:
    /// `announced_us`: what all hosts hold the link to be, if anything. `phase`, in 0..1: the part
    /// of a period after which the second probe goes out, so that the links of a host take turns.
    /// `stolen`: outlives this; none: no time is.
    LinkProber(const ChangeRule& rule, std::optional<double> announced_us,
               std::int64_t dead_after_ns, double phase = 1, const StolenTime* stolen = nullptr);

    /// What the greeting of the channel took, one way: announced until there is a first answer.
    void estimated(double latency_us);
    /// Probes only between these two: while the channel is up.
    void start(std::int64_t first_probe_ns, std::int64_t now_ns);
    void stop();
    void set_period(std::int64_t period_ns, std::int64_t now_ns);
    /// The caller itself did not run for so long: nothing that was due then says anything.
    void excuse(std::int64_t now_ns);

    /// When to call advance() next.
    std::int64_t next_ns() const;
    ProbesDue advance(std::int64_t now_ns);
    void sent(ProbeId probe, std::int64_t now_ns);
    /// advance() would call a probe late that it did not call so before; likewise answered() a link
    /// slower: time to see what was stolen.
    bool would_be_late(std::int64_t now_ns) const;
    bool would_be_slow(ProbeId probe, std::int64_t arrived_ns) const;
    /// `held_ns`: by the other end. The round trip, if this answer was one to a probe that is
    /// waited for, and is a measurement.
    std::optional<double> answered(ProbeId probe, std::int64_t held_ns, std::int64_t arrived_ns);

    /// One way. Changes in advance() and answered().
    std::optional<double> announced_us() const { return detector_.announced(); }
    const ChangeDetector& detector() const { return detector_; }
    bool over_channel() const { return over_channel_; }
    std::uint64_t late_probes() const { return late_probes_; }

  private:
    struct Waiting {
        ProbeId probe;
        std::int64_t sent_ns = 0;
        bool late = false;
        std::int64_t stolen_ns = 0;  ///< since then, as far as it was looked at
    };

    std::int64_t late_after_ns() const;
    std::int64_t pause_ns();
    void forget_waiting();
    void note_late(std::int64_t now_ns);
    void note_dead(std::int64_t now_ns);
    bool suspicious(double latency_us) const;
    void measured(double latency_us, std::int64_t sent_ns, std::int64_t arrived_ns);
    int late_of(Way way) const;
    void turn_to_channel(std::int64_t now_ns);

    ChangeRule rule_;
    ChangeDetector detector_;
    std::int64_t dead_after_ns_;
    double phase_;
    const StolenTime* stolen_;
    bool in_phase_ = false;
    bool active_ = false;
    bool dead_ = false;
    bool over_channel_ = false;
    bool hurried_ = false;      ///< a probe was sent early since one is late
    std::int64_t overdue_at_ns_ = never_ns;  ///< when two late probes become overdue
    std::optional<double> suspected_us_;     ///< measured, much too slow, not believed yet
    std::int64_t suspected_at_ns_ = 0;
    int probes_in_channel_ = 0;  ///< since the last over UDP
    std::int64_t period_ns_ = 2 * ns_per_s;
    std::int64_t next_probe_ns_ = never_ns;
    std::int64_t heard_ns_ = 0;  ///< the last answer, or the start
    std::deque<Waiting> waiting_;  ///< oldest first; none older than the last that was answered
    std::uint64_t late_probes_ = 0;
};

}  // namespace mutirao::agent
