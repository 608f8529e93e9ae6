// The discrete-event walk. Processors, ports and links are plain "free from" times, since every
// request for one of them is made at the time of an event and events come in order of time. Events
// of equal time keep the order in which they were made, so all ranks reach the same bits.
#include "core/schedule/predictor.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <queue>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/schedule/connections.h"
#include "core/schedule/step_graph.h"
#include "core/text/invariant.h"

namespace mutirao {
namespace {

// Events of equal time keep the order in which they were made, so that the walk gives the same bits wherever it runs.

/// What happens to the message of one send; events of the receive name its send, too.
enum class Happening : std::uint8_t {
    injected,         ///< the sender's processor is done
    request_arrived,  ///< rendezvous: the receiver knows of it
    consent_arrived,  ///< rendezvous: the sender may begin
    first_byte,       ///< at the receiver's port
    last_byte,        ///< at the receiver's memory
    step_complete,  ///< of a send, a copy or a reduction
    receive_complete,
};

/// `send` is a copy or a reduction where one of these is complete.
struct Event {
    double time_us;
    std::uint32_t sequence;
    StepIndex send;
    Happening happening;

    /// The earlier one comes first, of equal ones the first made.
    bool operator>(const Event& other) const {
        return std::tie(time_us, sequence) > std::tie(other.time_us, other.sequence);
    }
};

template <class Value>
using LeastFirst = std::priority_queue<Value, std::vector<Value>, std::greater<>>;

constexpr double never = std::numeric_limits<double>::infinity();

/// Takes a resource for a while from `now` on, or as soon as it is free; the time when it is had.
double occupy(double& free_from_us, double now_us, double duration_us) {
    const double begin_us = std::max(free_from_us, now_us);
    free_from_us = begin_us + duration_us;
    return begin_us;
}

class Walk {
  public:
    Walk(const std::vector<Schedule>& schedules, const RankNetwork& network, PredictOptions options)
        : network_(network.between_hosts()),
          placement_(network.placement()),
          memory_(network.memory()),
          options_(options),
          graph_(schedules),
          processor_free_us_(schedules.size(), 0),
          ports_(static_cast<std::size_t>(network.host_count())),
          memory_free_us_(static_cast<std::size_t>(network.host_count())),
          uplinks_(network_.uplinks),
          link_free_us_(graph_.node_count(), 0),
          streams_(graph_.node_count()),
          state_(graph_.node_count()) {
        join_channels();
        find_ways_back();
        prediction_.rank_complete_us.resize(schedules.size(), 0);
        for (StepIndex index = 0; index < graph_.node_count(); ++index)
            state_[index].waits = graph_.nodes[index].waits;
        for (std::size_t rank = 0; rank < schedules.size(); ++rank) {
            const std::vector<bool> detached =
                detached_sends(schedules[rank], network_.transport, placement_, static_cast<int>(rank));
            for (std::size_t i = 0; i < detached.size(); ++i)
                state_[graph_.first[rank] + i].detached = detached[i];
        }
    }

    Prediction run() {
        start_all();
        while (!queue_.empty()) {
            const Event event = queue_.top();
            queue_.pop();
            now_us_ = event.time_us;
            handle(event);
            start_ready();
        }
        finish();
        return std::move(prediction_);
    }

  private:
    using Node = StepGraph::Node;

    struct State {
        double start_us = 0;      ///< sends
        double last_byte_us = 0;  ///< sends: when the link has brought everything
        std::uint32_t waits = 0;
        bool started = false;
        bool complete = false;
        bool detached = false;           ///< sends: their rank does not wait for them
        bool waits_for_receive = false;  ///< sends: arrived, or requested, before the receive began
    };

    static std::uint64_t way(int from, int to) {
        return static_cast<std::uint64_t>(from) << 32 | static_cast<std::uint32_t>(to);
    }

    /// Channels of ranks on the same two hosts share a link: the first of them stands for it.
    void join_channels() {
        if (placement_.most_ranks_on_a_host() <= 1) return;
        link_of_channel_.resize(graph_.node_count());
        std::unordered_map<std::uint64_t, StepIndex> links;
        StepIndex last = no_step;
        for (StepIndex index = 0; index < graph_.node_count(); ++index) {
            const Node& node = graph_.nodes[index];
            if (node.channel == no_step || node.channel == last) continue;
            last = node.channel;
            const std::uint64_t hosts = way(placement_.host_of(node.rank), placement_.host_of(node.step->peer));
            link_of_channel_[last] = links.try_emplace(hosts, last).first->second;
        }
    }

    /// Where acknowledgements take part of a window that sends the other way are planned for.
    void find_ways_back() {
        const Transport& transport = network_.transport;
        const bool acknowledged = transport.buffered_limit_bytes != Transport::unlimited;
        if (!acknowledged || !transport.holds_back()) return;
        way_back_.assign(graph_.node_count(), no_step);
        std::unordered_map<std::uint64_t, StepIndex> channels;
        for (StepIndex index = 0; index < graph_.node_count(); ++index) {
            const StepIndex channel = graph_.nodes[index].channel;
            if (channel != no_step) channels.try_emplace(way(sender(index), receiver(index)), channel);
        }
        for (StepIndex index = 0; index < graph_.node_count(); ++index) {
            const StepIndex channel = graph_.nodes[index].channel;
            if (channel == no_step || way_back_[channel] != no_step) continue;
            const auto back = channels.find(way(receiver(index), sender(index)));
            if (back != channels.end()) way_back_[channel] = back->second;
        }
    }

    /// Begins what need not wait; what becomes ready here comes later in the same pass.
    void start_all() {
        for (StepIndex index = 0; index < graph_.node_count(); ++index)
            if (state_[index].waits == 0) start(index);
        ready_ = {};
    }

    // --- whose is what -------------------------------------------------------------------------

    double& processor(int rank) { return processor_free_us_[static_cast<std::size_t>(rank)]; }
    Ports& ports(int rank) {
        return ports_[static_cast<std::size_t>(placement_.host_of(rank))];
    }
    double& memory_free_us(int rank) {
        return memory_free_us_[static_cast<std::size_t>(placement_.host_of(rank))];
    }
    double& link_free_us(StepIndex send) {
        const StepIndex channel = graph_.nodes[send].channel;
        return link_free_us_[link_of_channel_.empty() ? channel : link_of_channel_[channel]];
    }
    const HostCosts& costs(int rank) const { return network_.host(placement_.host_of(rank)); }
    Link link(int from, int to) const {
        return network_.link(placement_.host_of(from), placement_.host_of(to));
    }
    bool stays_inside(StepIndex send) const {
        return placement_.host_of(sender(send)) == placement_.host_of(receiver(send));
    }
    double copy_us(StepIndex send) const {
        return transmission_us(length(send), memory_.copy_bytes_per_us);
    }
    int sender(StepIndex send) const { return graph_.nodes[send].rank; }
    int receiver(StepIndex send) const { return graph_.nodes[send].step->peer; }
    std::size_t length(StepIndex send) const {
        return graph_.nodes[send].step->source.length_bytes;
    }
    bool is_rendezvous(StepIndex send) const {
        return length(send) > network_.transport.eager_limit_bytes && !stays_inside(send);
    }

    /// What would happen at an infinite time never happens.
    void schedule(double time_us, StepIndex send, Happening happening) {
        if (std::isfinite(time_us)) queue_.push({time_us, next_sequence_++, send, happening});
    }

    // --- steps ---------------------------------------------------------------------------------

    /// Starts all that can be started now, by rank and step, as an executor that goes through its
    /// steps would.
    void start_ready() {
        while (!ready_.empty()) {
            const StepIndex index = ready_.top();
            ready_.pop();
            start(index);
        }
    }

    void start(StepIndex index) {
        const Node& node = graph_.nodes[index];
        state_[index].started = true;
        if (node.next_in_order != no_step) no_longer_waits(node.next_in_order);
        switch (node.step->kind) {
            case StepKind::send: return start_send(index);
            case StepKind::receive: return start_receive(index);
            case StepKind::copy: return work(index, memory_.copy_bytes_per_us);
            case StepKind::reduce: return work(index, memory_.reduce_bytes_per_us);
        }
    }

    void start_send(StepIndex send) {
        if (graph_.nodes[send].partner == no_step) return;
        state_[send].start_us = now_us_;
        const bool inside = stays_inside(send);
        const double overhead_us =
            inside ? memory_.message_overhead_us : costs(sender(send)).send_overhead_us;
        const double begin_us = occupy(processor(sender(send)), now_us_,
                                       overhead_us + (inside ? copy_us(send) : 0));
        if (begin_us + overhead_us > now_us_)
            schedule(begin_us + overhead_us, send, Happening::injected);
        else
            inject(send);
    }

    /// A copy or a reduction.
    void work(StepIndex index, double bytes_per_us) {
        const Node& node = graph_.nodes[index];
        const double busy_us = transmission_us(node.step->target.length_bytes, bytes_per_us);
        if (busy_us == 0) return complete(index, now_us_);
        const double begin_us = occupy(processor(node.rank), now_us_, busy_us);
        complete(index, begin_us + busy_us, Happening::step_complete, index);
    }

    void start_receive(StepIndex receive) {
        const StepIndex send = graph_.nodes[receive].partner;
        if (send == no_step || !state_[send].waits_for_receive) return;
        state_[send].waits_for_receive = false;
        if (is_rendezvous(send))
            send_consent(send);
        else
            take_in(send);
    }

    void no_longer_waits(StepIndex index) {
        if (--state_[index].waits == 0) ready_.push(index);
    }

    /// Completes a step at a time that may lie ahead; `then` is the event that calls again when it
    /// has come, spared where nothing waits for it.
    void complete(StepIndex index, double time_us, Happening then, StepIndex send) {
        if (time_us > now_us_ && !graph_.dependents(index).empty())
            schedule(time_us, send, then);
        else if (std::isfinite(time_us))
            complete(index, time_us);
    }

    void complete(StepIndex index, double time_us) {
        state_[index].complete = true;
        double& last_us =
            prediction_.rank_complete_us[static_cast<std::size_t>(graph_.nodes[index].rank)];
        last_us = std::max(last_us, time_us);
        for (const StepIndex dependent : graph_.dependents(index)) no_longer_waits(dependent);
        if (options_.record_messages && graph_.nodes[index].step->kind == StepKind::receive)
            record(graph_.nodes[index].partner, time_us);
    }

    void record(StepIndex send, double arrive_us) {
        prediction_.messages.push_back(
            {sender(send), receiver(send), length(send), state_[send].start_us, arrive_us});
    }

    // --- a message's way -----------------------------------------------------------------------

    void handle(const Event& event) {
        switch (event.happening) {
            case Happening::injected: return inject(event.send);
            case Happening::request_arrived: return meet_receive(event.send, &Walk::send_consent);
            case Happening::consent_arrived: return transmit(event.send);
            case Happening::first_byte: return enter_port(event.send);
            case Happening::last_byte: return meet_receive(event.send, &Walk::take_in);
            case Happening::step_complete: return complete(event.send, now_us_);
            case Happening::receive_complete:
                return complete(graph_.nodes[event.send].partner, now_us_);
        }
    }

    void inject(StepIndex send) {
        if (stays_inside(send)) return hand_over(send);
        if (!is_rendezvous(send)) return transmit(send);
        const double latency_us = link(sender(send), receiver(send)).latency_us;
        schedule(now_us_ + latency_us, send, Happening::request_arrived);
    }

    /// Inside a host, after the overhead: the sender's processor moves the bytes meanwhile.
    void hand_over(StepIndex send) {
        const double shared_us = transmission_us(length(send), memory_.shared_bytes_per_us);
        const double shared_begin_us = occupy(memory_free_us(sender(send)), now_us_, shared_us);
        const double sent_us = std::max(now_us_ + copy_us(send), shared_begin_us + shared_us);
        processor(sender(send)) = std::max(processor(sender(send)), sent_us);
        state_[send].last_byte_us = sent_us + memory_.message_latency_us;
        complete(send, sent_us, Happening::step_complete, send);
        schedule(now_us_ + memory_.message_latency_us, send, Happening::last_byte);
    }

    /// The message, or the request for it, has reached the receiver and goes on if it can.
    void meet_receive(StepIndex send, void (Walk::*go_on)(StepIndex)) {
        if (state_[graph_.nodes[send].partner].started)
            (this->*go_on)(send);
        else
            state_[send].waits_for_receive = true;
    }

    void send_consent(StepIndex send) {
        const double latency_us = link(receiver(send), sender(send)).latency_us;
        schedule(now_us_ + latency_us, send, Happening::consent_arrived);
    }

    void transmit(StepIndex send) {
        const Link way = link(sender(send), receiver(send));
        if (!way.usable()) return;
        const double port_us = transmission_us(length(send), costs(sender(send)).port_bytes_per_us);
        const double link_us = transmission_us(length(send), way.bandwidth_bytes_per_us);
        const double port_begin_us = occupy(ports(sender(send)).outgoing_free_us, now_us_, port_us);
        const int from = placement_.host_of(sender(send));
        const int to = placement_.host_of(receiver(send));
        const auto uplink = uplinks_.leave(from, to, length(send), port_begin_us);
        double& free_us = link_free_us(send);
        const double link_begin_us = occupy(free_us, uplink.begin_us, link_us);
        free_us = std::max({free_us, port_begin_us + port_us, uplink.end_us});

        const double left_us = held_back_until_us(send, link_begin_us, free_us);
        state_[send].last_byte_us = left_us + way.latency_us;
        complete(send, send_complete_us(send, free_us), Happening::step_complete, send);
        if (std::isfinite(costs(receiver(send)).port_bytes_per_us) || uplinks_.crossed(from, to))
            schedule(link_begin_us + way.latency_us, send, Happening::first_byte);
        else
            schedule(state_[send].last_byte_us, send, Happening::last_byte);
    }

    /// When the last byte leaves that could be sent by `sent_us`.
    double held_back_until_us(StepIndex send, double ready_us, double sent_us) {
        if (!network_.transport.holds_back()) return sent_us;
        return leave_stream(streams_[graph_.nodes[send].channel], length(send), ready_us, round_trip_us(send), sent_us);
    }
    double leave_stream(TcpStream& stream, std::size_t bytes, double ready_us, double round_trip_us, double sent_us = 0) {
        const double left_us = std::max(sent_us, stream.opens_us(bytes, ready_us, round_trip_us, network_.transport));
        stream.left(left_us);
        return left_us;
    }
    double round_trip_us(StepIndex send) const {
        return link(sender(send), receiver(send)).latency_us + link(receiver(send), sender(send)).latency_us;
    }

    double send_complete_us(StepIndex send, double sent_us) {
        if (length(send) <= network_.transport.buffered_limit_bytes || state_[send].detached)
            return sent_us;
        const double port_us = transmission_us(length(send), costs(receiver(send)).port_bytes_per_us);
        return state_[send].last_byte_us + port_us +
               link(receiver(send), sender(send)).latency_us;
    }

    /// A library whose sends await acknowledgement sends that as a message of its own.
    void acknowledge(StepIndex send) {
        if (way_back_.empty() || length(send) <= network_.transport.buffered_limit_bytes) return;
        const StepIndex back = way_back_[graph_.nodes[send].channel];
        constexpr std::size_t short_bytes = 1;  // a packet, whatever its length
        if (back != no_step) leave_stream(streams_[back], short_bytes, now_us_, round_trip_us(send));
    }

    void enter_port(StepIndex send) {
        const double port_us = transmission_us(length(send), costs(receiver(send)).port_bytes_per_us);
        const auto uplink =
            uplinks_.enter(placement_.host_of(sender(send)), placement_.host_of(receiver(send)),
                           length(send), now_us_);
        const double begin_us =
            occupy(ports(receiver(send)).incoming_free_us, uplink.begin_us, port_us);
        schedule(std::max({begin_us + port_us, uplink.end_us, state_[send].last_byte_us}), send,
                 Happening::last_byte);
    }

    /// The receiver's processor completes the receive.
    void take_in(StepIndex send) {
        const bool inside = stays_inside(send);
        if (!inside) acknowledge(send);
        const double busy_us = inside ? memory_.message_overhead_us + copy_us(send)
                                      : costs(receiver(send)).receive_overhead_us;
        double taken_us = occupy(processor(receiver(send)), now_us_, busy_us) + busy_us;
        if (inside)
            taken_us = std::max(taken_us, state_[send].last_byte_us + memory_.message_overhead_us);
        complete(graph_.nodes[send].partner, taken_us, Happening::receive_complete, send);
    }

    void finish() {
        for (StepIndex index = 0; index < graph_.node_count(); ++index) {
            if (state_[index].complete) continue;
            prediction_.stuck = true;
            prediction_.rank_complete_us[static_cast<std::size_t>(graph_.nodes[index].rank)] =
                never;
        }
        for (const double complete_us : prediction_.rank_complete_us)
            prediction_.completion_us = std::max(prediction_.completion_us, complete_us);
        // Completions that were not worth an event were recorded ahead of their time.
        std::stable_sort(prediction_.messages.begin(), prediction_.messages.end(),
                         [](const TimedMessage& left, const TimedMessage& right) {
                             return left.arrive_us < right.arrive_us;
                         });
    }

    const Network& network_;
    const Placement& placement_;
    const MemoryCosts& memory_;
    const PredictOptions options_;
    StepGraph graph_;
    std::vector<double> processor_free_us_;  ///< per rank
    std::vector<Ports> ports_;               ///< per host
    std::vector<double> memory_free_us_;     ///< per host
    UplinkUse uplinks_;
    std::vector<StepIndex> link_of_channel_;  ///< empty: one rank per host, so each is its own
    std::vector<double> link_free_us_;        ///< by channel
    std::vector<TcpStream> streams_;          ///< by channel
    std::vector<StepIndex> way_back_;  ///< by channel; empty: nothing is acknowledged
    std::vector<State> state_;          ///< per step
    LeastFirst<StepIndex> ready_;
    LeastFirst<Event> queue_;
    std::uint32_t next_sequence_ = 0;
    double now_us_ = 0;
    Prediction prediction_;
};

}  // namespace

Prediction predict(const std::vector<Schedule>& schedules, const RankNetwork& network,
                   PredictOptions options) {
    if (schedules.size() != static_cast<std::size_t>(network.rank_count()))
        broken_invariant("schedules and ranks differ in number",
                         static_cast<long long>(schedules.size()), network.rank_count());
    return Walk(schedules, network, options).run();
}

std::vector<bool> detached_sends(const Schedule& schedule, const Transport& transport,
                                 const Placement& placement, int rank) {
    const std::vector<Step>& steps = schedule.steps();
    std::vector<bool> detached(steps.size(), false);
    if (transport.detached_bytes == 0) return detached;
    const int here = placement.host_of(rank);
    std::map<std::int32_t, std::size_t> left_bytes;  // per peer, from the last send backwards
    for (std::size_t i = steps.size(); i-- > 0;) {
        if (steps[i].kind != StepKind::send || placement.host_of(steps[i].peer) == here) continue;
        const std::size_t length_bytes = steps[i].source.length_bytes;
        std::size_t& left =
            left_bytes.try_emplace(steps[i].peer, transport.detached_bytes).first->second;
        if (length_bytes > left) {
            left = 0;  // what comes before must be waited for, too: messages are acknowledged in order
            continue;
        }
        left -= length_bytes;
        detached[i] = length_bytes > transport.buffered_limit_bytes &&
                      length_bytes <= transport.eager_limit_bytes;
    }
    return detached;
}

}  // namespace mutirao
