// An agent at work: one thread that waits for sockets and times, and in which everything meets: probes
// and change detection (Links), the spread of news and the rounds of the tree (core Rounds), the
// channels that carry both (Mesh), and what others get to see (Segment, Journal).
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "agent/agent.h"
#include "agent/facts.h"
#include "agent/journal.h"
#include "agent/links.h"
#include "agent/mesh.h"
#include "agent/news_batches.h"
#include "agent/segment.h"
#include "agent/sensors/bandwidth.h"
#include "agent/sensors/host_sensors.h"
#include "agent/system.h"
#include "core/spanning_tree/rounds.h"

namespace mutirao::agent {

// What a job has seen of bandwidth: how fast long messages came from other hosts. Links carry no less.

/// May be used by several threads.
class SeenRates {
  public:
    void add(int host, double bytes_per_us) {
        const std::lock_guard hold(mutex_);
        double& fastest = fastest_[host];
        fastest = std::max(fastest, bytes_per_us);
    }
    /// The fastest from each host since the last time.
    std::map<int, double> take() {
        const std::lock_guard hold(mutex_);
        return std::exchange(fastest_, {});
    }

  private:
    std::mutex mutex_;
    std::map<int, double> fastest_;
};

class AgentLoop final : private MeshListener {
  public:
    /// `incarnation`: a random number.
    AgentLoop(Endpoint endpoint, Job job, Segment& segment, std::uint64_t incarnation);

    bool usable() const { return poller_.usable() && mesh_.listens() && hears_datagrams_; }
    /// Until `stop` (an eventfd) becomes readable.
    void run(int stop);
    /// After that.
    void say_farewell();
    /// From any thread: a rate at which data came from a host.
    void saw(int host, double bytes_per_us) { seen_rates_.add(host, bytes_per_us); }

  private:
    /// When something that is done now and then is due again.
    struct Timer {
        std::int64_t period_ns;
        std::int64_t next_ns;

        bool take(std::int64_t now_ns);
    };

    void joined(int peer, std::optional<double> round_trip_us) override;
    void lost(int peer) override;
    void received(int peer, const Frame& frame) override;
    void connected(int peer, double connect_us) override;

    int timeout_ms() const;
    void read_datagrams();
    void tick();
    void give_up_silent_hosts(std::int64_t now_ns);
    void watch_round(std::int64_t now_ns);
    void watch_start(std::int64_t now_ns);
    void measure_bandwidth(std::int64_t now_ns);
    void end_bandwidth(std::int64_t now_ns);
    void take_seen_rates();
    void publish_bandwidth(int peer, double bytes_per_us);
    void learn(std::span<const Fact> facts, int from);
    void tell(int peer, std::span<const Fact> facts);
    void read_sensors();
    void announce();
    void carry(const Rounds::Output& output);
    void send_news(int peer);
    void send_due_news(std::int64_t now_ns);
    void carry(const BandwidthSensor::Output& output);
    NetworkView whole_view() const;
    void publish();
    void note_changes(const NetworkView& view);
    void publish_status();
    LinkStatus status_of_link(int peer) const;
    int host_count() const { return mesh_.host_count(); }
    double view_us(int peer) const;

    Endpoint endpoint_;
    Job job_;
    Segment& segment_;
    Poller poller_;
    Counters counters_;
    Journal journal_;
    Rounds rounds_;
    bool hears_datagrams_;
    Mesh mesh_;
    Datagrams datagrams_;
    Links links_;
    HostSensors sensors_;
    BandwidthSensor bandwidth_;
    BandwidthPlan bandwidth_plan_;
    SeenRates seen_rates_;
    Facts facts_;
    std::vector<int> site_of_;  ///< by the last complete version
    std::uint64_t sites_of_version_ = 0;  ///< its hash
    std::vector<Bank> connect_banks_;
    NetworkView published_;
    std::int64_t began_ns_;
    double began_s_;
    Timer status_timer_;
    Timer sensor_timer_;
    std::vector<std::int64_t> missing_since_ns_;  ///< by host; never_ns: its channel works
    std::vector<bool> left_;  ///< by host: it said farewell
    rounds::RoundId watched_round_;
    std::int64_t round_began_ns_ = never_ns;
    std::int64_t round_limit_ns_;
    int unknown_before_ = 0;
    std::int64_t learned_ns_;  ///< when a link became known last, while there are others
    NewsBatches news_;
};

}  // namespace mutirao::agent
