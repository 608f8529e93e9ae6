// Predicts how long a collective takes on a network: a discrete-event walk of all ranks'
// schedules. No cost formula per algorithm; whatever can be written as a schedule can be timed.
//
// Every rank has one processor. The ranks of a host share its port, one per direction, and all
// pairs of ranks on the same two hosts share the link between these, again one per direction. The hosts
// of a site share its uplink, in the same way, for what goes to or comes from other sites.
//
// Model of a message of n bytes from rank a to rank b on another host (after LogGP, Alexandrov et
// al. 1995, doi:10.1145/215399.215427, with finite ports):
//   - a's processor is busy send_overhead_us; it does one send or receive at a time;
//   - the outgoing port of a's host is busy n / port, and the link n / link bandwidth; both work at
//     once, and a slow link does not keep the port from serving other links meanwhile;
//   - the first byte arrives latency_us after it left, and the incoming port of b's host is busy
//     n / port, overlapping with the link (cut-through);
//   - b's processor is busy receive_overhead_us once the last byte is there and the receive has
//     been started; then the receive is complete.
// Over a connection that was idle TCP begins with initial_window_bytes and doubles that with every round trip
// (RFC 5681, 6928): the last byte of what a rank has sent to another leaves no sooner. In a long pause between
// two messages of the same call the window closes again. BBR spreads what it sends instead (Transport::paced_us). What
// acknowledges a message is a packet of the other way.
// A send is complete when its last byte has entered the link, whether the receive was started or
// not; beyond buffered_limit_bytes only when its last byte has arrived and the acknowledgement is
// back, unless the rank need not wait for it (connections.h). Beyond eager_limit_bytes the data do not
// move at once (rendezvous): a request travels latency_us, waits until the receive has been
// started, and the consent travels back latency_us.
//
// Inside a host a message costs each side's processor message_overhead_us and n / copy, as through
// shared memory: the sender is then done, and the receiver can follow message_latency_us behind it. All
// ranks of a host share what its memory carries, where that is known.
// A copy or a reduction keeps its rank's processor busy for n / copy or n / reduce.
#pragma once

#include <vector>

#include "core/network/topology.h"
#include "core/schedule/schedule.h"

namespace mutirao {

/// One message as the walk saw it, for pictures and explanations.
struct TimedMessage {
    int from = 0;
    int to = 0;
    std::size_t length_bytes = 0;
    double start_us = 0;   ///< the sender started the step
    double arrive_us = 0;  ///< the receiver's step is complete
};

struct Prediction {
    double completion_us = 0;              ///< the last rank's last step; infinite if stuck
    std::vector<double> rank_complete_us;  ///< per rank; infinite if one of its steps never ran
    std::vector<TimedMessage> messages;    ///< in order of arrival; only if asked for
    bool stuck = false;  ///< some step never ran: an unusable link or a faulty schedule
};

struct PredictOptions {
    bool record_messages = false;
};

/// schedules[r] is rank r's. Deterministic: the same inputs give the same bits everywhere.
Prediction predict(const std::vector<Schedule>& schedules, const RankNetwork& network,
                   PredictOptions options = {});

}  // namespace mutirao
