// An agent at work: one thread that waits for sockets and times, and in which everything meets: probes
// and change detection (Links), the spread of news and the rounds of the tree (core Rounds), the
// channels that carry both (Mesh), and what others get to see (Segment, Journal).
#include "agent/agent.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cmath>
#include <fstream>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "agent/facts.h"
#include "agent/journal.h"
#include "agent/links.h"
#include "agent/mesh.h"
#include "agent/news_batches.h"
#include "agent/sensors/bandwidth.h"
#include "agent/sensors/host_sensors.h"
#include "agent/system.h"
#include "core/network/sites.h"
#include "core/spanning_tree/rounds.h"
#include "core/spanning_tree/rounds_message.h"
#include "core/text/json.h"
#include "core/text/units.h"

namespace mutirao::agent {
namespace {

constexpr std::int64_t status_period_ns = ns_per_s;
constexpr std::int64_t sensor_period_ns = 10 * ns_per_s;
constexpr int longest_wait_ms = 1000;
/// When the thread got no processor for so long, silence was its own.
constexpr std::int64_t excused_ns = 200 * ns_per_ms;
/// Any thread wakes up so late.
constexpr std::int64_t noticed_ns = 5 * ns_per_ms;
/// Frames taken in before everything else gets its turn again.
constexpr int most_datagrams_at_once = 256;
/// A round of the tree that takes longer is started anew, each time with more patience.
constexpr std::int64_t first_round_limit_ns = 10 * ns_per_s;
constexpr std::int64_t longest_round_limit_ns = 8 * first_round_limit_ns;
/// Whoever has heard of no further link for so long builds a tree of those that are known: other hosts
/// may come much later, or never. Longer than the time between the answers of a near and a far host,
/// with a greeting that was lost once.
constexpr std::int64_t longest_silence_ns = 3 * ns_per_s;

std::string text_of(double latency_us) {
    return std::isfinite(latency_us) ? milliseconds(latency_us) : "nothing gets through";
}

/// From /proc/self/statm: "size resident shared ..." in pages.
std::uint64_t resident_bytes() {
    std::uint64_t size = 0, resident = 0;
    std::ifstream("/proc/self/statm") >> size >> resident;
    return resident * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

}  // namespace

class AgentLoop final : private MeshListener {
  public:
    /// `incarnation`: a random number.
    AgentLoop(Endpoint endpoint, Job job, Segment& segment, std::uint64_t incarnation)
        : endpoint_(std::move(endpoint)),
          job_(std::move(job)),
          segment_(segment),
          journal_(job_.options.series_file, job_.self, static_cast<int>(job_.contacts.size())),
          rounds_(job_.self, static_cast<int>(job_.contacts.size()), incarnation),
          mesh_(job_, endpoint_, counters_, *this),
          links_(job_.self, job_.options, mesh_, counters_, journal_),
          bandwidth_plan_(job_.self, job_.options.bandwidth_period_ms * ns_per_ms),
          facts_(host_count()),
          site_of_(job_.contacts.size()),
          missing_since_ns_(job_.contacts.size(), began_ns_),
          left_(job_.contacts.size()),
          news_(host_count()) {
        published_ = whole_view();
        segment_.publish(published_);
        links_.use_tree(published_, began_ns_);
        publish_status();
    }

    /// Until `stop` (an eventfd) becomes readable.
    void run(int stop) {
        const HostSpeed speed = measure_host_speed();
        const Fact own{job_.self, job_.self, facts_.next_stamp(wall_ns()),
                       speed.copy_bytes_per_us, speed.reduce_bytes_per_us, speed.message_us};
        learn({&own, 1}, job_.self);
        std::vector<pollfd> sockets;
        while (true) {
            tick();
            sockets.assign(1, {stop, POLLIN, 0});
            mesh_.add_sockets(sockets);
            const int wait_ms = timeout_ms();
            const std::int64_t before_ns = now_ns();
            const int ready = poll(sockets.data(), sockets.size(), wait_ms);
            const std::int64_t late_ns = now_ns() - before_ns - wait_ms * ns_per_ms;
            if (ready == 0 && late_ns > noticed_ns) links_.overslept(late_ns);
            if (ready > 0) mesh_.on_ready(std::span(sockets).subspan(1), now_ns());
            if (sockets.front().revents != 0) break;
            if (now_ns() - before_ns > wait_ms * ns_per_ms + excused_ns) {
                read_datagrams();
                links_.excuse(now_ns());
            }
        }
        journal_.flush();
    }

    /// After that.
    void say_farewell() {
        for (int peer = 0; peer < host_count(); ++peer) mesh_.send(peer, Kind::farewell, {});
    }

  private:
    /// When something that is done now and then is due again.
    struct Timer {
        std::int64_t period_ns;
        std::int64_t next_ns;

        bool take(std::int64_t now_ns) {
            if (now_ns < next_ns) return false;
            next_ns = now_ns + period_ns;
            return true;
        }
    };

    int timeout_ms() const {
        const std::int64_t next =
            std::min({links_.next_ns(), mesh_.next_ns(), status_timer_.next_ns, sensor_timer_.next_ns,
                      bandwidth_.next_ns(), news_.next_ns(),
                      bandwidth_.busy() ? never_ns : bandwidth_plan_.next_ns()});
        const std::int64_t wait_ns = next - now_ns();
        if (wait_ns <= 0) return 0;
        // Rounded up: waking a moment too early would mean waking twice.
        return static_cast<int>(std::min<std::int64_t>(wait_ns / ns_per_ms + 1, longest_wait_ms));
    }

    void read_datagrams() {
        for (int count = 0; count < most_datagrams_at_once; ++count) {
            const auto datagram = mesh_.receive_datagram();
            if (!datagram) return;
            const Head& head = datagram->frame.head;
            if (head.kind == Kind::bandwidth_data)
                carry(bandwidth_.on_datagram(head.sender, datagram->frame.payload,
                                             datagram->arrived_ns));
            else
                links_.on_datagram(*datagram);
        }
    }

    void tick() {
        // Read after this moment, every answer that had come by then is known: none is called late.
        const std::int64_t now = now_ns();
        read_datagrams();
        mesh_.tick(now);
        give_up_silent_hosts(now);
        links_.advance(now);
        announce();
        watch_round(now);
        watch_start(now);
        send_due_news(now);
        measure_bandwidth(now);
        publish();
        if (sensor_timer_.take(now)) {
            for (const HostReading& each : read_host_sensors(processor_times_))
                journal_.measured(each.sensor, -1, each.value);
        }
        if (status_timer_.take(now)) {
            links_.look_for_theft(now);
            journal_.flush();
            publish_status();
        }
    }

    void joined(int peer, const std::optional<Greeting>& greeting) override {
        missing_since_ns_[static_cast<std::size_t>(peer)] = never_ns;
        left_[static_cast<std::size_t>(peer)] = false;
        journal_.event("channel to host " + std::to_string(peer) + " works");
        carry(rounds_.joined(peer));
        tell(peer, facts_.all());
        links_.joined(peer, greeting, now_ns());
    }

    void lost(int peer) override {
        missing_since_ns_[static_cast<std::size_t>(peer)] = now_ns();
        journal_.event("channel to host " + std::to_string(peer) + " lost");
        links_.lost(peer);
        news_.take(peer);
        bandwidth_.lost(peer);
        // Of a host that has left, only when it stays away.
        if (!left_[static_cast<std::size_t>(peer)]) carry(rounds_.lost(peer));
    }

    void received(int peer, const Frame& frame) override {
        switch (frame.head.kind) {
            case Kind::probe:
            case Kind::echo: links_.on_frame(frame); return;
            case Kind::rounds:
                if (const auto message = rounds::decode(frame.payload)) return carry(rounds_.on(peer, *message));
                break;
            case Kind::bandwidth_result: carry(bandwidth_.on_result(peer, frame.payload, now_ns())); return;
            case Kind::facts:
                if (const auto facts = decode_facts(frame.payload, host_count())) return learn(*facts, peer);
                break;
            case Kind::farewell: left_[static_cast<std::size_t>(peer)] = true; return;
            case Kind::bandwidth_data:
            case Kind::hello:
            case Kind::welcome:
            case Kind::confirm: ++counters_[Count::rejected_unexpected]; return;
        }
        ++counters_[Count::rejected_malformed];
    }

    /// Hosts whose channel has been missing for too long: the others shall not wait for them. Also later,
    /// when an agent that came back hears from others what held before: nobody else can take that back.
    void give_up_silent_hosts(std::int64_t now) {
        for (int peer = 0; peer < host_count(); ++peer) {
            const std::int64_t since_ns = missing_since_ns_[static_cast<std::size_t>(peer)];
            if (peer == job_.self || since_ns == never_ns) continue;
            if (now - since_ns < patience_to_greet_ns(job_.options)) continue;
            if (!std::isfinite(view_us(peer)) && !rounds_.unknown(peer)) continue;
            journal_.event("host " + std::to_string(peer) + " has not come");
            if (!mesh_.was_up(peer)) carry(rounds_.lost(peer));
            carry(rounds_.announce(peer, no_link_us));
        }
    }

    /// A round that takes too long has lost a message, whatever the links say.
    void watch_round(std::int64_t now) {
        if (!rounds_.running() || !rounds_.leads()) {
            round_began_ns_ = never_ns;
            if (!rounds_.running()) round_limit_ns_ = first_round_limit_ns;
            return;
        }
        if (round_began_ns_ == never_ns || watched_round_ != rounds_.newest()) {
            watched_round_ = rounds_.newest();
            round_began_ns_ = now;
        }
        if (now - round_began_ns_ < round_limit_ns_) return;
        ++counters_[Count::rounds_restarted];
        journal_.event("round " + std::to_string(watched_round_.number) + " started anew");
        round_limit_ns_ = std::min(2 * round_limit_ns_, longest_round_limit_ns);
        round_began_ns_ = never_ns;
        carry(rounds_.restart());
    }

    /// Without a tree, a round waits for all links, but not for ever.
    void watch_start(std::int64_t now) {
        const int unknown = rounds_.view().unknown_links;
        if (unknown != unknown_before_ || !rounds_.waits_for_links()) learned_ns_ = now;
        unknown_before_ = unknown;
        if (now - learned_ns_ < longest_silence_ns) return;
        journal_.event("a first tree, though " + std::to_string(unknown) + " links are unknown");
        carry(rounds_.restart());
    }

    double view_us(int peer) const { return rounds_.view().latency_us[rounds_.view().index(job_.self, peer)]; }

    /// What this end has measured freshly and the others do not hold yet, or no more: the other end may
    /// have said something else.
    void announce() {
        for (const Links::Announcement& each : links_.take_announcements()) {
            const bool told = each.latency_us == view_us(each.peer) && !rounds_.unknown(each.peer);
            if (told || !mesh_.up(each.peer)) continue;
            ++counters_[Count::announcements];
            carry(rounds_.announce(each.peer, each.latency_us));
        }
    }

    void carry(const Rounds::Output& output) {
        for (const rounds::Outgoing& each : output) {
            if (each.message.kind == rounds::Kind::news) {
                news_.add(each.to, each.message, now_ns());
                continue;
            }
            send_news(each.to);
            mesh_.send(each.to, Kind::rounds, rounds::encode(each.message));
        }
    }

    void send_news(int peer) {
        for (const rounds::Message& each : news_.take(peer))
            mesh_.send(peer, Kind::rounds, rounds::encode(each));
    }

    /// While most links are unknown there are news all the time, and together they cost the least.
    void send_due_news(std::int64_t now) {
        if (rounds_.view().unknown_links > 0 && now < news_.next_ns()) return;
        for (int peer = 0; peer < host_count(); ++peer) send_news(peer);
        news_.rest();
    }

    void measure_bandwidth(std::int64_t now) {
        if (const Version& version = rounds_.version(); version.hash != sites_of_version_) {
            sites_of_version_ = version.hash;
            site_of_ = discover_sites(Network(host_count(), version.links.latencies_us()));
            bandwidth_plan_.follow(version, site_of_, now);
        }
        carry(bandwidth_.advance(now));
        end_bandwidth(now);
        const auto peer = bandwidth_.busy() ? std::nullopt : bandwidth_plan_.due(now);
        if (!peer) return;
        if (!mesh_.up(*peer)) return bandwidth_plan_.ended({*peer, {}}, now);
        bandwidth_plan_.asked(*peer, now);
        carry(bandwidth_.measure(*peer, now));
    }

    void end_bandwidth(std::int64_t now) {
        const auto ended = bandwidth_.take_ended();
        if (!ended) return;
        bandwidth_plan_.ended(*ended, now);
        if (!ended->bytes_per_us) return;
        journal_.measured("bandwidth_bytes_per_us", ended->peer, *ended->bytes_per_us);
        const auto [low, high] = std::minmax(job_.self, ended->peer);
        const Fact fact{low, high, facts_.next_stamp(wall_ns()), *ended->bytes_per_us, 0};
        learn({&fact, 1}, job_.self);
    }

    void carry(const BandwidthSensor::Output& output) {
        std::vector<std::span<const std::byte>> train;
        for (const BandwidthSensor::Outgoing& each : output) {
            if (each.kind == Kind::bandwidth_data)
                train.emplace_back(each.payload);
            else
                mesh_.send(each.to, each.kind, each.payload);
        }
        if (!train.empty()) mesh_.send_datagrams(output.front().to, Kind::bandwidth_data, train);
    }

    void learn(std::span<const Fact> facts, int from) {
        const std::vector<Fact> fresh = facts_.learn(facts);
        if (fresh.empty()) return;
        for (int peer = 0; peer < host_count(); ++peer)
            if (peer != from && mesh_.up(peer)) tell(peer, fresh);
    }

    void tell(int peer, std::span<const Fact> facts) {
        for (; !facts.empty(); facts = facts.subspan(std::min(facts.size(), facts_per_frame)))
            mesh_.send(peer, Kind::facts, encode(facts.first(std::min(facts.size(), facts_per_frame))));
    }

    NetworkView whole_view() const {
        NetworkView view = rounds_.view();
        view.changes += facts_.changes();
        facts_.show(site_of_, view);
        return view;
    }

    void publish() {
        if (rounds_.view().changes + facts_.changes() == published_.changes) return;
        NetworkView view = whole_view();
        segment_.publish(view);
        note_changes(view);
        links_.use_tree(view, now_ns());
        published_ = std::move(view);
    }

    void note_changes(const NetworkView& view) {
        for (int low = 0; low < host_count(); ++low) {
            for (int high = low + 1; high < host_count(); ++high) {
                const double before_us = published_.latency_us[published_.index(low, high)];
                const double after_us = view.latency_us[view.index(low, high)];
                if (before_us == after_us) continue;
                journal_.event("link " + std::to_string(low) + "-" + std::to_string(high) + ": " +
                               text_of(before_us) + " -> " + text_of(after_us));
            }
        }
        if (view.version == published_.version && view.version_hash == published_.version_hash) return;
        ++counters_[Count::versions];
        const bool same_tree = view.tree == published_.tree;
        journal_.event("version " + std::to_string(view.version) +
                       (same_tree ? ", the same tree" : ", a new tree"));
    }

    void publish_status() {
        JsonWriter json;
        json.begin_object()
            .member("time_s", static_cast<double>(wall_ns()) / ns_per_s)
            .member("started_s", began_s_)
            .member("processor_s", static_cast<double>(read_clock_ns(CLOCK_THREAD_CPUTIME_ID)) / ns_per_s)
            .member("resident_bytes", resident_bytes())
            .member("series_stopped", journal_.series_stopped());
        json.key("links").begin_array();
        for (int peer = 0; peer < host_count(); ++peer)
            if (peer != job_.self) put_link(json, peer);
        json.end_array().list("events", journal_.events(), [&](const Event& event) {
            json.begin_object().member("time_s", event.time_s).member("text", event.text).end_object();
        });
        json.key("counters").begin_object();
        for (std::size_t i = 0; i < count_names.size(); ++i) json.member(count_names[i], counters_.all()[i]);
        json.end_object().end_object();
        segment_.publish(json.take());
    }

    /// Only the lower host of a link measures its latency.
    void put_link(JsonWriter& json, int peer) const {
        const LinkProber* prober = links_.prober(peer);
        json.begin_object()
            .member("host", peer)
            .member("channel_up", mesh_.up(peer))
            .member("over_tcp", prober != nullptr && prober->over_channel())
            .member("announced_us", view_us(peer));
        const auto forecast = prober != nullptr ? prober->detector().forecast() : std::nullopt;
        json.optional("latency_us", forecast, [&](const Forecast& known) {
            json.begin_object()
                .member("value", known.value)
                .member("error", known.error)
                .member("forecaster", known.forecaster)
                .end_object();
        });
        json.member("recent_us", journal_.recent_us(peer)).end_object();
    }

    int host_count() const { return mesh_.host_count(); }

    Endpoint endpoint_;
    Job job_;
    Segment& segment_;
    Counters counters_;
    Journal journal_;
    Rounds rounds_;
    Mesh mesh_;
    Links links_;
    ProcessorTimes processor_times_;
    BandwidthSensor bandwidth_;
    BandwidthPlan bandwidth_plan_;
    Facts facts_;
    std::vector<int> site_of_;  ///< by the last complete version
    std::uint64_t sites_of_version_ = 0;  ///< its hash
    NetworkView published_;
    std::int64_t began_ns_ = now_ns();
    double began_s_ = static_cast<double>(wall_ns()) / ns_per_s;
    Timer status_timer_{status_period_ns, began_ns_};
    Timer sensor_timer_{sensor_period_ns, began_ns_};
    std::vector<std::int64_t> missing_since_ns_;  ///< by host; never_ns: its channel works
    std::vector<bool> left_;  ///< by host: it said farewell
    rounds::RoundId watched_round_;
    std::int64_t round_began_ns_ = never_ns;
    std::int64_t round_limit_ns_ = first_round_limit_ns;
    int unknown_before_ = 0;
    std::int64_t learned_ns_ = began_ns_;  ///< when a link became known last, while there are others
    NewsBatches news_;
};

struct Thread::Inside {
    std::string name;
    std::unique_ptr<Segment> segment;
    std::unique_ptr<AgentLoop> loop;
    File stop;
    std::thread thread;
    std::atomic<bool> running{false};
    std::atomic<bool> says_farewell{false};
    std::mutex mutex;  ///< of `reason`
    std::string reason;
    pid_t process = getpid();

    void fail(std::string why) {
        const std::lock_guard hold(mutex);
        reason = std::move(why);
        running = false;
    }
    /// Before there is a thread: nothing is left behind for others to find.
    void refuse(std::string why) {
        fail(std::move(why));
        loop.reset();
        segment.reset();
    }
    void start(Endpoint endpoint, Job job) {
        const SegmentIdentity identity{name, job.self, static_cast<int>(job.contacts.size()), job.id};
        std::string why_not;
        segment = Segment::make(identity, why_not);
        if (!segment) return fail(std::move(why_not));
        const auto incarnation = random_number();
        stop = File(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
        if (!incarnation || !stop) return refuse("the system gives no random numbers or events");
        loop = std::make_unique<AgentLoop>(std::move(endpoint), std::move(job), *segment,
                                           *incarnation);
        const AllSignalsBlocked blocked;
        running = true;
        thread = std::thread([this] { work(); });
    }

    void work() {
        try {
            loop->run(stop.number());
            if (says_farewell) loop->say_farewell();
            fail("stopped");
        } catch (const std::exception& error) {
            fail(error.what());
        }
        segment->end();
    }
};

Thread::Thread(Endpoint endpoint, Job job, std::string segment)
    : inside_(std::make_unique<Inside>()) {
    inside_->name = segment.empty() ? segment_name(job.id, job.self) : std::move(segment);
    try {
        remove_stale_segments();
        inside_->start(std::move(endpoint), std::move(job));
    } catch (const std::exception& error) {
        inside_->refuse(error.what());
    }
}

Thread::~Thread() {
    if (inside_->process != getpid()) {
        // A forked child has no such thread, and its memory is its parent's.
        inside_->thread.detach();
        inside_.release();
        return;
    }
    if (!inside_->thread.joinable()) return;
    const std::uint64_t one = 1;
    while (write(inside_->stop.number(), &one, sizeof one) < 0 && errno == EINTR) continue;
    inside_->thread.join();
}

void Thread::say_farewell() { inside_->says_farewell = true; }

bool Thread::running() const { return inside_->running && inside_->process == getpid(); }

std::string Thread::why_not() const {
    // The lock may have been taken when the child was forked.
    if (inside_->process != getpid()) return "the agent is in the process that forked this one";
    const std::lock_guard hold(inside_->mutex);
    return inside_->reason;
}

const std::string& Thread::segment() const { return inside_->name; }

}  // namespace mutirao::agent
