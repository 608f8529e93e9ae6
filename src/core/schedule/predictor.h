// Predicts how long a collective takes on a network: a discrete-event walk of all ranks'
// schedules. No cost formula per algorithm; whatever can be written as a schedule can be timed.
//
// Model, per message of n bytes from a to b (after LogGP, Alexandrov et al. 1995,
// doi:10.1145/215399.215427, with finite ports):
//   the sender's processor is busy send_overhead_us; the message then occupies a's outgoing port
//   for n / min(port, link bandwidth), travels latency_us, occupies b's incoming port likewise
//   (cut-through: transmission times overlap), and b's processor receive_overhead_us.
//   A send is complete when its bytes left the port. Beyond eager_limit_bytes it first waits until
//   the receive is posted and for one round trip (rendezvous).
#pragma once

#include <functional>
#include <vector>

#include "core/network/network.h"
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
    double completion_us = 0;               ///< the last rank's last step
    std::vector<double> rank_complete_us;   ///< per rank
    std::vector<TimedMessage> messages;     ///< in order of arrival; only if asked for
    bool stuck = false;                     ///< some step never ran: an unusable link or a faulty schedule
};

struct PredictOptions {
    bool record_messages = false;
};

/// schedules[r] runs on host r; schedules.size() == network.host_count().
/// All ranks enter at time 0. Deterministic: the same inputs give the same bits on every rank.
Prediction predict(const std::vector<Schedule>& schedules, const Network& network,
                   PredictOptions options = {});

}  // namespace mutirao
